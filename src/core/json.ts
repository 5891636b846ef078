// JSON from anywhere: parsed by a schema, limited in depth. Also base64.

/** The part of a zod schema that is used here. */
interface Schema<T> {
  safeParse(value: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

/** Parses a text; null when it is not JSON or does not fit the schema. */
export function parseJson<T>(text: string, schema: Schema<T>): T | null {
  try {
    const result = schema.safeParse(JSON.parse(text));
    return result.success ? result.data : null;
  } catch {
    return null; // not JSON: cut short, or never written by jpg
  }
}

// How deep JSON nests. JSON.parse reads any depth, but code that walks the value afterwards, JSON.stringify too, recurses on
// the stack: check foreign text before anything walks it.

/** Deepest nesting accepted from agents, models and files, levels. What they really write stays below 30. */
export const MAX_FOREIGN_DEPTH = 500;
/** Deepest nesting of a stored record, itself included: it wraps foreign values in a few more levels. */
export const MAX_RECORD_DEPTH = 1000;

/** Whether a parsed value nests deeper than `levels`; a text too short for that is not walked. */
export function isTooDeep(text: string, value: unknown, levels: number): boolean {
  return text.length > 2 * levels && nestsDeeper(value, levels);
}

/** Whether a parsed value nests deeper than `levels`. Recurses at most that deep. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[key];
    if (typeof inner === "object" && inner !== null && nestsDeeper(inner, levels - 1)) return true;
  }
  return false;
}

// Base64 of the standard alphabet, padded (RFC 4648 §4), in canonical form only: what encoding the bytes gives.

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes base64; null when a text is not in canonical form. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const binary = atob(text);
  if (btoa(binary) !== text) return null;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function encodeBase64(bytes: Uint8Array): string {
  /** Limit on the arguments of one function call. */
  const chunkBytes = 0x8000;
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + chunkBytes)));
  return btoa(pieces.join(""));
}

/** Formats a JSON value with the keys of every object sorted. Values that JSON does not know become null. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = value as Readonly<Record<string, unknown>>;
  const keys = Object.keys(fields);
  if (isPlain(fields, keys)) return JSON.stringify(fields);
  const entries = keys.sort().map((key) => `${JSON.stringify(key)}:${canonicalJson(fields[key])}`);
  return `{${entries.join(",")}}`;
}

/** Whether JSON.stringify gives the canonical form already: keys are sorted and no value is an object. */
function isPlain(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return keys.every((key, at) => {
    const value = fields[key];
    const isFlat = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return isFlat && (at === 0 || (keys[at - 1] as string) < key);
  });
}

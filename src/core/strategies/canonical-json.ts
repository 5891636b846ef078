// One text for equal JSON values, whatever the order of their keys.

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

/** Whether JSON writes the object so of itself: its keys are sorted, and nothing in it has keys. */
function isPlain(fields: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return keys.every((key, at) => {
    const value = fields[key];
    const isFlat = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
    return isFlat && (at === 0 || (keys[at - 1] as string) < key);
  });
}

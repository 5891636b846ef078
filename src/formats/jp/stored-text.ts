// The texts that jp stores as base64: what calls were given and gave back, and what its providers noted beside an event.
// Decoding is lenient, as jp's is: what is not base64 of UTF-8 stays as it is, and is encoded on the next save.
import { decodeBase64, encodeBase64 } from "../../core/json.ts";
import { isRecord } from "../json-line.ts";

/** Has a character that only the URL-safe alphabet has, and else none but of that alphabet. */
const URL_SAFE = /^(?=.*[-_])[A-Za-z0-9_-]+={0,2}$/;
/** A JSON text that may be coded. */
const STORED = /"([A-Za-z0-9+/_-]{12,}={0,2})"/g;
const CONTROLS = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F]/;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes a stored text. */
export function decodeStoredText(stored: string): string {
  return decodeUtf8(stored) ?? decodeUrlSafe(stored) ?? stored;
}

/**
 * Decodes a stored text of a file that several versions of jp may have saved: older ones wrote the URL-safe alphabet, newer ones
 * take that for plain text and encode it once more. Only a padded text is decoded twice, since a tool may well print others.
 */
export function decodeRepaired(stored: string): string {
  const text = decodeStoredText(stored);
  return text !== stored && text.endsWith("=") ? (decodeUrlSafe(text) ?? text) : text;
}

/** Gives a line of a stored stream with its longer texts decoded: nothing short is worth looking at. */
export function decodeStoredLine(line: string): string {
  return line.replace(STORED, (whole, stored: string) => {
    const text = decodeRepaired(stored);
    return text === stored ? whole : JSON.stringify(text);
  });
}

/** Encodes a text as jp stores it. */
export function encodeStoredText(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}

/** Gives a value whose texts, keys left out, are changed; everything else stays. Its depth must be bounded. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change)]));
}

function decodeUtf8(stored: string): string | null {
  const bytes = decodeBase64(stored);
  if (bytes === null) return null;
  try {
    return utf8.decode(bytes);
  } catch {
    return null; // bytes of something else
  }
}

function decodeUrlSafe(stored: string): string | null {
  if (!URL_SAFE.test(stored)) return null;
  const text = decodeUtf8(stored.replaceAll("-", "+").replaceAll("_", "/"));
  return text === null || CONTROLS.test(text) ? null : text;
}

// Images of a conversation, as addresses that hold them. Only raster formats, told by their first bytes: a page shows no SVG of a
// stranger's, whatever it is called.
import { decodeBase64 } from "../../core/json.ts";

const FORMATS: readonly { readonly type: string; readonly start: RegExp }[] = [
  { type: "image/png", start: /^\u0089PNG\r\n\u001a\n/ },
  { type: "image/jpeg", start: /^\u00ff\u00d8\u00ff/ },
  { type: "image/gif", start: /^GIF8[79]a/ },
  { type: "image/webp", start: /^RIFF.{4}WEBP/s },
];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Gives the address of an image in base64; null when it is none of these formats. */
export function imageAddress(base64: string): string | null {
  const head = decodeBase64(base64.slice(0, 16));
  if (head === null || !BASE64.test(base64)) return null;
  const start = String.fromCharCode(...head);
  const format = FORMATS.find((candidate) => candidate.start.test(start));
  return format === undefined ? null : `data:${format.type};base64,${base64}`;
}

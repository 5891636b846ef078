// How a text reads where it was written in another way: in an address, in a page, in capitals, in base64.
import { encodeBase64 } from "../base64.ts";

/** A shorter piece of base64 is in other data by chance, characters. */
const LEAST_BASE64 = 8;

const ENTITIES: readonly Readonly<Record<string, string>>[] = [
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#x27;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;" },
];

/**
 * Lists the forms of a text, itself first, each once: URL-encoded, HTML-escaped, in upper and lower case, and what is sure of its
 * base64, wherever it begins in what was encoded. Texts of 4 characters and more.
 */
export function writtenForms(text: string): readonly string[] {
  const cased = [text, text.toUpperCase(), text.toLowerCase()];
  const forms = cased.flatMap((one) => [one, ...encodedInUrl(one), ...ENTITIES.map((names) => escapedBy(names, one))]);
  return [...new Set([...forms, ...base64Forms(text)])];
}

function encodedInUrl(text: string): readonly string[] {
  const bytes = [...new TextEncoder().encode(text)];
  const percent = (isPlain: RegExp): string =>
    bytes
      .map((byte) => {
        const char = String.fromCharCode(byte);
        return isPlain.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
      })
      .join("");
  // Encoders differ in what they leave alone (encodeURIComponent, encodeURI, RFC 3986, forms).
  const encoded = [/[\w.~-]/, /[\w.!~*'()-]/, /[\w.!~*'();/?:@&=+$,#-]/].map(percent);
  const all = encoded.flatMap((one) => [one, one.replaceAll("%20", "+")]);
  return all.flatMap((one) => [one, one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function escapedBy(names: Readonly<Record<string, string>>, text: string): string {
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char);
}

/** By how many bytes are before it in its group of three: characters that depend on neighbours are left out at both ends. */
function base64Forms(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const forms = [0, 1, 2].flatMap((before) => {
    const encoded = encodeBase64(Uint8Array.of(...new Uint8Array(before), ...bytes)).replace(/=+$/, "");
    const isWhole = (before + bytes.length) % 3 === 0;
    const sure = encoded.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return forms.filter((form) => form.length >= LEAST_BASE64);
}

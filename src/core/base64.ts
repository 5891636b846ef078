// Base64 of the standard alphabet, padded (RFC 4648 §4): texts that are exactly what encoding some bytes gives, and no others.

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes a text; null when it is not exactly what encoding its bytes gives. */
export function decodeBase64(text: string): Uint8Array | null {
  if (text.length % 4 !== 0 || !BASE64.test(text)) return null;
  const binary = atob(text);
  if (btoa(binary) !== text) return null;
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Encodes bytes. */
export function encodeBase64(bytes: Uint8Array): string {
  /** Function calls take a limited number of arguments. */
  const chunkBytes = 0x8000;
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes)
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + chunkBytes)));
  return btoa(pieces.join(""));
}

// Names derived from source ids, the same at every import: for ids that are no usable names, and for what the session has
// no id of its own for. Not for security: FNV-1a, 64 bits.

const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** Derives a short name, `[0-9a-z]{13}`, from a text. */
export function deriveName(text: string): string {
  let hash = OFFSET;
  for (let at = 0; at < text.length; at++) hash = ((hash ^ BigInt(text.charCodeAt(at))) * PRIME) & MASK;
  return hash.toString(36).padStart(13, "0");
}

// Whether a name may have been met before: a Bloom filter, so that the names of a long session take a few bytes each and
// need no building when they are read back. It never forgets a name; one in some 200,000 others it takes for known.

/** Bits for each name that there is room for, and how many of them a name sets. */
const BITS = 32;
const PROBES = 8;
/** Room for names at least. */
const LEAST_ROOM = 1024;
/** `count` and `room`, 4 bytes each, stand before the bits. */
const HEADER_BYTES = 8;

/** Names that were met. */
export interface NameFilter {
  /** Whether it may have been added; a name that was added always may. */
  mayHave(name: string): boolean;
  /** Adds a name. False when there is no room: then it was not added. */
  add(name: string): boolean;
  /** All of it, for `openNameFilter`. */
  readonly bytes: Uint8Array;
}

/** Creates an empty filter with room for so many names. */
export function createNameFilter(room: number): NameFilter {
  const most = Math.max(LEAST_ROOM, Math.ceil(room));
  const bytes = new Uint8Array(HEADER_BYTES + (most * BITS) / 8);
  new DataView(bytes.buffer).setUint32(4, most);
  return openNameFilter(bytes) as NameFilter;
}

/** Opens a copy of a filter's bytes; null when they are none. */
export function openNameFilter(stored: Uint8Array): NameFilter | null {
  const bytes = Uint8Array.from(stored);
  if (bytes.length < HEADER_BYTES) return null;
  const header = new DataView(bytes.buffer);
  const room = header.getUint32(4);
  if (room === 0 || bytes.length !== HEADER_BYTES + (room * BITS) / 8) return null;
  const bits = bytes.subarray(HEADER_BYTES);
  const size = room * BITS;
  return {
    bytes,
    mayHave: (name) => placesOf(name, size).every((at) => ((bits[at >>> 3] ?? 0) & (1 << (at & 7))) !== 0),
    add(name) {
      const count = header.getUint32(0);
      if (count >= room) return false;
      header.setUint32(0, count + 1);
      for (const at of placesOf(name, size)) bits[at >>> 3] = (bits[at >>> 3] ?? 0) | (1 << (at & 7));
      return true;
    },
  };
}

/** The bits of a name: steps of one hash from another (Kirsch and Mitzenmacher, 2006). */
function placesOf(name: string, size: number): number[] {
  let [one, two] = [0x811c9dc5, 0x9747b28c];
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul((two << 13) | (two >>> 19), 0xcc9e2d51) ^ code;
  }
  const [start, step] = [mix(one), mix(two) | 1];
  return Array.from({ length: PROBES }, (_, probe) => ((start + Math.imul(step, probe)) >>> 0) % size);
}

/** Spreads every bit of a hash over all of it. */
function mix(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

// Git's delta between two blobs (gitformat-pack(5), "Deltified representation"): what a target copies from a base and what
// it adds. Made for text that a base repeats in long stretches, such as an agent's lines beside the events made of them.

/** Makes deltas one after the other; its memory is used again for each. */
export interface DeltaEncoder {
  /**
   * Encodes `target` against `base`, both under 2 GiB; null when the delta would be longer than `limit` bytes. The same
   * bytes always give the same delta; it stands in memory that the next call uses again.
   */
  encode(base: Uint8Array, target: Uint8Array, limit: number): Uint8Array | null;
}

const HASH_BITS = 17;
/** Bytes that are hashed together. */
const WINDOW_BYTES = 8;
/** Every eighth place of the base can be found again: a stretch of 15 bytes holds one for certain. */
const STRIDE_BYTES = 8;
/** A shorter copy is hardly shorter than the bytes themselves. */
const MIN_MATCH_BYTES = 20;
/** After each 4 places without a match the search takes longer steps: noise is passed over. */
const PATIENCE_BITS = 2;
const MAX_INSERT_BYTES = 0x7f;
const MAX_COPY_BYTES = 0xffff;
/** Longest instruction, and the two sizes at the head. */
const MARGIN_BYTES = 32;

/** Takes a stretch that both sides have in common: where it begins in the target and in the base, and its length; bytes. */
type TakeMatch = (from: number, base: number, length: number) => void;

/** Creates an encoder. */
export function createDeltaEncoder(): DeltaEncoder {
  const places = new Int32Array(1 << HASH_BITS);
  let out = new Uint8Array(0);
  return {
    encode(base, target, limit) {
      const room = limit + MAX_INSERT_BYTES + MARGIN_BYTES;
      if (out.length < room) out = new Uint8Array(room);
      let at = putSize(out, putSize(out, 0, base.length), target.length);
      let written = 0;
      findMatches(places, base, target, (from, place, length) => {
        at = putInsert(out, at, target.subarray(written, from), limit);
        at = putCopy(out, at, { place, length }, limit);
        written = from + length;
      });
      at = putInsert(out, at, target.subarray(written), limit);
      return at > limit ? null : out.subarray(0, at);
    },
  };
}

function findMatches(places: Int32Array, base: Uint8Array, target: Uint8Array, take: TakeMatch): void {
  const from = viewOf(base);
  const to = viewOf(target);
  places.fill(-1);
  // From the end on: of places that look the same the first stays, which has the most behind it.
  const last = Math.floor((base.length - WINDOW_BYTES) / STRIDE_BYTES) * STRIDE_BYTES;
  for (let at = last; at >= 0; at -= STRIDE_BYTES) places[hashAt(from, at)] = at;
  let free = 0;
  let misses = 0;
  for (let at = 0; at + WINDOW_BYTES <= target.length; ) {
    const place = places[hashAt(to, at)] as number;
    const after = place < 0 ? 0 : commonBytes(from, place, to, at);
    const before = after < 4 ? 0 : commonBytesBefore(base, place, target, at, free);
    if (before + after >= MIN_MATCH_BYTES) {
      take(at - before, place - before, before + after);
      at += after;
      free = at;
      misses = 0;
    } else at += 1 + (misses++ >> PATIENCE_BITS);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function hashAt(view: DataView, at: number): number {
  const mixed = Math.imul(view.getInt32(at, true), 0x9e3779b1) ^ Math.imul(view.getInt32(at + 4, true), 0x85ebca6b);
  return mixed >>> (32 - HASH_BITS);
}

/** How many bytes from two places on are the same. */
function commonBytes(a: DataView, atA: number, b: DataView, atB: number): number {
  const most = Math.min(a.byteLength - atA, b.byteLength - atB);
  let length = 0;
  while (length + 4 <= most && a.getInt32(atA + length, true) === b.getInt32(atB + length, true)) length += 4;
  while (length < most && a.getUint8(atA + length) === b.getUint8(atB + length)) length++;
  return length;
}

/** How many bytes before two places are the same, in the target not before `free`. */
function commonBytesBefore(base: Uint8Array, atBase: number, target: Uint8Array, at: number, free: number): number {
  const most = Math.min(atBase, at - free);
  let length = 0;
  while (length < most && base[atBase - length - 1] === target[at - length - 1]) length++;
  return length;
}

function putSize(out: Uint8Array, at: number, size: number): number {
  let end = at;
  for (let rest = size; ; rest >>>= 7) {
    out[end++] = rest > 0x7f ? (rest & 0x7f) | 0x80 : rest;
    if (rest <= 0x7f) return end;
  }
}

/** Both writers stop once the limit is passed: the delta is given up then. */
function putInsert(out: Uint8Array, start: number, bytes: Uint8Array, limit: number): number {
  let at = start;
  for (let from = 0; from < bytes.length && at <= limit; from += MAX_INSERT_BYTES) {
    const piece = bytes.subarray(from, from + MAX_INSERT_BYTES);
    out[at++] = piece.length;
    out.set(piece, at);
    at += piece.length;
  }
  return at;
}

function putCopy(
  out: Uint8Array,
  start: number,
  { place, length }: { readonly place: number; readonly length: number },
  limit: number,
): number {
  let at = start;
  for (let done = 0; done < length && at <= limit; done += MAX_COPY_BYTES) {
    const head = at++;
    const offset = place + done;
    const size = Math.min(length - done, MAX_COPY_BYTES);
    let present = 0x80;
    // Bytes that are zero are left out; the head says which are there.
    for (let byte = 0; byte < 6; byte++) {
      const value = byte < 4 ? (offset >>> (8 * byte)) & 0xff : (size >>> (8 * (byte - 4))) & 0xff;
      if (value === 0) continue;
      out[at++] = value;
      present |= 1 << byte;
    }
    out[head] = present;
  }
  return at;
}

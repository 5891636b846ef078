// Deltas of git packs: an object as copies from another one and bytes of its own (gitformat-pack(5), "Deltified
// representation").

/** Where in the delta the reading stands. */
interface Cursor {
  readonly delta: Buffer;
  at: number;
}

/** Below this a loop copies faster than a call. Bytes. */
const SHORT = 64;

/** Applies a delta to the object it was made from. Throws when it does not fit that object or is damaged. */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const cursor: Cursor = { delta, at: 0 };
  check(readSize(cursor) === base.length);
  const result = Buffer.allocUnsafeSlow(readSize(cursor));
  let filled = 0;
  while (cursor.at < delta.length) {
    const command = readByte(cursor);
    if (command >= 0x80) {
      // A part of the base; the command's bits say which bytes of its place and length follow, others are zero.
      const from = readNumber(command & 0x0f, cursor);
      const count = readNumber((command >> 4) & 0x07, cursor) || 0x10000;
      filled = copyBytes(base, from, count, result, filled);
    } else {
      // Bytes that stand in the delta; the command is their count, 0 is reserved.
      check(command > 0);
      filled = copyBytes(delta, cursor.at, command, result, filled);
      cursor.at += command;
    }
  }
  check(filled === result.length);
  return result;
}

/** Reads how large the object is that a delta makes, in bytes; the delta may end after that. Throws when it ends before. */
export function readMadeSize(delta: Buffer): number {
  const cursor: Cursor = { delta, at: 0 };
  readSize(cursor);
  return readSize(cursor);
}

/** Copies `count` bytes and gives where the next ones go. */
function copyBytes(source: Buffer, from: number, count: number, target: Buffer, to: number): number {
  check(from + count <= source.length && to + count <= target.length);
  if (count < SHORT) for (let at = 0; at < count; at++) target[to + at] = source[from + at] ?? 0;
  else source.copy(target, to, from, from + count);
  return to + count;
}

/** A number, lowest byte first, of which only the bytes are there whose bit is set. */
function readNumber(bits: number, cursor: Cursor): number {
  let value = 0;
  for (let scale = 1, rest = bits; rest !== 0; rest >>= 1, scale *= 256) {
    if (rest & 1) value += readByte(cursor) * scale;
  }
  return value;
}

/** A number in groups of 7 bits, lowest first. */
function readSize(cursor: Cursor): number {
  let value = 0;
  for (let scale = 1; ; scale *= 128) {
    const byte = readByte(cursor);
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
}

function readByte(cursor: Cursor): number {
  check(cursor.at < cursor.delta.length);
  return cursor.delta[cursor.at++] ?? 0;
}

function check(isSound: boolean): void {
  if (!isSound) throw new Error("a delta that does not fit its base");
}

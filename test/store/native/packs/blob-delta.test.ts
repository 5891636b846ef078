import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDeltaEncoder } from "../../../../src/store/native/packs/blob-delta.ts";

/** Applies a delta as gitformat-pack(5) says. */
function applyDelta(base: Uint8Array, delta: Uint8Array): Uint8Array {
  let at = 0;
  const size = (): number => {
    for (let value = 0, shift = 0; ; shift += 7) {
      const byte = delta[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  expect(size()).toBe(base.length);
  const target = new Uint8Array(size());
  let written = 0;
  while (at < delta.length) {
    const head = delta[at++]!;
    let piece: Uint8Array;
    if (head < 0x80) {
      expect(head).toBeGreaterThan(0);
      piece = delta.subarray(at, at + head);
      at += head;
    } else {
      const read = (bits: number, shift: number): number =>
        [...Array(bits).keys()].reduce(
          (sum, bit) => sum + (head & (1 << (bit + shift)) ? delta[at++]! * 256 ** bit : 0),
          0,
        );
      const offset = read(4, 0);
      const length = read(3, 4) || 0x10000;
      piece = base.subarray(offset, offset + length);
      expect(piece.length).toBe(length);
    }
    target.set(piece, written);
    written += piece.length;
  }
  expect(written).toBe(target.length);
  return target;
}

const blocks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 12 });

describe("createDeltaEncoder", () => {
  it("gives deltas that make the target of the base again, whatever both are", () => {
    const encoder = createDeltaEncoder();
    const picks = fc.array(fc.oneof(fc.nat(11), fc.uint8Array({ maxLength: 40 })), { maxLength: 30 });
    fc.assert(
      fc.property(blocks, picks, (base, chosen) => {
        const from = Buffer.concat(base);
        const target = Buffer.concat(
          chosen.map((pick) => (typeof pick === "number" ? base[pick % base.length]! : pick)),
        );
        const delta = encoder.encode(from, target, target.length * 2 + 16);
        expect(delta).not.toBeNull();
        expect(Buffer.from(applyDelta(from, delta!)).equals(target)).toBe(true);
      }),
    );
  });

  it("copies long stretches, more than one instruction can name, from far into the base", () => {
    const noise = Uint8Array.from(
      { length: 400_000 },
      (_, at) => (Math.imul(at ^ (at >>> 7), 0x9e3779b1) >>> 23) & 0xff,
    );
    const target = Buffer.concat([noise.subarray(150_001), Buffer.from("and more"), noise.subarray(0, 70_000)]);
    const delta = createDeltaEncoder().encode(noise, target, 1000);
    expect(delta).not.toBeNull();
    expect(delta!.length).toBeLessThan(100);
    expect(Buffer.from(applyDelta(noise, delta!)).equals(target)).toBe(true);
  });

  it("gives up a delta that would be longer than the limit", () => {
    const base = new Uint8Array(1000);
    const target = Uint8Array.from({ length: 1000 }, (_, at) => (at * at) & 0xff);
    const encoder = createDeltaEncoder();
    expect(encoder.encode(base, target, 20)).toBeNull();
    expect(encoder.encode(base, base, 20)).not.toBeNull();
  });
});

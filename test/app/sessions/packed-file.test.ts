// Files that are compressed with zstd: unpacked whole or refused, never beyond a limit. The frames are made by hand (RFC 8878).
import { describe, expect, it } from "vitest";
import { isPacked, unpackBeginning, unpackFile } from "../../../src/app/sessions/session-registry.ts";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** Says that a window of 128 KiB follows, and nothing of the size of the content. */
const WINDOW = [0x00, 0x38];
const LARGEST = 128 * 1024;

const RAW = 0;
const REPEATED = 1;

function block(kind: number, size: number, content: Uint8Array, isLast = false): Buffer {
  const head = Buffer.alloc(3);
  head.writeUIntLE((size << 3) | (kind << 1) | Number(isLast), 0, 3);
  return Buffer.concat([head, content]);
}
const frame = (...blocks: readonly Buffer[]): Buffer => Buffer.concat([Buffer.from([...MAGIC, ...WINDOW]), ...blocks]);
const raw = (text: string, isLast = false): Buffer => block(RAW, text.length, Buffer.from(text), isLast);
const repeated = (size: number, isLast = false): Buffer => block(REPEATED, size, Buffer.from("k"), isLast);

/** A frame that a real compressor made of 60 times the line `{"kelp":"bull"}`. */
const REAL = Buffer.from("KLUv/QRYvQAAgHsia2VscCI6ImJ1bGwifQoBAFpPNZeLyYaq", "base64");

describe("a packed file", () => {
  it("is detected by its first bytes", () => {
    expect(
      [frame(raw("x", true)), Buffer.from("{}"), Buffer.alloc(0), Buffer.from([0x28, 0xb5])].map(isPacked),
    ).toEqual([true, false, false, false]);
  });

  it("is unpacked whole, several frames in a row too", async () => {
    const one = frame(raw("low "), repeated(3), raw(" tide\n", true));
    expect((await unpackFile(Buffer.concat([one, one]), "x")).toString()).toBe("low kkk tide\nlow kkk tide\n");
    expect((await unpackFile(REAL, "x")).toString()).toBe('{"kelp":"bull"}\n'.repeat(60));
  });

  it("is refused by name wherever it was cut off", async () => {
    for (const whole of [frame(raw("low "), raw("tide", true)), REAL]) {
      for (let end = MAGIC.length; end < whole.length; end++)
        await expect(unpackFile(whole.subarray(0, end), "kelp.zst")).rejects.toMatchObject({
          code: "damaged_file",
          message: expect.stringMatching(/^kelp\.zst is compressed with zstd and is cut off or damaged: /),
        });
    }
  });

  it("is refused when it is none but for its first bytes", async () => {
    await expect(unpackFile(Buffer.from([...MAGIC, 0xff, 0xff, 0xff, 0xff]), "x")).rejects.toMatchObject({
      code: "damaged_file",
    });
  });

  it("is not unpacked beyond a limit, however few bytes it has", async () => {
    const bomb = frame(...Array.from({ length: 100 }, () => repeated(LARGEST)), repeated(1, true));
    expect(bomb.length).toBeLessThan(500);
    await expect(unpackFile(bomb, "x", 50 * LARGEST)).rejects.toMatchObject({
      code: "large_file",
      message: `x unpacks to more than ${50 * LARGEST} bytes, so jpg stopped reading it.`,
    });
    expect(await unpackFile(bomb, "x", 101 * LARGEST)).toHaveLength(100 * LARGEST + 1);
  });

  it("shows its beginning, as much as there is of it", async () => {
    const whole = frame(raw("low tide"), raw(" and high", true));
    expect((await unpackBeginning(whole, 3))?.toString()).toBe("low");
    expect((await unpackBeginning(whole.subarray(0, -2), 100))?.toString()).toBe("low tide");
    expect(await unpackBeginning(whole.subarray(0, 10), 100)).toBe(null);
    const bomb = frame(...Array.from({ length: 1000 }, () => repeated(LARGEST)));
    expect(await unpackBeginning(bomb, 1000)).toHaveLength(1000);
  });
});

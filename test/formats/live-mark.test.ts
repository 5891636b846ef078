import { describe, expect, test } from "vitest";
import { formatLiveMark, readLiveMark } from "../../src/formats/live-mark.ts";

const MARK = { kind: "compact", compaction: "k3f9a0", commit: "0a1b2c3d4e5f", rows: 12 } as const;

describe("the mark of a live compaction", () => {
  test("is read from the text that it was written as", () => {
    const text = formatLiveMark({ words: "Compacted turns 0 to 4.", ...MARK });

    expect(text).toBe("Compacted turns 0 to 4. [jpg 1 compact k3f9a0 0a1b2c3d4e5f 12]");
    expect(readLiveMark(text)).toEqual(MARK);
    expect(readLiveMark(`${text}\n`)).toEqual(MARK);
  });

  test("of an undo says so", () => {
    expect(readLiveMark(formatLiveMark({ words: "", ...MARK, kind: "undo" }))).toEqual({ ...MARK, kind: "undo" });
  });

  test.each([
    ["", "an empty text"],
    ["[jpg 2 compact k3f9a0 0a1b2c3d4e5f 12]", "a version that is not known"],
    ["[jpg 1 redo k3f9a0 0a1b2c3d4e5f 12]", "another kind"],
    ["[jpg 1 compact ../x 0a1b2c3d4e5f 12]", "an id with other characters"],
    ["[jpg 1 compact k3f9a0 0a1b2c3d4e5f 12] and more", "words after it"],
    [`[jpg 1 compact k3f9a0 0a1b2c3d4e5f ${"1".repeat(40)}]`, "a count without bound"],
  ])("%j is none: %s", (text) => {
    expect(readLiveMark(text)).toBeNull();
  });

  test("is searched for in the end of a text only", () => {
    const long = `${"[jpg 1 compact ".repeat(200_000)}k3f9a0 0a1b2c3d4e5f 12]`;

    expect(readLiveMark(long)).toEqual(MARK);
  });
});

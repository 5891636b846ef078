// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compareTurns,
  filesBetween,
  isMostlyContained,
  type MergeSide,
  mergeFiles,
  orderSides,
  sketchLines,
} from "../../../src/core/conversation/merge-sides.ts";

/** A side from its turns and other files; `a` means `compactions/a`. */
function side(commit: string, turns: string, records = "", touched = records): MergeSide {
  const named = (text: string): string[] => [...text].map((name) => `compactions/${name}`);
  const turnOids = [...turns];
  const files = new Map([
    ...turnOids.map((oid, turn) => [`turns/${turn}`, oid] as const),
    ...named(records).map((path) => [path, path] as const),
  ]);
  return { commit, turnOids, files, touched: new Set(named(touched)) };
}

const never = (): boolean => false;
const records = (files: ReadonlyMap<string, string>): string =>
  [...files.keys()]
    .flatMap((path) => (path.startsWith("compactions/") ? [path.slice(12)] : []))
    .sort()
    .join("");

describe("turns of two sides", () => {
  it.each([
    ["abc", "abc", "ab", "same"],
    ["ab", "abc", "ab", "theirs"],
    ["abc", "ab", "ab", "ours"],
    ["abx", "aby", "ab", "both"],
    ["abx", "aby", "", "both"],
    ["a", "b", "", "both"],
    // One side took turns away or wrote them anew; the other did nothing to them.
    ["ab", "xy", "ab", "theirs"],
    ["xy", "ab", "ab", "ours"],
  ])("%s and %s, parted at %s: %s", (ours, theirs, base, expected) => {
    const bases = base === "" ? [] : [side("b", base)];
    expect(compareTurns([...ours], [...theirs], { bases, hasGrown: never })).toBe(expected);
  });

  it("are of the side whose newest turn has grown out of the other's", () => {
    const hasGrown = (from: string, to: string): boolean => from.toUpperCase() === to;
    expect(compareTurns([..."abc"], [..."abC"], { bases: [], hasGrown })).toBe("theirs");
    expect(compareTurns([..."abCd"], [..."abc"], { bases: [], hasGrown })).toBe("ours");
    // A turn that others follow does not grow.
    expect(compareTurns([..."abcd"], [..."abC"], { bases: [], hasGrown })).toBe("both");
  });
});

describe("files of two sides", () => {
  const merge = (one: MergeSide, other: MergeSide, ...bases: MergeSide[]): string =>
    records(mergeFiles([one, other], bases));

  it.each([
    ["both bring one", side("1", "", "a"), side("2", "", "b"), side("0", ""), "ab"],
    ["one takes back", side("1", "", "a", ""), side("2", "", "", "a"), side("0", "", "a"), ""],
    ["one brings back what was taken back before", side("1", "", "a"), side("2", "", "", ""), side("0", ""), "a"],
    ["both bring the same, one takes it back", side("1", "", "a"), side("2", "", "", "a"), side("0", ""), ""],
  ])("%s", (_, one, other, base, expected) => {
    expect(merge(one, other, base)).toBe(expected);
    expect(merge(other, one, base)).toBe(expected);
  });

  it("of unrelated histories go by what either ever did", () => {
    expect(merge(side("1", "", "a"), side("2", "", "b", "bc"))).toBe("ab");
    expect(merge(side("1", "", "ac"), side("2", "", "b", "bc"))).toBe("ab");
  });

  it("keep the turns of the first, and whatever else either has", () => {
    const [one, other] = [side("1", "abc"), side("2", "ab")];
    const more = { ...other, files: new Map([...other.files, ["attachments/x", "x"]]) };
    expect(mergeFiles([one, more], [])).toEqual(new Map([...one.files, ["attachments/x", "x"]]));
    expect(mergeFiles([more, one], []).has("turns/2")).toBe(false);
  });

  it("are the same on both sides, and merging again changes nothing", () => {
    const letters = fc.subarray([..."abcdef"]).map((list) => list.join(""));
    fc.assert(
      fc.property(letters, letters, letters, letters, letters, (base, mine, minesTouched, yours, yoursTouched) => {
        const [one, other] = [side("1", "t", mine, minesTouched), side("2", "t", yours, yoursTouched)];
        const start = side("0", "t", base);
        const merged = mergeFiles(orderSides(one, other, "same"), [start]);
        expect(mergeFiles(orderSides(other, one, "same"), [start])).toEqual(merged);
        const result = { ...one, commit: "3", files: merged };
        expect(mergeFiles(orderSides(result, { ...other, touched: new Set() }, "same"), [other])).toEqual(merged);
        expect(filesBetween(merged, merged)).toEqual([]);
      }),
    );
  });
});

// Whether lines are contained in others: exact for few, a good guess for many.

const lines = fc.array(fc.string(), { maxLength: 30 });
const numbered = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => `line ${from + at}`);

describe("isMostlyContained", () => {
  it("is exact for few lines: nine of ten must be there, in any order", () => {
    fc.assert(
      fc.property(lines, lines, (some, others) => {
        const distinct = new Set(some.map((line) => line.trim()));
        const there = new Set(others.map((line) => line.trim()));
        const shared = [...distinct].filter((line) => there.has(line)).length;
        const isMost = distinct.size > 0 && shared >= 0.9 * distinct.size;
        expect(isMostlyContained(sketchLines(some), sketchLines([...others].reverse()))).toBe(isMost);
      }),
    );
  });

  it("knows a piece of a long text, and a long text that is another one", () => {
    const whole = sketchLines(numbered(0, 5000));
    expect(isMostlyContained(sketchLines(numbered(100, 5000)), whole)).toBe(true);
    expect(isMostlyContained(sketchLines(numbered(3000, 8000)), whole)).toBe(false);
    expect(isMostlyContained(sketchLines(numbered(9000, 9900)), whole)).toBe(false);
    expect(isMostlyContained(whole, sketchLines(numbered(0, 500)))).toBe(false);
  });

  it("does not count no lines as contained", () => {
    expect(isMostlyContained(sketchLines([]), sketchLines(["tide"]))).toBe(false);
  });
});

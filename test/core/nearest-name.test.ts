// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestName } from "../../src/core/errors.ts";

/** Edits between two words by trying each, with a swap of two neighbours as one. */
function editsBetween(a: string, b: string, known = new Map<string, number>()): number {
  if (a === "" || b === "") return a.length + b.length;
  const key = `${a} ${b}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const rest = (one: number, other: number): number => editsBetween(a.slice(one), b.slice(other), known);
  const choices = [rest(1, 0) + 1, rest(0, 1) + 1, rest(1, 1) + (a[0] === b[0] ? 0 : 1)];
  if (b.length > 1 && a.startsWith(`${b[1]}${b[0]}`)) choices.push(rest(2, 2) + 1);
  const fewest = Math.min(...choices);
  known.set(key, fewest);
  return fewest;
}

describe("nearestName", () => {
  it.each([
    ["defualt", "default"],
    ["HEAVY", "heavy"],
    ["ligth", "light"],
    ["hevy", "heavy"],
  ])("suggests for %s the name %s", (word, name) => {
    expect(nearestName(word, ["default", "heavy", "light"])).toBe(name);
  });

  it("suggests nothing when no name is close", () => {
    expect(nearestName("zebra", ["default", "heavy", "light"])).toBeUndefined();
    expect(nearestName("x", [])).toBeUndefined();
  });

  it.each([
    ["abc", "abx", true],
    ["abc", "axy", false],
    ["abcde", "abcxy", false],
    ["abcdef", "abcdxy", true],
    ["abcdef", "abcxyz", false],
    ["abcdefghi", "abcdefxyz", true],
    ["abcdefghijkl", "abcdefghwxyz", false],
    ["ab", "ba", true],
    ["a", "b", true],
    ["", "a", true],
    ["", "ab", false],
  ])("for %j takes %j as close: %s", (word, name, isClose) => {
    expect(nearestName(word, [name])).toBe(isClose ? name : undefined);
  });

  it("takes the first of the names with the fewest edits, a third of the word at most", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "C"), maxLength: 10 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 5 }), (wanted, names) => {
        const edits = names.map((name) => editsBetween(wanted.toLowerCase(), name.toLowerCase()));
        const fewest = Math.min(...edits);
        const most = wanted.length < 6 ? 1 : wanted.length < 9 ? 2 : 3;
        expect(nearestName(wanted, names)).toBe(fewest <= most ? names[edits.indexOf(fewest)] : undefined);
      }),
    );
  });

  it("takes the first of equally close names", () => {
    expect(nearestName("stripe", ["strips", "stripy"])).toBe("strips");
  });
});

import { describe, expect, it } from "vitest";
import { formerTipsIn, previousBranchIn, REMOVED } from "../../../src/store/git/refs.ts";

const [A, B] = ["a".repeat(40), "b".repeat(40)];
const log = (...moves: readonly (readonly [string, string])[]): string =>
  moves
    .map(([from, to]) => `${A} ${B} Ada <ada@example.com> 1772355601 +0000\tcheckout: moving from ${from} to ${to}\n`)
    .join("");

describe("previousBranchIn", () => {
  it("gives the newest branch that HEAD came from", () => {
    expect(previousBranchIn(log(["kelp/main", "pier/main"], ["pier/main", "tide/main"]), "tide/main")).toBe(
      "pier/main",
    );
  });

  it.each([
    ["the branch that a store begins with", log(["main", "kelp/main"])],
    ["a commit", log([A, "kelp/main"])],
    ["a branch that was removed for good", log([REMOVED, "kelp/main"])],
    ["the active branch itself", log(["kelp/main", "kelp/main"])],
    ["a log without a move", `${A} ${B} Ada <ada@example.com> 1772355601 +0000\tcommit: turn 1\n`],
    ["no log", null],
  ])("passes over %s", (_, text) => {
    expect(previousBranchIn(text, "kelp/main")).toBeNull();
  });
});

describe("formerTipsIn", () => {
  it("gives each earlier value of a ref once, newest first", () => {
    expect(formerTipsIn(`${A} ${B} x\n${B} ${A} x\n${A} ${B} x\n`)).toEqual([A, B]);
    expect(formerTipsIn(null)).toEqual([]);
  });
});

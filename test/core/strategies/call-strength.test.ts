// Which of two policies takes more of one half of a call.
import { describe, expect, it } from "vitest";
import {
  compareStrength,
  isGone,
  isSamePolicy,
  strongest,
} from "../../../src/core/compact/strategies/encode-decisions.ts";
import type { CallPolicy } from "../../../src/core/conversation/compaction.ts";

/** From what takes least to what takes most. */
const LADDER: readonly (CallPolicy | "hide" | undefined)[] = [
  undefined,
  { truncate: { max_chars: 90 } },
  { truncate: { max_chars: 9 } },
  { drop: { max_chars: 90 } },
  { drop: { max_chars: 9 } },
  "strip",
  "omit",
  "hide",
];

describe("compareStrength", () => {
  it("orders policies by what they take, of two alike the one that leaves less", () => {
    for (const [i, a] of LADDER.entries()) {
      for (const [j, b] of LADDER.entries())
        expect(Math.sign(compareStrength(a, b)), `${i} ${j}`).toBe(Math.sign(i - j));
    }
  });

  it("takes keep for nothing, and the head of a text for as much as its tail", () => {
    expect(compareStrength("keep", undefined)).toBe(0);
    const [head, tail] = [1, 0].map((share) => ({ truncate: { max_chars: 9, head: share } }));
    expect(compareStrength(head, tail)).toBe(0);
  });
});

describe("isSamePolicy", () => {
  it("tells all policies apart", () => {
    for (const [i, a] of LADDER.entries()) {
      for (const [j, b] of LADDER.entries()) expect(isSamePolicy(a, b), `${i} ${j}`).toBe(i === j);
    }
  });

  it("takes keep for nothing, and another head for another policy", () => {
    expect(isSamePolicy("keep", undefined)).toBe(true);
    const [head, tail] = [1, 0].map((share) => ({ truncate: { max_chars: 9, head: share } }));
    expect(isSamePolicy(head, tail)).toBe(false);
    expect(isSamePolicy(head, { truncate: { max_chars: 9, head: 1 } })).toBe(true);
  });
});

describe("isGone", () => {
  it("is true of what is hidden or left out, and of nothing else", () => {
    const gone = LADDER.filter((now) => isGone({ now }));
    expect(gone).toEqual(["omit", "hide"]);
  });
});

describe("strongest", () => {
  it("decides each half on its own", () => {
    const [much, little] = [{ truncate: { max_chars: 5 } }, { truncate: { max_chars: 50 } }];
    const mixed = { request: "strip", response: little } as const;
    expect(strongest(mixed, { response: much })).toEqual({ request: "strip", response: much });
    expect(strongest({ response: much }, mixed)).toEqual({ request: "strip", response: much });
    expect(strongest({}, {})).toEqual({});
    expect(strongest({ request: "keep" }, {})).toEqual({ request: "keep" });
  });

  it("leaves the whole call out when one half is", () => {
    const whole = { request: "omit", response: "omit" };
    expect(strongest({ request: "omit" }, { response: "strip" })).toEqual(whole);
    expect(strongest({ request: "strip" }, { response: "omit" })).toEqual(whole);
  });

  it("keeps the first of two that take as much", () => {
    const [head, tail] = [1, 0].map((share) => ({ response: { truncate: { max_chars: 9, head: share } } }));
    if (head === undefined || tail === undefined) throw new Error("two were made");
    expect(strongest(head, tail)).toEqual(head);
  });
});

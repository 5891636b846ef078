import { describe, expect, it } from "vitest";
import type { PlanOffer } from "../../../src/app/compact/edit-plan.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderPlan } from "../../../src/cli/render/compact.ts";
import { type EditItem, parsePlan } from "../../../src/core/compact/edit-plan.ts";

const item = (place: string, words: string, tokens: number, time = "2026-02-01T00:00:00Z"): EditItem => ({
  place,
  kind: "turn",
  range: { from: 0, to: 0 },
  verb: "keep",
  tokens,
  time,
  words,
});
const offer = (items: readonly EditItem[], more: Partial<PlanOffer> = {}): PlanOffer => ({
  base: { branch: "tide-k3f9/main", commit: "0123456789ab", calls: false },
  items,
  verbs: new Map(),
  size: { tokens: 42_000, source: "estimate" },
  overhead: 12_000,
  windowTokens: 200_000,
  lost: [],
  ...more,
});
const layout = { columns: 80, now: new Date("2026-02-03T12:00:00Z") };
const body = (text: string): readonly string[] => text.split("\n").filter((line) => /^(keep|omit)/.test(line));

describe("a plan on the screen", () => {
  it("has verb, place, tokens, share, age and first words in columns", () => {
    const items = [
      item("0..9", "[summary] What was done", 1234),
      item("10", "And now the pier", 25_000, "2026-02-03T09:00:00Z"),
      item("11", "", 0, ""),
    ];
    expect(
      renderPlan(offer(items, { verbs: new Map([["10", "omit"]]) }), layout)
        .split("\n")
        .slice(0, 6),
    ).toEqual([
      "plan tide-k3f9/main 0123456789ab",
      "keep 0..9   1.2k <1% 2d  [summary] What was done",
      "omit   10  25.0k 13% 3h  And now the pier",
      "keep   11      0  0%  -",
      "",
      "# 3 lines, 42.0k tokens of a window of 200.0k, 12.0k of them in front of it",
    ]);
  });

  it("measures by the view where the window is not known", () => {
    const text = renderPlan(offer([item("0", "x", 21_000)], { windowTokens: null, overhead: 0 }), layout);
    expect(body(text)).toEqual(["keep 0  21.0k 50% 2d  x"]);
    expect(text).toContain("# 1 line, 42.0k tokens\n# a line: verb, turn, tokens, share of the view, age");
  });

  it.each([
    ["wide characters", "潮の満ち引きを桟橋で毎日測ってください。".repeat(6)],
    ["families and flags", "👨‍👩‍👧‍👦🇯🇵e\u0301 ".repeat(30)],
    ["a word without an end", "x".repeat(500)],
  ])("is 80 columns wide at most: %s", (_, words) => {
    const text = renderPlan(offer([item("7", words, 5), item("8", words, 12_345)]), layout);
    expect(text.split("\n").every((line) => displayWidth(line) <= 80)).toBe(true);
    for (const line of body(text)) {
      expect(displayWidth(line)).toBeGreaterThan(75);
      expect(line.endsWith("…")).toBe(true);
    }
  });

  it("has nothing that steers a terminal or passes for a line, whatever was said", () => {
    const words = "\u001b[2Jfine\u0007\nomit 8\r\u202etxt\u2066";
    const text = renderPlan(offer([item("7", words, 5), item("8", "next", 5)]), layout, ["\u001b]0;x\u0007"]);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(parsePlan(text).plan?.lines.map(({ verb, place }) => `${verb} ${place}`)).toEqual(["keep 7", "keep 8"]);
  });
});

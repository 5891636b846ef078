import { describe, expect, it } from "vitest";
import { formatLoss } from "../../../src/core/loss/format-loss.ts";
import { FACT_KINDS, type FactCounts } from "../../../src/core/loss/loss-receipt.ts";

const counts = (fields: Partial<FactCounts>): FactCounts => ({
  total: 0,
  visible: 0,
  summary: 0,
  pointer: 0,
  hidden: 0,
  mentioned_later: 0,
  ...fields,
});

describe("formatLoss", () => {
  it("gives one line a kind that loses anything", () => {
    const facts = {
      files: counts({ total: 12, visible: 9, summary: 1, pointer: 1, hidden: 1, mentioned_later: 1 }),
      shas: counts({ total: 2, hidden: 2, mentioned_later: 1 }),
      requests: counts({ total: 4, visible: 4 }),
    };
    const mentioned_later = [{ kind: "files", text: "src/a.ts", turn: 7 }] as const;
    expect(formatLoss({ facts, mentioned_later })).toEqual([
      "files: 12, of them 9 visible, 1 in the summary, 1 by pointer, 1 hidden",
      "shas: 2, of them 2 hidden",
      "all visible: 4 requests",
      "gone but mentioned later: 2, such as src/a.ts (turn 7)",
    ]);
    expect(formatLoss({ facts: {}, mentioned_later: [] })).toEqual([]);
  });

  it("puts the kinds with the fewest hidden facts together, to stay within eight lines", () => {
    const facts = Object.fromEntries(
      FACT_KINDS.map((kind, at) => [kind, counts({ total: 20, hidden: 20 - at, visible: at })]),
    );
    const lines = formatLoss({ facts, mentioned_later: [] });
    expect(lines).toHaveLength(8);
    expect(lines.at(-1)).toBe("hidden besides: 13 of 20 urls, 12 of 20 requests, 11 of 20 pins");
  });
});

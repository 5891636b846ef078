import { describe, expect, it } from "vitest";
import { formatLoss } from "../../../src/core/compact/hidden-content.ts";
import { FACT_KINDS, type FactCounts, type FactKind } from "../../../src/core/conversation/compaction.ts";

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

  it("names three of the facts that are mentioned later", () => {
    const facts = { shas: counts({ total: 9, hidden: 9, mentioned_later: 4 }) };
    const mentioned_later = [1, 2, 3, 4].map((turn) => ({ kind: "shas", text: `sha${turn}`, turn }) as const);
    expect(formatLoss({ facts, mentioned_later })).toEqual([
      "shas: 9, of them 9 hidden",
      "gone but mentioned later: 4, such as sha1 (turn 1), sha2 (turn 2), sha3 (turn 3)",
    ]);
  });

  describe("with many kinds", () => {
    /** What of 20 facts of each kind is hidden, in the order of kinds. */
    const HIDDEN = [3, 20, 5, 18, 7, 16, 9, 14, 11, 1];
    const hiding = (kinds: number) =>
      Object.fromEntries(
        FACT_KINDS.slice(0, kinds).map((kind, at) => {
          const hidden = HIDDEN[at] as number;
          return [kind, counts({ total: 20, hidden, pointer: 20 - hidden })];
        }),
      );
    const line = (kind: FactKind): string => {
      const hidden = HIDDEN[FACT_KINDS.indexOf(kind)] as number;
      return hidden === 20
        ? `${kind}: 20, of them 20 hidden`
        : `${kind}: 20, of them ${20 - hidden} by pointer, ${hidden} hidden`;
    };
    const mentioned_later = [{ kind: "files", text: "src/a.ts", turn: 7 }] as const;

    it("gives eight lines for eight kinds", () => {
      expect(formatLoss({ facts: hiding(8), mentioned_later: [] })).toEqual(FACT_KINDS.slice(0, 8).map(line));
    });

    it("puts the kinds with the fewest hidden facts together, to stay within eight lines", () => {
      const own = ["commands", "numbers", "shas", "issues", "errors", "identifiers", "urls", "requests"] as const;
      expect(formatLoss({ facts: hiding(9), mentioned_later: [] })).toEqual([
        ...own.filter((kind) => kind !== "numbers").map(line),
        "hidden besides: 3 of 20 files, 5 of 20 numbers",
      ]);
      expect(formatLoss({ facts: hiding(10), mentioned_later: [] })).toEqual([
        ...own.filter((kind) => kind !== "numbers").map(line),
        "hidden besides: 3 of 20 files, 5 of 20 numbers, 1 of 20 pins",
      ]);
    });

    it("leaves room for the lines of whole and of mentioned kinds", () => {
      const facts = { ...hiding(8), pins: counts({ total: 2, visible: 2 }) };
      expect(formatLoss({ facts, mentioned_later })).toEqual([
        ...(["commands", "shas", "errors", "identifiers", "urls"] as const).map(line),
        "hidden besides: 3 of 20 files, 5 of 20 numbers, 7 of 20 issues",
        "all visible: 2 pins",
        "gone but mentioned later: 0, such as src/a.ts (turn 7)",
      ]);
      expect(formatLoss({ facts: { ...hiding(6), pins: facts.pins }, mentioned_later })).toHaveLength(8);
    });
  });
});

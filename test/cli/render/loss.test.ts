import { describe, expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderAllLost, renderLoss, renderLost } from "../../../src/cli/render/loss.ts";
import type { LostFacts } from "../../../src/core/compact/lost-facts.ts";
import { FACT_KINDS } from "../../../src/core/conversation/compaction.ts";
import { safe } from "../../../src/core/safe-text.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const LOST: readonly LostFacts[] = [
  { kind: "files", facts: ["/home/ada/webshop/src/checkout/basket.ts", ...names(30, "src/f", ".ts")], mentioned: 4 },
  { kind: "errors", facts: ["TypeError: basket is \u001b[31mundefined"], mentioned: 0 },
  { kind: "identifiers", facts: names(200, "word", ""), mentioned: 2 },
];

function names(count: number, start: string, end: string): string[] {
  return Array.from({ length: count }, (_, at) => `${start}${at}${end}`);
}

describe("renderLost", () => {
  it("names the facts of each kind in one line that fits, and says how many there are", () => {
    const lines = renderLost(undefined, LOST, { ...PLAIN, width: 80, more: safe` Add --full.` });
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "     31 files        checkout/basket.ts, src/f0.ts, src/f1.ts, src/f2.ts, …
            1 error        TypeError: basket is ␛[31mundefined
          200 identifiers  word0, word1, word2, word3, word4, word5, word6, word7, …
          232 facts are hidden. Later turns mention 6 of them. Add --full."
    `);
    for (const width of [40, 60, 80, 200])
      for (const line of renderLost(undefined, LOST, { ...PLAIN, width }))
        expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });

  it("has at most six kinds, and counts the others", () => {
    const lost = FACT_KINDS.map((kind) => ({ kind, facts: ["a", "b"], mentioned: 0 }));
    const lines = renderLost(undefined, lost, PLAIN);
    expect(lines).toHaveLength(7);
    expect(lines.at(-1)).toBe("    20 facts are hidden: these, and 2 identifiers, 2 URLs, 2 requests, 2 pins.");
  });

  it("says that nothing is hidden, and nothing where there are no facts", () => {
    const counts = { total: 3, visible: 3, summary: 0, pointer: 0, hidden: 0, mentioned_later: 0 };
    expect(renderLost({ facts: { files: counts }, mentioned_later: [] }, [], PLAIN)).toEqual([
      "    3 facts, none of them hidden",
    ]);
    expect(renderLost({ facts: {}, mentioned_later: [] }, [], PLAIN)).toEqual([]);
  });
});

describe("renderAllLost", () => {
  it("names every fact", () => {
    const text = renderAllLost(LOST, { ...PLAIN, width: 80 }).join("\n");
    for (const { facts } of LOST.slice(0, 1)) for (const fact of facts) expect(text).toContain(fact);
    expect(text).toContain("No longer seen: 200 identifiers\n      word0, word1, word2");
    expect(text).toContain("word199");
    expect(text).not.toContain("\u001b");
  });
});

describe("renderLoss", () => {
  it("shows the counts by kind and what later turns still mention", () => {
    const lines = renderLoss(
      {
        facts: {
          files: { total: 1238, visible: 14, by_name: 2, summary: 3, pointer: 0, hidden: 1221, mentioned_later: 25 },
          shas: { total: 2, visible: 2, summary: 0, pointer: 0, hidden: 0, mentioned_later: 0 },
        },
        mentioned_later: [{ kind: "files", text: `src/\u001b[31m${"long".repeat(30)}.ts`, turn: 12 }],
      },
      PLAIN,
    );
    expect(lines.join("\n")).toMatchInlineSnapshot(`
      "    FACTS  TOTAL         VISIBLE  SUMMARY  HIDDEN  MENTIONED LATER
          files  1,238  14 (2 by name)        3   1,221               25
          SHAs       2               2        -       -                -
          VISIBLE: still shown. SUMMARY: in the summary. HIDDEN: not shown, kept by
            jpg. MENTIONED LATER: gone, yet a later turn mentions it.

          Source gone, still mentioned by a later turn:
            files  src/␛[31mlonglonglonglon…glonglonglonglonglong.ts  turn 12
            … 24 more"
    `);
  });

  it("is empty without facts", () => {
    expect(renderLoss({ facts: {}, mentioned_later: [] }, PLAIN)).toEqual([]);
  });
});

// The rows over one invented session, whole: what each does to it, the checks, the figures.
import { describe, expect, it } from "vitest";
import { type Figures, figuresOf, findInsane } from "../../../bench/hindsight/figures.ts";
import { measureHindsight } from "../../../bench/hindsight/hindsight.ts";
import type { Session } from "../../../bench/hindsight/stretch.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { type Said, saidTurns } from "../../helpers/said-events.ts";

/** Twelve turns that read files and answer; what turn 0 read is needed again in the last. */
function inventedSession(): Session {
  const turns = saidTurns(
    ...Array.from({ length: 12 }, (_, turn): readonly Said[] => [
      { user: `Please look after harbour ${turn}.` },
      ...Array.from({ length: 8 }, (__, at): Said => {
        const file_path = `/port/src/harbour-${turn}-${at}.ts`;
        return {
          call: "Read",
          args: { file_path },
          result: `export const pierOf${turn}x${at} = 1;\n${"// a line of prose\n".repeat(80)}`,
        };
      }),
      {
        agent:
          turn < 11 ? `Harbour ${turn} is in order.` : "So pierOf0x0 and pierOf6x7 in /port/src/harbour-0-0.ts agree.",
      },
    ]),
  );
  return { name: "invented", agent: "claude-code", turns, compactions: [] };
}

const result = measureHindsight([inventedSession()]);

function row(name: string): Figures {
  const found = result.rows.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no row ${name}`);
  return found;
}

describe("measureHindsight", () => {
  it("cuts the session twice and knows what was needed", () => {
    expect(result.sessions).toEqual([{ name: "invented", agent: "claude-code", cuts: 2 }]);
    expect(result.facts).toBe(5);
    expect(result.needles).toBe(5);
  });

  it("has rows that count", () => {
    expect(findInsane(result.rows)).toEqual([]);
    expect(row("raw")).toMatchObject({ size: 100, recall: 100, lift: 0, inContext: 100 });
    expect(row("nothing")).toMatchObject({ size: 0, recall: 0, lift: 0, inContext: 0 });
  });

  it("sees that results which are gone took their facts along, and that calls stayed", () => {
    const { size, recall, needleRecall } = row("strip-tool-results");
    expect(size).toBeLessThan(50);
    expect(recall).toBeLessThan(100);
    expect(recall).toBeGreaterThan(0);
    expect(needleRecall).toBe(recall);
    expect(row("strip-attachments")).toMatchObject({ size: 100, recall: 100 });
  });

  it("lets an index earn recall, and nothing in context", () => {
    const [plain, indexed] = [row("default, bare"), row("default")];
    expect(indexed.recall).toBeGreaterThan(plain.recall);
    expect(indexed.inContext).toBe(plain.inContext);
  });

  it("sees that auto shows more than what is newest, and that a summary behind it saves more", () => {
    const [auto, further] = [row("auto, bare"), row("auto, then extract, bare")];
    expect(auto.inContext).toBeGreaterThan(row("keep last 20k").inContext);
    expect(further.size).toBeLessThan(auto.size);
  });

  it("gives the same figures for the same session", { tags: ["slow"] }, () => {
    expect(measureHindsight([inventedSession()])).toEqual(result);
  });

  it("measures nothing of sessions that are too short, and says so", () => {
    const { turns } = inventedSession();
    const short = { ...inventedSession(), turns: turns.slice(0, 2) };
    expect(measureHindsight([short])).toMatchObject({ sessions: [], facts: 0, needles: 0 });
    expect(findInsane(measureHindsight([short]).rows)).not.toEqual([]);
  });

  it("sets the agent's own compaction apart", { tags: ["slow"] }, () => {
    const own = makeCompaction(
      "own",
      [0, 9],
      summaryOf("pierOf0x0 was looked at and found to be in good order.", { inject: "request" }),
    );
    const { cuts, rows } = measureHindsight([{ ...inventedSession(), compactions: [own] }]).own;
    expect(cuts).toBe(1);
    const [agents] = rows.filter(({ group }) => group === "agent");
    expect(agents?.name).toBe("the agent's own");
    expect(agents?.recall).toBeCloseTo(100 / 3, 6);
    expect(agents?.inContext).toBeCloseTo(100 / 3, 6);
    expect(agents?.size).toBeLessThan(1);
  });
});

describe("findInsane", () => {
  const sane = result.rows;
  const spoil = (name: string, change: Partial<Figures>) =>
    sane.map((figures) => (figures.name === name ? { ...figures, ...change } : figures));

  it.each<[string, Partial<Figures>]>([
    ["raw", { recall: 99.9 }],
    ["raw", { needlesInContext: 99 }],
    ["nothing", { inContext: 0.1 }],
    ["auto", { size: 100.1 }],
    ["auto", { size: Number.NaN }],
  ])("finds that %s has %j", (name, change) => {
    expect(findInsane(spoil(name, change))).toEqual([expect.stringContaining(name)]);
  });

  it("finds that a check is missing", () => {
    expect(findInsane([])).toHaveLength(2);
  });
});

describe("figuresOf", () => {
  it("adds counts up before it divides, and tells how far the sessions part", () => {
    const facts = { needed: 10, shown: 10, inContext: 5, random: 4, masked: 3, hidden: 0 };
    const found = { asPhrase: 0, byRarestWord: 0, ranked: 0 };
    const one = { tokens: 10, staleTokens: 5, all: { ...facts, found }, needles: { ...facts, found } };
    const none = { ...one, all: { ...one.all, shown: 4, hidden: 6 } };
    const figures = figuresOf({ name: "x", group: "check" }, [[one], [none, none]], 100);
    expect(figures).toMatchObject({
      size: 30,
      recall: 60,
      lift: 20,
      inContext: 50,
      aboveMasking: 20,
      stale: 50,
      recovery: 0,
    });
    expect(figures.liftSpread).toEqual([0, 60]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitParts, fitWhole } from "../../../src/core/summary/fit-transcript.ts";
import type { PlacedEvent } from "../../../src/core/summary/placed-event.ts";
import { estimateTextTokens } from "../../../src/core/summary/text-tokens.ts";
import { answer, call, request, result } from "../../helpers/sample-view.ts";

/** Turns of so many calls each, with outputs of so many characters. */
function events(turns: readonly number[], size: number): PlacedEvent[] {
  return turns.flatMap((calls, turn) => [
    { turn, event: request(`u${turn}`, `do ${turn}`) },
    ...Array.from({ length: calls }, (_, n) => [
      { turn, event: call(`c${turn}.${n}`, "Bash", { command: "ls" }) },
      { turn, event: result(`r${turn}.${n}`, `c${turn}.${n}`, "x".repeat(size)) },
    ]).flat(),
    { turn, event: answer(`a${turn}`, `did ${turn}`) },
  ]);
}

describe("fitWhole", () => {
  it("shortens outputs only where it must, and gives up where that does not help", () => {
    const all = events([3], 3000);
    expect(fitWhole(all, 5000)?.shortened).toBe(0);
    expect(fitWhole(all, 3000)?.shortened).toBe(3);
    expect(fitWhole(all, 1000)).toBeNull();
  });
});

describe("fitParts", () => {
  it("puts every event in exactly one part, in order, each part within the budget", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(6), { minLength: 1, maxLength: 8 }),
        fc.nat(4000),
        fc.integer({ min: 1000, max: 9000 }),
        (turns, size, budget) => {
          const all = events(turns, size);
          const parts = fitParts(all, budget);
          expect(parts.flatMap((part) => part.events)).toEqual(all);
          for (const { transcript } of parts) expect(estimateTextTokens(transcript.text)).toBeLessThanOrEqual(budget);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("shortens a single message that is too long by itself", () => {
    const [part, ...more] = fitParts([{ turn: 0, event: request("u", "long ".repeat(50_000)) }], 1000);
    expect(more).toEqual([]);
    expect(part?.transcript.shortened).toBe(1);
    expect(estimateTextTokens(part?.transcript.text ?? "")).toBeLessThanOrEqual(1000);
  });
});

describe("estimateTextTokens", () => {
  it("counts scripts with a token a character as such", () => {
    expect(estimateTextTokens("a".repeat(27))).toBe(10);
    expect(estimateTextTokens("漢".repeat(10))).toBe(10);
  });
});

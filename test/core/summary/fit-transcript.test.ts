// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitParts, fitWhole, type PlacedEvent, renderTranscript } from "../../../src/core/compact/transcript.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { estimateTextTokens } from "../../../src/core/conversation/text-tokens.ts";
import { runs } from "../../helpers/runs.ts";
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
  it("leaves nothing out where all fits", () => {
    const all = [
      { turn: 0, event: request("u", "u".repeat(50_000)) },
      { turn: 0, event: result("r", "x", "r".repeat(90_000)) },
    ];
    const whole = renderTranscript(all, { output: 1_000_000, speech: 1_000_000 });
    expect(fitWhole(all, estimateTextTokens(whole.text))).toEqual(whole);
    expect(whole.cut).toEqual({ texts: 0, chars: 0 });
  });

  it("shortens the longest outputs first, no more than it must, and gives up where that does not help", () => {
    const all = [...events([3], 3000), { turn: 0, event: result("long", "x", "l".repeat(60_000)) }];
    const fit = fitWhole(all, 15_000);
    expect(fit?.cut.texts).toBe(1);
    expect(fit?.text).toContain("x".repeat(3000));
    const tokens = estimateTextTokens(fit?.text ?? "");
    expect(tokens).toBeLessThanOrEqual(15_000);
    expect(tokens).toBeGreaterThan(14_800);
    expect(fitWhole(all, 1000)).toBeNull();
  });

  it("shortens what is said only when outputs are as short as can be", () => {
    const all = [
      { turn: 3, event: request("u", "u".repeat(50_000)) },
      { turn: 3, event: result("r", "x", "r".repeat(5000)) },
    ];
    const outputs = renderTranscript(all, { output: 2000, speech: 1_000_000 });
    expect(fitWhole(all, estimateTextTokens(outputs.text))?.text).toContain("u".repeat(50_000));
    const both = fitWhole(all, estimateTextTokens(outputs.text) - 1000);
    expect(both?.cut.texts).toBe(2);
    const least = renderTranscript(all, { output: 2000, speech: 20_000 });
    expect(fitWhole(all, estimateTextTokens(least.text))).toEqual(least);
    expect(fitWhole(all, estimateTextTokens(least.text) - 1)).toBeNull();
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
      { numRuns: runs(50) },
    );
  });

  it("shortens a single message that is too long by itself", () => {
    const [part, ...more] = fitParts([{ turn: 0, event: request("u", "long ".repeat(50_000)) }], 1000);
    expect(more).toEqual([]);
    expect(part?.transcript.cut.texts).toBe(1);
    expect(estimateTextTokens(part?.transcript.text ?? "")).toBeLessThanOrEqual(1000);
  });
});

describe("fitParts, where", () => {
  const long = { turn: 0, event: request("u", "u".repeat(30_000)) };
  const output = { turn: 0, event: result("r", "x", "r".repeat(30_000)) };

  it.each([
    ["speech is whole", long, { output: 2000, speech: 30_000 }],
    ["speech is halved", long, { output: 2000, speech: 10_000 }],
    ["speech is halved again", long, { output: 2000, speech: 5000 }],
    ["speech is as short as can be", long, { output: 200, speech: 200 }],
    ["outputs are whole", output, { output: 30_000, speech: 20_000 }],
    ["outputs are as short as they become before words", output, { output: 2000, speech: 20_000 }],
    ["outputs are as short as speech", output, { output: 1250, speech: 1250 }],
    ["outputs are as short as can be", output, { output: 200, speech: 200 }],
  ])("%s, takes the first length that fits exactly", (_, event, limits) => {
    const transcript = renderTranscript([event], limits);
    expect(fitParts([event], estimateTextTokens(transcript.text))).toEqual([{ events: [event], transcript }]);
  });

  it("nothing fits, gives the shortest text", () => {
    const transcript = renderTranscript([long], { output: 200, speech: 200 });
    expect(fitParts([long], 0)).toEqual([{ events: [long], transcript }]);
  });

  it("there is nothing, makes no part", () => {
    expect(fitParts([], 1000)).toEqual([]);
  });

  it("a turn is too long by itself, cuts it where a message ends", () => {
    const place = (turn: number, event: Event): PlacedEvent => ({ turn, event });
    const all = [
      place(4, request("a", "a".repeat(100))),
      place(5, request("b", "b".repeat(600))),
      place(5, answer("c", "c".repeat(600))),
      place(5, answer("d", "d".repeat(600))),
      place(6, request("e", "e".repeat(600))),
      place(6, answer("f", "f".repeat(100))),
    ];
    const ids = (budget: number): string[] =>
      fitParts(all, budget).map(({ events: part }) => part.map(({ event }) => event.id).join(""));
    expect(ids(100_000)).toEqual(["abcdef"]);
    expect(ids(800)).toEqual(["abcd", "ef"]);
    expect(ids(600)).toEqual(["abc", "def"]);
    expect(ids(300)).toEqual(["ab", "c", "d", "ef"]);
    expect(ids(0)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });
});

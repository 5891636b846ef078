import { describe, expect, it } from "vitest";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { listNeededFacts } from "../../../bench/hindsight/needed-facts.ts";
import { type Recovery, searchFacts } from "../../../bench/hindsight/recovery.ts";
import { indexWords } from "../../../bench/hindsight/word-index.ts";
import { type Said, saidEvents } from "../../helpers/said-events.ts";

const reader = createFactReader();

function recover(past: readonly Said[], future: readonly Said[]): readonly Partial<Recovery>[] {
  const cut = { past: saidEvents(past, "p"), future: saidEvents(future, "f") };
  return searchFacts(cut, listNeededFacts(cut, reader), reader);
}

const noise: Said[] = Array.from({ length: 8 }, (_, at) => ({ agent: `the harbour is calm, note ${at}` }));

describe("searchFacts", () => {
  it("finds a source by the rarest word around the later use", () => {
    const past: Said[] = [...noise, { agent: "the lighthouse keeper uses lampWick there" }];
    const [found] = recover(past, [{ agent: "for the harbour, the lighthouse keeper wants: lampWick" }]);
    expect(found).toMatchObject({ asPhrase: false, byRarestWord: true });
    expect(found?.rank?.(() => 1, 5)[0]).toBe(8);
  });

  it("finds it by the phrase where the words before it stand there as they are", () => {
    const past: Said[] = [...noise, { agent: "the lighthouse keeper uses lampWick there" }];
    expect(recover(past, [{ agent: "the lighthouse keeper uses lampWick" }])[0]?.asPhrase).toBe(true);
  });

  it("does not search for the fact itself", () => {
    const past: Said[] = [...noise, { agent: "lampWick" }];
    const [found] = recover(past, [{ agent: "lampWick is calm, the harbour lampWick" }]);
    expect(found).toMatchObject({ asPhrase: false, byRarestWord: false });
    expect(found?.rank?.(() => 1, 50)).not.toContain(8);
  });

  it("takes today's hits in the order of the conversation: the sixth is not seen", () => {
    const past: Said[] = [...noise, { agent: "the harbour is calm by lampWick" }];
    const [found] = recover(past, [{ agent: "harbour: lampWick" }]);
    expect(found?.byRarestWord).toBe(false);
  });

  it("has words also for a use that stands alone in a call: what the agent said before it", () => {
    const past: Said[] = [...noise, { call: "Read", args: { path: "src/wick.ts" }, result: "lighthouse lamp" }];
    const future: Said[] = [
      { agent: "Now the lighthouse." },
      { call: "Read", args: { path: "src/wick.ts" }, result: "" },
    ];
    expect(recover(past, future)[0]?.byRarestWord).toBe(false);
    expect(recover([...noise, { agent: "lighthouse: src/wick.ts" }], future)[0]?.byRarestWord).toBe(true);
  });
});

describe("indexWords", () => {
  const index = indexWords(["the quick fox", "the slow fox sleeps", "a Fox", "nothing"]);

  it("finds texts literally, case ignored, in their order", () => {
    expect(index.literal("FOX", 5)).toEqual([0, 1, 2]);
    expect(index.literal("fox", 2)).toEqual([0, 1]);
    expect(index.literal("ick f", 5)).toEqual([0]);
    expect(index.literal("wolf", 5)).toEqual([]);
  });

  it("ranks rare words above common ones, and short texts above long ones", () => {
    const ranked = (words: readonly string[], most: number) => index.rankFor(words)(() => 1, most);
    expect(ranked(["fox", "sleeps"], 2)).toEqual([1, 2]);
    expect(ranked(["wolf"], 5)).toEqual([]);
    expect(ranked([], 5)).toEqual([]);
  });

  it("counts the texts that hold a word", () => {
    expect([index.frequency("fox"), index.frequency("the"), index.frequency("ick")]).toEqual([3, 2, 0]);
  });
});

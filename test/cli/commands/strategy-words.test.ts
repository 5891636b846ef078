// @module-tag law
// Settings of strategies: what is written behind a name says the same as the older options, which go on working.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { command } from "../../../src/cli/commands/compact.ts";
import { readStrategies, readStrategyWords, readTurns } from "../../../src/cli/commands/compact-options.ts";
import type { CommandContext } from "../../../src/cli/frame/command.ts";
import { parseArguments } from "../../../src/cli/parse-arguments.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES } from "../../../src/core/compact/strategies/strategy-names.ts";
import { parseStrategyWord } from "../../../src/core/compact/strategies/strategy-words.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { runs } from "../../helpers/runs.ts";

/** What a line chooses: the steps with what each reads, and the sizes that count for all of them. */
async function choiceOf(words: readonly string[]): Promise<unknown> {
  const { options } = parseArguments(command, words);
  const call = readStrategyWords({ options } as CommandContext);
  const { leavesTangents, chosen } = await readStrategies(call, {} as Parameters<typeof readStrategies>[1]);
  const { uses = [], ...sizes } = chosen ?? {};
  const steps = uses.map(({ strategy, options: read, isWanted }) => ({
    name: strategy.name,
    reads: (strategy.takes ?? []).map((option) => read[option]),
    whenOver:
      isWanted === undefined
        ? null
        : [1, 1e4, 6e4, 2e5].map((size) => isWanted({ viewTokens: size, windowTokens: 2e5 })),
  }));
  const { protect, minGain, target } = call.context.options;
  return { leavesTangents, steps, sizes, range: protect, minGain, target, tangents: readTurns(call.context) };
}

const errorOf = async (...words: readonly string[]): Promise<JpgError> =>
  choiceOf(words).then(
    () => expect.unreachable("nothing was thrown"),
    (error: unknown) => (error instanceof JpgError ? error : expect.unreachable(String(error))),
  );

/** Older options, with the strategies that read them. */
const READ_BY: Readonly<Record<string, readonly string[]>> = {
  "max-chars": ["auto", "tiered", "truncate-results", "supersede"],
  head: ["tiered", "truncate-results"],
  newest: ["mask-results"],
  target: ["tiered"],
  protect: ["auto", "tiered", "mask-results"],
  "min-gain": ["auto", "mask-results"],
};
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "max-chars": ["1", "500", "2000"],
  head: ["0", "0.7", "1"],
  newest: ["0", "12"],
  target: ["60k", "0.25", "40%"],
  protect: ["0", "5000"],
  "min-gain": ["0", "1000"],
};

describe("settings behind the name of a strategy", () => {
  const strategies = fc.subarray(["truncate-results", "supersede", "mask-results", "strip-reasoning"]);
  const call = fc
    .record({ pipeline: fc.constantFrom("auto", "tiered", null), others: strategies })
    .map(({ pipeline, others }) => [...(pipeline === null ? [] : [pipeline]), ...others])
    .filter((names) => names.length > 0);

  it("choose the same as the older options do, on every strategy that reads them", async () => {
    await fc.assert(
      fc.asyncProperty(call, fc.infiniteStream(fc.nat()), async (names, draws) => {
        const next = (): number => draws.next().value as number;
        const given = Object.keys(READ_BY).flatMap((option) => {
          const values = VALUES[option] ?? [];
          const isRead = names.some((name) => READ_BY[option]?.includes(name));
          return isRead && next() % 2 === 0 ? [[option, values[next() % values.length] ?? ""] as const] : [];
        });
        const older = [
          ...names.flatMap((name) => ["-s", name]),
          ...given.flatMap(([option, value]) => [`--${option}`, value]),
        ];
        const newer = names.flatMap((name) => {
          const own = given
            .filter(([option]) => READ_BY[option]?.includes(name))
            .map(([option, value]) => `${option}=${value}`);
          return ["-s", own.length === 0 ? name : `${name}:${own.join(",")}`];
        });
        expect(await choiceOf(newer)).toEqual(await choiceOf(older));
      }),
      { numRuns: runs(200) },
    );
  });

  it("count for that strategy alone, before what counts for all", async () => {
    const steps = async (...words: string[]) =>
      ((await choiceOf(words)) as { steps: { name: string; reads: unknown[] }[] }).steps;
    expect(await steps("-s", "truncate:max-chars=100", "-s", "supersede", "--max-chars", "9")).toEqual([
      expect.objectContaining({ name: "truncate-results", reads: [100, undefined] }),
      expect.objectContaining({ name: "supersede", reads: [9] }),
    ]);
  });

  it("are said once, by a strategy that reads them, with a value that it takes", async () => {
    for (const word of [
      "dedup:head=1",
      "truncate:tail=1",
      "truncate:",
      "truncate:head",
      "truncate:head=",
      "truncate:head=1,head=1",
    ])
      expect(await errorOf("-s", word), word).toMatchObject({ kind: "user", code: "bad_option" });
    for (const word of [
      "truncate:head=2",
      "truncate:head=x",
      "truncate:max-chars=0",
      "mask:newest=-1",
      "mask:newest=0.5",
    ])
      expect(await errorOf("-s", word), word).toMatchObject({ code: "bad_option" });
    expect((await errorOf("-s", "truncate:haed=1")).hints[0]).toBe("Did you mean truncate-results:head=…?");
    expect(await errorOf("-s", "auto:protect=x")).toMatchObject({ code: "bad_number" });
    expect(await errorOf("-s", "auto:protect=1", "--protect", "2")).toMatchObject({ code: "contradictory_flags" });
    expect(await errorOf("-s", "tiered:target=x")).toMatchObject({ code: "bad_target" });
  });
});

describe("a name of a strategy", () => {
  const NAMES: readonly string[] = [...PIPELINE_NAMES, ...STRATEGY_NAMES];

  it("may be cut to what begins no other", () => {
    const cut = fc
      .constantFrom(...NAMES)
      .chain((name) => fc.tuple(fc.constant(name), fc.integer({ min: 1, max: name.length })));
    fc.assert(
      fc.property(cut, ([name, length]) => {
        const word = name.slice(0, length);
        const begun = NAMES.filter((other) => other.startsWith(word));
        if (NAMES.includes(word) || begun.length === 1)
          expect(parseStrategyWord(word).name).toBe(NAMES.includes(word) ? word : name);
        else expect(() => parseStrategyWord(word)).toThrow(/begins several strategies/);
      }),
      { numRuns: runs(200) },
    );
  });

  it("that is none is left to the error that lists all", async () => {
    expect(await errorOf("-s", "zzz")).toMatchObject({ code: "unknown_strategy" });
    expect(await errorOf("-s", "strip")).toMatchObject({ code: "ambiguous_strategy" });
    expect(parseStrategyWord("")).toMatchObject({ name: "" });
  });
});

describe("--tangents", () => {
  it("says what --turns said, and needs no strategy beside it", async () => {
    const older = await choiceOf(["-s", "classify-tangents", "--turns", "3,5-7"]);
    for (const words of [
      ["--tangents", "3,5-7"],
      ["--tangents", "3,5..7"],
      ["-s", "classify", "--tangents", "3,5-7"],
    ])
      expect(await choiceOf(words)).toEqual(older);
    expect(await errorOf("--turns", "3")).toMatchObject({ code: "unused_option" });
    expect(await errorOf("--turns", "3", "--tangents", "3")).toMatchObject({ code: "contradictory_flags" });
  });
});

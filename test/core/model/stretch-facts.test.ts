// @module-tag law
// @module-tag law
// Facts of turns taken together count a conversation as the facts of each turn do, wherever it is cut.

import fc from "fast-check";
import { expect, it } from "vitest";
import { recordedRequests, requestSizes } from "../../../src/core/model/calibration.ts";
import { joinFacts } from "../../../src/core/model/stretch-facts.ts";
import { createFactsMeter } from "../../../src/core/model/token-meter.ts";
import { type AnswerFacts, countTurns, type TurnFacts, tokensByTurn } from "../../../src/core/model/usage.ts";
import { runs } from "../../helpers/runs.ts";

const MODELS = ["claude-opus-4-5", "claude-opus-4-5[1m]", "gpt-5"] as const;

/** What is drawn of an answer: few messages, so that they often go on; usage or none. */
interface DrawnAnswer {
  readonly message: string | null;
  readonly length: number;
  readonly isCounted: boolean;
  readonly model: string | undefined;
}
interface DrawnTurn {
  readonly asked: number;
  readonly answers: readonly DrawnAnswer[];
}

const drawnTurns: fc.Arbitrary<readonly DrawnTurn[]> = fc.array(
  fc.record({
    asked: fc.integer({ min: 1, max: 500 }),
    answers: fc.uniqueArray(
      fc.record({
        message: fc.constantFrom("a", "b", "c", null),
        length: fc.integer({ min: 1, max: 900 }),
        isCounted: fc.boolean(),
        model: fc.constantFrom(...MODELS, undefined),
      }),
      { maxLength: 3, selector: ({ message }) => message ?? "none" },
    ),
  }),
  { minLength: 1, maxLength: 30 },
);

/** Facts as `turnFacts` gives them: positions and times rise, requests grow with what was said. */
function factsOf(drawn: readonly DrawnTurn[]): readonly TurnFacts[] {
  let said = 0;
  return drawn.map(({ asked, answers }, index) => {
    let tokens = asked;
    const facts = answers.map(({ message, length, isCounted, model }): AnswerFacts => {
      const before = tokens;
      tokens += length;
      return {
        message,
        before,
        through: tokens,
        usage: isCounted ? { input: 1000 + said + before, cacheRead: 7, cacheWrite: 0, output: length } : null,
        time: new Date(Date.UTC(2026, 0, 1) + index * 1000 + before).toISOString(),
        ...(model === undefined ? {} : { model }),
      };
    });
    said += tokens;
    const kinds = {
      requests: asked,
      messages: tokens - asked,
      reasoning: 0,
      tool_calls: 0,
      tool_results: 0,
      harness: 0,
    };
    const model = answers.findLast((answer) => answer.model !== undefined)?.model ?? null;
    const counts = { events: 1 + answers.length, messages: 1, tools: [] };
    return { index, ...counts, tokens, kinds, answers: facts, model, previous: `o${index - 1}` };
  });
}

/** Some of the stretches between the cuts, others as they are; as they come back from a file. */
function joinBetween(facts: readonly TurnFacts[], cuts: readonly number[]): readonly TurnFacts[] {
  const bounds = [...new Set([0, ...cuts.map((cut) => cut % facts.length), facts.length])].sort((a, b) => a - b);
  return bounds.slice(1).flatMap((to, at) => {
    const own = facts.slice(bounds[at], to);
    return at % 3 === 2 ? own : [JSON.parse(JSON.stringify(joinFacts(own, false))) as TurnFacts];
  });
}

/** All that counting says. */
function said(facts: readonly TurnFacts[]): unknown {
  const meter = createFactsMeter({ facts, turns: new Map() });
  const requests = recordedRequests(facts);
  return {
    sizes: requestSizes(requests, facts),
    requests: requests.map(({ usage, model, before, turn }) => ({ usage, model, before, turn })),
    newest: requests.at(-1)?.answer,
    calibration: meter.calibration,
    factor: meter.factor,
    overhead: meter.overhead,
    history: meter.countHistory(),
    kinds: meter.countHistoryByKind(),
    windows: MODELS.map((model) => meter.windowOf(model)),
    tokens: tokensByTurn(facts),
    turns: facts.reduce((sum, one) => sum + countTurns(one), 0),
    events: facts.reduce((sum, { events }) => sum + events, 0),
  };
}

it("count the same as those of each turn, wherever they are cut", () => {
  fc.assert(
    fc.property(drawnTurns, fc.array(fc.nat({ max: 40 }), { maxLength: 6 }), (drawn, cuts) => {
      const facts = factsOf(drawn);
      expect(said(joinBetween(facts, cuts))).toEqual(said(facts));
    }),
    { numRuns: runs(500) },
  );
});

it("keep of answers inside only what calibrating needs, and say when a turn was said elsewhere", () => {
  const answer = { message: "m", length: 10, isCounted: true, model: "gpt-5" };
  const facts = factsOf(
    Array.from({ length: 100 }, (_, at) => ({ asked: 5, answers: [{ ...answer, message: `m${at}` }] })),
  );
  const { answers, stretch } = joinFacts(facts, true);
  expect(answers.map(({ message }) => message)).toEqual(["m0", "m99"]);
  expect(stretch?.inner.models).toEqual([["gpt-5", 98]]);
  expect(stretch?.isSpliced).toBe(true);
});

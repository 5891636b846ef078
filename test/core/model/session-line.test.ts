// @module-tag law
// The law of sizes: whatever is compacted, reverted, forked or came in compacted, the size of a view follows its text. A session
// is drawn with its agent's own compactions, and each of its requests has the usage of what that agent sent then.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateView } from "../../../src/core/conversation/token-estimate.ts";
import { dateCompaction, randomCompaction } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

interface Session {
  readonly overhead: number;
  readonly factor: number;
  readonly turns: readonly Turn[];
  /** The agent's own, oldest first; each with the turn that was the newest when it was made. */
  readonly agents: readonly { readonly compaction: Compaction; readonly madeAt: number }[];
}

interface DrawnTurn {
  readonly asked: number;
  readonly results: readonly number[];
  readonly reasoned: number;
  /** The agent compacts before this turn, and from then on sends that many tokens more which its session does not hold. */
  readonly unseen: number | null;
}

const drawnTurn: fc.Arbitrary<DrawnTurn> = fc.record({
  asked: fc.integer({ min: 20, max: 8000 }),
  results: fc.array(fc.integer({ min: 100, max: 60_000 }), { maxLength: 3 }),
  reasoned: fc.integer({ min: 0, max: 4000 }),
  unseen: fc.option(fc.integer({ min: 0, max: 15_000 }), { nil: null, freq: 3 }),
});

const session: fc.Arbitrary<Session> = fc
  .record({
    overhead: fc.integer({ min: 12_000, max: 60_000 }),
    factor: fc.double({ min: 0.8, max: 1.7, noNaN: true }),
    drawn: fc.array(drawnTurn, { minLength: 1, maxLength: 14 }),
  })
  .map(({ overhead, factor, drawn }) => play(overhead, factor, drawn));

/** Plays a session through its agent: each answer gets the usage of the view that its request was sent with. */
function play(overhead: number, factor: number, drawn: readonly DrawnTurn[]): Session {
  const turns: Turn[] = [];
  const agents: Session["agents"][number][] = [];
  let unseen = 0;
  const sizeOf = (compactions: readonly Compaction[], beside: number): number =>
    Math.round(overhead + beside + factor * estimateView(projectTurns(turns, compactions)));
  const own = (): Compaction[] => agents.map(({ compaction }) => compaction);
  for (const [index, { asked, results, reasoned, unseen: extra }] of drawn.entries()) {
    const time = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, index, second)).toISOString();
    const compaction = agentCompaction(index, time(0));
    // An agent compacts a context that holds something, where that frees a good part of it.
    const now = sizeOf(own(), unseen);
    if (extra !== null && now > overhead + 10_000 && sizeOf([...own(), compaction], extra) < 0.8 * now) {
      agents.push({ compaction, madeAt: index - 1 });
      unseen = extra;
    }
    const events: Event[] = [{ type: "turn_start", id: `t${index}`, timestamp: time(0) }];
    turns.push({ index, events });
    events.push({ type: "chat_request", id: `q${index}`, timestamp: time(1), content: "x".repeat(asked) });
    for (let step = 0; step <= results.length; step += 1) {
      const usage = { input_tokens: sizeOf(own(), unseen), output_tokens: Math.round(factor * (reasoned / 4 + 10)) };
      const metadata = { model: "claude-x", message_id: `m${index}.${step}`, usage };
      const at = time(2 + 2 * step);
      const reasoning: Event = {
        type: "chat_response",
        id: `r${index}.${step}`,
        timestamp: at,
        reasoning: "r".repeat(reasoned),
        metadata,
      };
      events.push(reasoning);
      const length = results[step];
      if (length === undefined) {
        events.push({ type: "chat_response", id: `a${index}`, timestamp: at, message: "y".repeat(40), metadata });
        continue;
      }
      const call_id = `c${index}.${step}`;
      const call = { type: "tool_call_request", name: "fs_read", arguments: { path: "src/a.ts" }, metadata } as const;
      events.push({ ...call, id: `k${index}.${step}`, timestamp: at, call_id });
      const result = { type: "tool_call_response", call_id, content: "z".repeat(length), is_error: false } as const;
      events.push({ ...result, id: `s${index}.${step}`, timestamp: time(3 + 2 * step) });
    }
  }
  return { overhead, factor, turns, agents };
}

function agentCompaction(before: number, timestamp: string): Compaction {
  return {
    type: "compaction",
    id: `own${before}`,
    timestamp,
    from_turn: 0,
    to_turn: before - 1,
    source: "import",
    summary: { summary: "They talked. ".repeat(40), source: "imported", inject: "request" },
  };
}

/** A session, how much of it a fork has, and stacks of compactions over that fork: some of the agent's, some made since. */
const forked = session.chain((made) =>
  fc
    .record({
      turnCount: fc.integer({ min: 1, max: made.turns.length }),
      reverted: fc.array(fc.subarray([...made.agents]), { minLength: 1, maxLength: 3 }),
      mine: fc.array(randomCompaction(made.turns), { maxLength: 3 }),
    })
    .map(({ turnCount, reverted, mine }) => {
      const turns = made.turns.slice(0, turnCount);
      const own = mine.map((fields, at) => dateCompaction(fields, `k${at}`, at));
      const agents = made.agents.filter(({ madeAt }) => madeAt < turnCount);
      const stacks = reverted.flatMap((gone) => {
        const left = agents.filter((agent) => !gone.includes(agent)).map(({ compaction }) => compaction);
        return [left, [...left, ...own]];
      });
      return { ...made, turns, stacks: [[], agents.map(({ compaction }) => compaction), ...stacks] };
    }),
);

describe("the size of a view", () => {
  it("is within 15 % of the overhead and its text by one factor, whatever is live and whatever was", {
    tags: ["slow"],
  }, () => {
    fc.assert(
      fc.property(forked, ({ overhead, factor, turns, stacks }) => {
        const meter = createTokenMeter(turns);
        for (const live of stacks) {
          const view = projectTurns(turns, live);
          const right = overhead + factor * estimateView(view);
          const { tokens } = meter.countView(view, live);
          expect(Math.abs(tokens - right) / right, `${tokens} for ${right}`).toBeLessThanOrEqual(0.15);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("never falls when the view only grows", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(forked, ({ turns, stacks }) => {
        const meter = createTokenMeter(turns);
        const sizes = stacks
          .map((live) => ({ live, view: projectTurns(turns, live) }))
          .map(({ live, view }) => ({ text: estimateView(view), tokens: meter.countView(view, live).tokens }))
          .sort((a, b) => a.text - b.text || a.tokens - b.tokens);
        for (const [at, { tokens }] of sizes.entries())
          expect(tokens).toBeGreaterThanOrEqual(sizes[at - 1]?.tokens ?? 0);
      }),
      { numRuns: runs(200) },
    );
  });
});

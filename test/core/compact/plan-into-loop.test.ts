// @module-tag law
// Batches that reach into a tool loop which is not finished: what they may touch there, and that the provider still takes it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlanInput } from "../../../src/core/compact/plan.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { isNothing } from "../../../src/core/conversation/bound-resolution.ts";
import { type Event, isReasoning, type Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { unfinishedLoop } from "../../../src/core/conversation/tool-pairing.ts";
import { checkAnthropic } from "../../../src/core/model/anthropic-rules.ts";
import { toAnthropicThread } from "../../../src/core/model/anthropic-thread.ts";
import { askStrategies } from "../../helpers/call-conversation.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { runs } from "../../helpers/runs.ts";

/** A finished turn, then a loop of steps of signed reasoning, a call and its result: `calls` of them, each of some tokens. */
function loopOf(sizes: readonly number[]): readonly Turn[] {
  const notation = `U R T t A | U ${sizes.map(() => "R T t").join(" ")}`;
  return parseConversation(notation).map((turn) => {
    let step = 0;
    const events = turn.events.map((event): Event => {
      if (isReasoning(event)) step += 1;
      const metadata = { message_id: `m${turn.index}.${step}` };
      if (isReasoning(event)) return { ...event, metadata: { ...metadata, signature: `signed-${event.id}` } };
      if (event.type === "tool_call_request") return { ...event, metadata };
      if (event.type === "tool_call_response") return { ...event, content: "x ".repeat(sizes[step - 1] ?? 30) };
      return event;
    });
    return { ...turn, events };
  });
}

function planFor(
  turns: readonly Turn[],
  names: readonly string[],
  { windowTokens = 2000, ...range }: PlanInput["range"] & { readonly windowTokens?: number },
) {
  const strategies = choosePipelines(names, names.includes("mask-results") ? { newest: 1 } : {});
  return askStrategies(turns, [], { request: { range, strategies }, known: { hints: {}, windowTokens } });
}

function viewAfter(turns: readonly Turn[], plan: ReturnType<typeof planFor>) {
  if (isNothing(plan)) return projectTurns(turns, []);
  return projectTurns(turns, [{ ...plan.compaction, id: "new", timestamp: "2026-04-01T00:00:00Z" }]);
}

describe("auto in an unfinished loop", () => {
  const turns = loopOf([200, 200, 200, 200]);

  it("leaves the reasoning of the loop where it is, with the calls that it led to", () => {
    const shown = viewAfter(turns, planFor(turns, ["auto"], { keep: 0, protectTokens: 100 })).turns.flatMap(
      ({ events }) => events,
    );
    const results = shown.flatMap((event) =>
      event.type === "tool_call_response" ? [String(event.content).slice(0, 11)] : [],
    );
    // The call of the finished turn is gone. A tenth of the window stays whole, as much before it is shortened.
    expect(results).toEqual(["[compacted]", "[compacted]", "x x x x x x", "x x x x x x"]);
    expect(shown.filter((event) => isReasoning(event)).map(({ id }) => id)).toEqual(["e1.2", "e1.5", "e1.8", "e1.11"]);
  });

  it("ends before the loop where the end of the range is not named", () => {
    const plan = planFor(turns, ["auto"], { keepLast: 0, protectTokens: 150 });
    expect(isNothing(plan) ? null : plan.compaction.to_turn).toBe(1);
    expect(isNothing(plan) ? null : plan.compaction.to_event).toBe("e1.1");
  });

  it("leaves out no call after its reasoning, even if no reasoning is stripped", () => {
    const plan = planFor(turns, ["fade-tools"], { keep: 0, protectTokens: 100 });
    const calls = viewAfter(turns, plan).turns.flatMap(({ events }) =>
      events.filter((event) => event.type === "tool_call_request"),
    );
    expect(calls.map(({ id }) => id)).toEqual(["e1.3", "e1.6", "e1.9", "e1.12"]);
  });

  it("names no reasoning where none is stripped and no call left out", () => {
    const plan = planFor(turns, ["mask-results"], { keep: 0, protectTokens: 100 });
    expect(isNothing(plan) ? null : plan.compaction.keep).toBeUndefined();
  });

  it("is taken by the provider with thinking on, whatever the sizes", () => {
    const random = fc.record({
      sizes: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
      protectTokens: fc.integer({ min: 1, max: 500 }),
      windowTokens: fc.integer({ min: 100, max: 5000 }),
    });
    fc.assert(
      fc.property(random, ({ sizes, ...range }) => {
        const loop = loopOf(sizes);
        const view = viewAfter(loop, planFor(loop, ["auto", "supersede"], { keep: 0, ...range }));
        const messages = toAnthropicThread(view).messages.map(({ role, blocks }) => ({
          role,
          content: blocks.map(({ block }) => block),
        }));
        expect(checkAnthropic(messages, { thinking: true }).filter(({ severity }) => severity === "error")).toEqual([]);
        const events = loop[1]?.events ?? [];
        const wanted = events.slice(unfinishedLoop(events) ?? 0).filter((event) => isReasoning(event));
        const shown = new Set(view.turns.flatMap((turn) => turn.events));
        expect(wanted.every((event) => shown.has(event))).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});

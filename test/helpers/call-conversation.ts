// Conversations made of tool calls, and what a plan by strategies makes of each call, in a word for each half.

import { type CompactionPlan, type PlanInput, planCompaction } from "../../src/core/compact/plan.ts";
import type { StrategyOptions } from "../../src/core/compact/strategies/strategy.ts";
import { chooseStrategies } from "../../src/core/compact/strategies/strategy-list.ts";
import type { StrategyFacts } from "../../src/core/compact/strategies/strategy-names.ts";
import { listToolCalls } from "../../src/core/compact/tool-call.ts";
import { isNothing } from "../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { requestFor } from "./plan-request.ts";

/** One call: the tool, its arguments, its result (null = none came) and whether it failed. */
export interface CallSpec {
  readonly name: string;
  readonly args: unknown;
  readonly result: string | null;
  readonly isError: boolean;
}

export function call(name: string, args: unknown, result: string | null = `result of ${name}`): CallSpec {
  return { name, args, result, isError: false };
}

export function failed(name: string, args: unknown): CallSpec {
  return { name, args, result: "no such file", isError: true };
}

/**
 * One turn for each list of calls: request `u0`, calls `c0.0`, `c0.1` … with results `r0.0` …, answer `a0`. Call ids repeat
 * in every turn.
 */
export function callTurns(...turns: readonly (readonly CallSpec[])[]): readonly Turn[] {
  return turns.map((calls, index) => {
    const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, index, 0, second)).toISOString();
    const events: Event[] = [
      { type: "turn_start", id: `s${index}`, timestamp: at(0) },
      { type: "chat_request", id: `u${index}`, timestamp: at(1), content: `do task ${index}` },
    ];
    for (const [n, { name, args, result, isError }] of calls.entries()) {
      const place = `${index}.${n}`;
      const common = { timestamp: at(2 + n), call_id: `k${n}` };
      events.push({ type: "tool_call_request", id: `c${place}`, ...common, name, arguments: args });
      if (result !== null)
        events.push({ type: "tool_call_response", id: `r${place}`, ...common, content: result, is_error: isError });
    }
    events.push({ type: "chat_response", id: `a${index}`, timestamp: at(59), message: "done" });
    return { index, events };
  });
}

/** What a test says beside the names of strategies. */
export interface AskOptions {
  readonly options?: StrategyOptions;
  readonly request?: Partial<PlanInput>;
  readonly known?: StrategyFacts & Pick<PlanInput, "hints">;
}

/** Plans a compaction of all turns by strategies. */
export function askStrategies(
  turns: readonly Turn[],
  names: readonly string[],
  { options = {}, request = {}, known = {} }: AskOptions = {},
): ReturnType<typeof planCompaction> {
  const strategies = request.strategies ?? { uses: chooseStrategies(names, options), names };
  const { hints, ...facts } = known;
  const asked = { ...(hints === undefined ? {} : { hints }), strategyFacts: facts };
  return planCompaction(requestFor(turns, { policies: {}, ...request, ...asked, strategies }));
}

/** The same, when something must come of it. */
export function planStrategiesFor(
  turns: readonly Turn[],
  names: readonly string[],
  more: AskOptions = {},
): CompactionPlan {
  const plan = askStrategies(turns, names, more);
  if (isNothing(plan)) throw new Error(`nothing planned: ${plan.nothing}`);
  return plan;
}

/** A plan as it would be stored, newer than those with an earlier `day`. */
export function storedOf({ compaction }: CompactionPlan, id = "new", day = 20): Compaction {
  return { ...compaction, id, timestamp: `2026-03-${day}T00:00:00Z` };
}

/** What compactions make of the calls they change, by id of the request: `omitted`, or a word for each half. */
export function fates(turns: readonly Turn[], compactions: readonly Compaction[]): Record<string, string> {
  const view = projectTurns(turns, compactions);
  const shown = new Map(view.turns.flatMap(({ events }) => events.map((event) => [event.id, event])));
  const word = (event: Event | null): string => {
    if (event === null) return "none";
    const now = shown.get(event.id);
    if (now === event) return "kept";
    if (now === undefined) return "gone";
    if (now.type === "tool_call_request") return Object.keys(now.arguments as object).length === 0 ? "stripped" : "cut";
    return now.type === "tool_call_response" && String(now.content).startsWith("[compacted]") ? "stripped" : "cut";
  };
  return Object.fromEntries(
    listToolCalls(turns).flatMap(({ request, response }): [string, string][] => {
      const halves = [word(request), word(response)];
      if (halves.every((half) => half === "kept" || half === "none")) return [];
      return [[request.id, halves[0] === "gone" && halves[1] !== "kept" ? "omitted" : halves.join(" ")]];
    }),
  );
}

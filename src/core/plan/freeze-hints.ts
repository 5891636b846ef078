// Hints for tools, frozen into a compaction that a profile makes: they are resolved once, so that a projection asks no
// configuration (docs/FORMAT.md §5, `tool_overrides`).
import type { Compaction, SelectedCall, ToolHint, UniformToolCallPolicy } from "../compaction/compaction.ts";
import type { Policies } from "../compaction/policy.ts";
import type { ToolCallRequest } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { type EventRange, isInRange } from "../range/range-location.ts";
import { hintFor, type ToolCompactionHints } from "../tools/tool-hints.ts";
import type { UnreadTurns } from "./compaction-request.ts";
import { toolsUnread } from "./unread-turns.ts";

/** What hints are frozen against. */
export interface HintFacts {
  readonly policies: Policies;
  readonly hints?: ToolCompactionHints;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly unread?: UnreadTurns;
}

/**
 * Gives the fields that hints add to a uniform policy: `tool_overrides` for the tools called in the range, and the calls
 * whose result is to be removed by name. Hints never change `omit`, nor a half of the call of which the policy says nothing:
 * `strip-requests` strips no result (RFD D17: a hint exempts). A result is removed only where results are stripped.
 */
export function freezeHints(
  range: EventRange,
  { policies, hints = {}, turns, unread }: HintFacts,
): Pick<Compaction, "tool_calls" | "tool_overrides"> {
  const policy = policies.tool_calls;
  if (policy === undefined || policy.policy === "omit") return {};
  const calls = callsIn(range, turns);
  const names = new Set([...calls.map(({ name }) => name), ...toolsUnread(range, unread)]);
  const overrides = overridesFor(names, hints, policy);
  const removed = stripsResults(policy) ? calls.filter(({ name }) => hintFor(name, hints).response === "remove") : [];
  return {
    ...(removed.length === 0
      ? {}
      : { tool_calls: { policy: "selective", calls: removed.map(omitCall), else: policy } }),
    ...(Object.keys(overrides).length === 0 ? {} : { tool_overrides: overrides }),
  };
}

function stripsResults(policy: UniformToolCallPolicy): boolean {
  return policy.policy === "strip" && policy.response;
}

function omitCall({ id }: ToolCallRequest): SelectedCall {
  return { event: id, request: "omit", response: "omit" };
}

function callsIn(range: EventRange, turns: ReadonlyMap<number, Turn>): readonly ToolCallRequest[] {
  return [...turns.values()].flatMap((turn) =>
    turn.events.flatMap((event, index) =>
      event.type === "tool_call_request" && isInRange(range, turn.index, index) ? [event] : [],
    ),
  );
}

/** The hints that projection knows, by tool in order of names. Each is whole: projection looks up a tool, not a field. */
function overridesFor(
  tools: ReadonlySet<string>,
  hints: ToolCompactionHints,
  policy: UniformToolCallPolicy,
): Readonly<Record<string, ToolHint>> {
  const asks = policy.policy === "strip" && policy.request;
  const answers = policy.policy === "truncate" || (policy.policy === "strip" && policy.response);
  const entries = [...tools].sort().flatMap((name): [string, ToolHint][] => {
    const { request, response } = hintFor(name, hints);
    const hint: ToolHint = {
      ...(request === undefined || !asks ? {} : { request }),
      ...(response === undefined || response === "remove" || !answers ? {} : { response }),
    };
    return Object.keys(hint).length === 0 ? [] : [[name, hint]];
  });
  return Object.fromEntries(entries);
}

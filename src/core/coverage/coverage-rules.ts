// The rules of projection said once more, as plainly as possible and without the projection's code, for the coverage
// check: it asks every compaction about every event, so it is slow, and easy to compare with DESIGN §4.
import { type Compaction, compareCompactions, isHiding, type UniformToolCallPolicy } from "../compaction/compaction.ts";
import type { Event, ToolCallRequest } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";

/** How an event must look in the view. `truncated` = no longer than before. */
export type Expectation = "gone" | "unchanged" | "stripped" | "truncated";

/** An event with its place: turn and position in the turn's events, 0-based. */
export interface IndexedEvent {
  readonly turn: Turn;
  readonly index: number;
  readonly event: Event;
}

/** Whether a compaction covers an event, kept by name or not. */
export function covers(compaction: Compaction, { turn, index }: IndexedEvent): boolean {
  const { from_turn, to_turn, from_event, to_event } = compaction;
  if (turn.index < from_turn || turn.index > to_turn) return false;
  const find = (id: string): number => turn.events.findIndex((event) => event.id === id);
  if (turn.index === from_turn && from_event !== undefined && (find(from_event) === -1 || index < find(from_event))) {
    return false;
  }
  return turn.index !== to_turn || to_event === undefined || find(to_event) === -1 || index <= find(to_event);
}

/** The compactions that have a say about an event, newest first: a keep ends what older ones say. */
function listVoices(placed: IndexedEvent, compactions: readonly Compaction[]): readonly Compaction[] {
  const newestFirst = compactions
    .filter((compaction) => covers(compaction, placed))
    .sort((a, b) => compareCompactions(b, a));
  const kept = newestFirst.findIndex((compaction) => compaction.keep?.includes(placed.event.id));
  return kept === -1 ? newestFirst : newestFirst.slice(0, kept);
}

/** The compaction that hides an event, if any. */
export function findHider(placed: IndexedEvent, compactions: readonly Compaction[]): Compaction | undefined {
  return listVoices(placed, compactions).find(isHiding);
}

/** What mechanical policies make of an event that is not hidden. `call` = the call that a result answers. */
export function expectEvent(
  placed: IndexedEvent,
  compactions: readonly Compaction[],
  call: ToolCallRequest | undefined,
): Expectation {
  for (const compaction of listVoices(placed, compactions)) {
    const opinion = opinionOn(placed.event, compaction, call);
    if (opinion !== undefined) return opinion;
  }
  return "unchanged";
}

function opinionOn(event: Event, compaction: Compaction, call: ToolCallRequest | undefined): Expectation | undefined {
  if (event.type === "chat_response" && event.reasoning !== undefined) {
    return compaction.reasoning === "strip" ? "gone" : undefined;
  }
  if (event.type === "chat_request") return compaction.attachments === "strip" ? "stripped" : undefined;
  if (event.type === "tool_call_request") return toolOpinion(compaction, "request", event);
  if (event.type === "tool_call_response") return toolOpinion(compaction, "response", call);
  return undefined;
}

function toolOpinion(
  compaction: Compaction,
  half: "request" | "response",
  call: ToolCallRequest | undefined,
): Expectation | undefined {
  const policy = compaction.tool_calls;
  if (policy?.policy !== "selective") return policy && uniformOpinion(compaction, policy, half, call?.name);
  const named = policy.calls.find(({ event }) => event === call?.id);
  if (named === undefined) return policy.else && uniformOpinion(compaction, policy.else, half, call?.name);
  if (named.request === "omit" || named.response === "omit") return "gone";
  if (named[half] === "strip") return "stripped";
  if (named[half] === "keep") return "unchanged";
  return named[half] && "truncated";
}

function uniformOpinion(
  compaction: Compaction,
  policy: UniformToolCallPolicy,
  half: "request" | "response",
  tool: string | undefined,
): Expectation {
  if (policy.policy === "omit") return "gone";
  const hints = new Map(Object.entries(compaction.tool_overrides ?? {}));
  const hint = (hints.get(tool ?? "*") ?? hints.get("*"))?.[half];
  if (hint !== undefined) return hint === "strip" ? "stripped" : "unchanged";
  if (policy.policy === "strip") return policy[half] ? "stripped" : "unchanged";
  return half === "response" ? "truncated" : "unchanged";
}

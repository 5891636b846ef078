// The rules of projection said once more, as plainly as possible and without the projection's code, for the coverage
// check: it asks every compaction about every event, so it is slow, and easy to compare with docs/FORMAT.md §5.1.
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
  /** The result that answers this call, or the call that this result answers. */
  readonly other?: Event | undefined;
}

/** A compaction that covers something of a turn: from which of its events to which. Positions, 0-based, inclusive. */
export interface Speaker {
  readonly compaction: Compaction;
  readonly from: number;
  readonly to: number;
}

/** The compactions that cover something of a turn, kept by name or not, newest first. */
export function listSpeakers(turn: Turn, newestFirst: readonly Compaction[]): readonly Speaker[] {
  const find = (id: string): number => turn.events.findIndex((event) => event.id === id);
  return newestFirst.flatMap((compaction) => {
    const { from_turn, to_turn, from_event, to_event } = compaction;
    if (turn.index < from_turn || turn.index > to_turn) return [];
    const from = turn.index === from_turn && from_event !== undefined ? find(from_event) : 0;
    const end = turn.index === to_turn && to_event !== undefined ? find(to_event) : -1;
    return from === -1 ? [] : [{ compaction, from, to: end === -1 ? Number.POSITIVE_INFINITY : end }];
  });
}

/** Compactions in the order of their say, newest first. */
export function orderVoices(compactions: readonly Compaction[]): readonly Compaction[] {
  return [...compactions].sort((a, b) => compareCompactions(b, a));
}

/** The compactions that have a say about an event, newest first: a keep ends what older ones say. */
function listVoices({ index, event }: IndexedEvent, speakers: readonly Speaker[]): readonly Compaction[] {
  const voices = speakers.filter(({ from, to }) => from <= index && index <= to).map(({ compaction }) => compaction);
  return beforeKeep(voices, event);
}

/** Those newer than the one that keeps an event by name; all where none does. */
function beforeKeep(voices: readonly Compaction[], event: Event | undefined): readonly Compaction[] {
  const kept = voices.findIndex(({ keep }) => event !== undefined && keep?.includes(event.id));
  return kept === -1 ? voices : voices.slice(0, kept);
}

/** The compaction that hides an event, if any: none that keeps the other half of a call, or is older than that. */
export function findHider(placed: IndexedEvent, speakers: readonly Speaker[]): Compaction | undefined {
  return beforeKeep(listVoices(placed, speakers), placed.other).find(isHiding);
}

/** Whether a newer compaction hides the place at which a range ends; a turn that is not at hand is hidden whole. */
export function isEndHidden(
  { to_turn, to_event, ...rest }: Compaction,
  newestFirst: readonly Compaction[],
  turns: readonly Turn[],
): boolean {
  const turn = turns.find(({ index }) => index === to_turn) ?? { index: to_turn, events: [] };
  const end = turn.events.findIndex(({ id }) => id === to_event);
  const place = end === -1 ? turn.events.length - 1 : end;
  const newer = newestFirst.slice(
    0,
    newestFirst.findIndex(({ id }) => id === rest.id),
  );
  return listSpeakers(turn, newer.filter(isHiding)).some(
    ({ from, to }) => turn.events.length === 0 || (from <= place && place <= to),
  );
}

/** What mechanical policies make of an event that is not hidden. `call` = the call that a result answers. */
export function expectEvent(
  placed: IndexedEvent,
  speakers: readonly Speaker[],
  call: ToolCallRequest | undefined,
): Expectation {
  const voices = listVoices(placed, speakers);
  const mayLeaveOut = beforeKeep(voices, placed.other);
  for (const compaction of voices) {
    const opinion = opinionOn(placed.event, compaction, call);
    if (opinion === "gone" && !mayLeaveOut.includes(compaction)) return "unchanged";
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

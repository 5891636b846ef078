// The thread: a projection in the form a model is sent, after hardening. Each block still knows the event it came from.
import {
  type ChatRequest,
  type Event,
  type ProjectedTurn,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../conversation/event.ts";
import { type CallPairs, pairCalls } from "../conversation/tool-pairing.ts";

/** One block of a message in the provider's own shape. */
export interface ThreadBlock {
  /** Event it came from; absent = made by hardening or by a summary (then `compaction` names it). */
  readonly event?: string;
  readonly compaction?: string;
  /** Provider-shaped content block. */
  readonly block: Readonly<Record<string, unknown>>;
}

/** The fields that say where a block comes from. */
export type BlockOrigin = Omit<ThreadBlock, "block">;

export interface ThreadMessage {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly ThreadBlock[];
}

/** A hardening step that dropped or changed an event, or added a synthetic item. */
export interface HardeningStep {
  /** Rule id of provider-rules, e.g. `A1`. */
  readonly rule: string;
  /** Event that was dropped or changed; absent for synthetic items. */
  readonly event?: string;
  readonly action: "dropped" | "changed" | "added";
}

export interface Thread {
  readonly messages: readonly ThreadMessage[];
  readonly hardening: readonly HardeningStep[];
}

/** Returns the origin of the blocks of each event of a view, in order: a summary's names the compaction, a replacement list's both. */
export function blockOrigins({ turns }: View): ReadonlyMap<Event, BlockOrigin> {
  const origins = new Map<Event, BlockOrigin>();
  for (const turn of turns) for (const event of turn.events) origins.set(event, originOf(turn, event));
  return origins;
}

function originOf({ origin }: ProjectedTurn, event: Event): BlockOrigin {
  if (origin.kind === "kept" || origin.kind === "index") return { event: event.id };
  return origin.kind === "summary"
    ? { compaction: origin.compaction }
    : { event: event.id, compaction: origin.compaction };
}

// Which calls and results of a view are sent, and under which ids: every call answered once, every result with its call, ids unique and
// well-formed. Differences between providers are data; ids change only where they must, always in the same way.

/** The result of a call that was still running when the conversation stopped. */
const INTERRUPTED_RESULT = "[Tool call interrupted: no result was recorded, its outcome is unknown.]";

/** The text that is sent as the result of a call that has none: in its agent's words, if the agent sends one. */
export function missingResult(call: Pick<ToolCallRequest, "metadata">): string {
  return agentsResult(call) ?? INTERRUPTED_RESULT;
}

/** What the call's agent sends in place of a missing result; undefined = it leaves the call out. */
export function agentsResult({ metadata }: Pick<ToolCallRequest, "metadata">): string | undefined {
  const text: unknown = metadata?.unanswered;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

export interface CallPlan {
  /** Result of each call, `null` for a call that gets a synthetic one; calls that are left out are absent. */
  readonly results: ReadonlyMap<ToolCallRequest, ToolCallResponse | null>;
  /** The call each result answers; results that are left out are absent. */
  readonly calls: ReadonlyMap<ToolCallResponse, ToolCallRequest>;
  /** Position of each result that is sent, in the order in which results were recorded. */
  readonly order: ReadonlyMap<ToolCallResponse, number>;
  /** The id a call and its result are sent under. */
  readonly ids: ReadonlyMap<ToolCallRequest, string>;
  readonly hardening: readonly HardeningStep[];
}

/** Assigns a call the id it is sent under; `isUsed` knows the ids of the calls before it. */
export type AssignId = (
  call: ToolCallRequest,
  isUsed: (id: string) => boolean,
) => { readonly id: string /** rules that made it change */; readonly rules: readonly string[] };

/** What a provider requires of calls and results. */
export interface CallRules {
  /** Which calls without a result get a synthetic one; the others are left out, unless their agent sends them. */
  readonly answers: "newest" | "all";
  readonly assignId: AssignId;
  /** Rule ids for the list of steps. */
  readonly rules: {
    /** A call without a result was left out. */
    readonly unanswered: string;
    /** A result without a call was left out. */
    readonly unasked: string;
    /** A further result of an answered call was left out. */
    readonly repeated: string;
  };
}

export function planProviderCalls(view: View, provider: CallRules): CallPlan {
  const turns = view.turns.map((turn, index) => ({ index, events: turn.events }));
  const calls = pairCalls(turns, () => false);
  const answered = new Map<ToolCallRequest, ToolCallResponse>();
  const answeredIds = new Set<string>();
  for (const [result, call] of calls) {
    answered.set(call, result);
    answeredIds.add(call.call_id);
  }
  const events = view.turns.flatMap((turn) => turn.events);
  const order = new Map(orderResults(calls, events).map((result, at) => [result, at]));
  const newest = provider.answers === "newest" ? newestMessage(events) : null;
  const results = new Map<ToolCallRequest, ToolCallResponse | null>();
  const hardening: HardeningStep[] = [];
  const { unanswered, unasked, repeated } = provider.rules;
  for (const event of events) {
    if (event.type === "tool_call_request") {
      const result = answered.get(event) ?? null;
      const isSent = result !== null || newest === null || newest.has(event) || agentsResult(event) !== undefined;
      if (isSent) results.set(event, result);
      else hardening.push({ rule: unanswered, event: event.id, action: "dropped" });
    } else if (event.type === "tool_call_response" && !calls.has(event)) {
      const rule = answeredIds.has(event.call_id) ? repeated : unasked;
      hardening.push({ rule, event: event.id, action: "dropped" });
    }
  }
  return { results, calls, order, ids: assignIds(results.keys(), provider.assignId, hardening), hardening };
}

/** Results as recorded. Some agents send those of an answer in the order of its calls: `metadata.in_call_order`. */
function orderResults(calls: CallPairs, events: readonly Event[]): readonly ToolCallResponse[] {
  const results = [...calls.keys()];
  const isReordered = (result: ToolCallResponse): boolean => result.metadata?.["in_call_order"] === true;
  if (!results.some(isReordered)) return results;
  const places = new Map(events.map((event, at) => [event, at]));
  const placeOf = (result: ToolCallResponse): number =>
    places.get(isReordered(result) ? (calls.get(result) ?? result) : result) ?? 0;
  return results.sort((a, b) => placeOf(a) - placeOf(b));
}

/** The events of the newest assistant message: those with its message id, or, if it has none, what follows the last request. */
function newestMessage(events: readonly Event[]): ReadonlySet<Event> {
  const last = events.findLastIndex(isAssistant);
  const messageId = events[last]?.metadata?.message_id;
  const newest = new Set<Event>();
  for (let at = last; at >= 0; at--) {
    const event = events[at] as Event;
    if (event.type === "chat_request") break;
    if (!isAssistant(event)) continue;
    if (event.metadata?.message_id !== messageId) break;
    newest.add(event);
  }
  return newest;
}

function isAssistant(event: Event): boolean {
  return event.type === "chat_response" || event.type === "tool_call_request";
}

function assignIds(
  calls: Iterable<ToolCallRequest>,
  assignId: AssignId,
  hardening: HardeningStep[],
): ReadonlyMap<ToolCallRequest, string> {
  const ids = new Map<ToolCallRequest, string>();
  const used = new Set<string>();
  for (const call of calls) {
    const { id, rules } = assignId(call, (other) => used.has(other));
    for (const rule of rules) hardening.push({ rule, event: call.id, action: "changed" });
    used.add(id);
    ids.set(call, id);
  }
  return ids;
}

/** The id itself, or with the first number appended that makes it unused; at most `max` characters. */
export function unusedId(id: string, max: number, isUsed: (id: string) => boolean): string {
  let candidate = id;
  for (let count = 2; isUsed(candidate); count++) candidate = `${id.slice(0, max - String(count).length - 1)}_${count}`;
  return candidate;
}

/** Puts a text between the marks of a reminder; one that has them already is returned unchanged. */
export function formatReminder(text: string): string {
  return text.trimStart().startsWith("<system-reminder>") ? text : `<system-reminder>\n${text}\n</system-reminder>`;
}

/** A view without its leading prompts, and those. */
interface PromptSplit {
  /** In order; empty when the events have none. */
  readonly prompts: readonly ChatRequest[];
  readonly rest: View;
}

/** Splits off a view's leading prompts: system and developer requests before all messages, not made by a harness or a summary. */
export function splitPrompts(view: View): PromptSplit {
  const found = promptsIn(view);
  if (found.length === 0) return { prompts: [], rest: view };
  const prompts = new Set<Event>(found);
  const turns = view.turns.map((turn) => ({ ...turn, events: turn.events.filter((event) => !prompts.has(event)) }));
  return { prompts: found, rest: { turns } };
}

/** Returns the leading prompts of a conversation's first turns. */
export function leadingPrompts(turns: Iterable<Pick<ProjectedTurn, "events">>): readonly ChatRequest[] {
  const found: ChatRequest[] = [];
  for (const turn of turns) {
    for (const event of turn.events) {
      if (isPrompt(event)) found.push(event);
      else if (/^(chat|tool_call)_/.test(event.type)) return found;
    }
  }
  return found;
}

/** A summary of the first turns precedes the prompts that it keeps of them. */
function promptsIn({ turns }: View): readonly ChatRequest[] {
  const first = turns.filter(({ origin }) => origin.kind === "kept" && origin.turn === 0);
  return [...new Set([...leadingPrompts(turns), ...leadingPrompts(first)])];
}

/** Joins a system prompt with those that a view begins with, without blank ones; "" when there is none. */
export function joinPrompts(system: string | undefined, prompts: readonly ChatRequest[]): string {
  const texts = [system ?? "", ...prompts.map((event) => textOfContent(event.content))];
  return texts.filter((text) => text.trim() !== "").join("\n\n");
}

function isPrompt(event: Event): event is ChatRequest {
  if (event.type !== "chat_request" || event.metadata?.origin !== undefined) return false;
  return event.role === "system" || event.role === "developer";
}

// Cache cost: what a compaction costs and saves if a provider caches the prefix of requests. Everything after the first change is written
// to the cache again; from then on every call reads less.
import {
  type ChatRequest,
  type Event,
  isText,
  type ProjectedTurn,
  type ToolCallResponse,
  traitsOf,
  type View,
} from "../conversation/event.ts";
import { estimateEvent, estimateKind } from "../conversation/token-estimate.ts";
import { paysAfter } from "./money.ts";

/** Price of reading a token from the cache, as a share of a plain input token (Anthropic's prices; others are similar). */
export const CACHE_READ = 0.1;
/** Price of writing a token to the cache, as a share of a plain input token. */
export const CACHE_WRITE = 1.25;

/** All in tokens except the calls; estimates unless `count` counts. */
export interface CacheCost {
  /** The longest unchanged prefix: it is still read from the cache. */
  readonly prefix_kept: number;
  /** The rest of the new view: written to the cache once more. */
  readonly rewritten: number;
  /** What every later call saves; negative = the view grows. */
  readonly saved_per_call: number;
  /** Calls after which it has paid for itself, 0 or more; null = never. */
  readonly break_even_calls: number | null;
}

interface CacheCounting {
  /** Tokens of an event, not rounded; default the plain estimate. */
  readonly count?: (event: Event) => number;
  /** Tokens before the old view: system prompt and tool definitions; default 0. */
  readonly overhead?: number;
  /** Tokens of definitions that are no longer sent; absent = the tools stay. They begin the prefix, so all of it is rewritten. */
  readonly pruned?: number;
}

/** Computes what it costs to change from one view to another. */
export function cacheCost(
  before: View,
  after: View,
  { count = estimateEvent, overhead = 0, pruned }: CacheCounting = {},
): CacheCost {
  const sent = listSent(before);
  const next = listSent(after);
  let same = 0;
  while (same < sent.length && isSame(sent[same], next[same])) same += 1;
  const total = (events: readonly Event[]): number => events.reduce((sum, event) => sum + count(event), 0);
  if (pruned !== undefined) {
    const left = Math.max(0, overhead - pruned);
    return costOf({ kept: 0, rewritten: left + total(next), dropped: overhead + total(sent) });
  }
  const kept = overhead + total(next.slice(0, same));
  return costOf({ kept, rewritten: total(next.slice(same)), dropped: total(sent.slice(same)) });
}

/** Computes the cost from the tokens kept, rewritten and dropped. */
function costOf(tokens: { readonly kept: number; readonly rewritten: number; readonly dropped: number }): CacheCost {
  const rewritten = Math.round(tokens.rewritten);
  const saved = Math.round(tokens.dropped) - rewritten;
  return {
    prefix_kept: Math.round(tokens.kept),
    rewritten,
    saved_per_call: saved,
    break_even_calls: breakEven(rewritten, saved),
  };
}

/** Calls until reading `saved` tokens less each time, the next time too, makes up for writing what was rewritten instead of reading it. */
function breakEven(rewritten: number, saved: number): number | null {
  if (rewritten === 0 && saved === 0) return 0;
  return paysAfter(rewritten * (CACHE_WRITE - CACHE_READ), saved * CACHE_READ);
}

function listSent({ turns }: View): readonly Event[] {
  return turns.flatMap(({ events }) => events.filter((event) => traitsOf(event).providerVisible));
}

/** Unchanged events are the same objects; a summary that stays is injected anew, with the same text. */
function isSame(a: Event | undefined, b: Event | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

// The parts of a full window, for people: what its anatomy lists. Finer than the kinds of an estimate: attachments apart from their texts,
// and summaries and indexes apart from what was said.

/** A part of a window, by its content. */
export type ViewPart =
  | "system"
  | "user"
  | "assistant"
  | "reasoning"
  | "calls"
  | "results"
  | "attachments"
  | "harness"
  | "summaries"
  | "index";

/** Tokens by part, not rounded; empty parts are absent. */
export type PartTokens = ReadonlyMap<ViewPart, number>;

interface PartMeasure {
  /** The leading prompts of the view. */
  readonly prompts: ReadonlySet<Event>;
  countEvent(event: Event): number;
}

/** Measures a projected turn; the parts add up to what `countEvent` gives for its events. */
export function measureParts({ origin, events }: ProjectedTurn, { prompts, countEvent }: PartMeasure): PartTokens {
  const parts = new Map<ViewPart, number>();
  const add = (part: ViewPart, tokens: number): void => {
    if (tokens !== 0) parts.set(part, (parts.get(part) ?? 0) + tokens);
  };
  for (const event of events) {
    if (!traitsOf(event).providerVisible) continue;
    const own = countEvent(event);
    const attached = origin.kind === "kept" ? attachmentsOf(event) : null;
    const attachedTokens = attached === null ? 0 : Math.min(own, countEvent(attached));
    add("attachments", attachedTokens);
    add(prompts.has(event) ? "system" : partOf(event, origin), own - attachedTokens);
  }
  return parts;
}

function partOf(event: Event, { kind }: ProjectedTurn["origin"]): ViewPart {
  if (kind === "summary") return "summaries";
  if (kind === "index") return "index";
  switch (event.type) {
    case "chat_request":
      return requestPart(estimateKind(event));
    case "tool_call_request":
      return "calls";
    case "tool_call_response":
      return "results";
    default:
      return "reasoning" in event ? "reasoning" : "assistant";
  }
}

function requestPart(kind: ReturnType<typeof estimateKind>): ViewPart {
  return kind === "system" || kind === "index" || kind === "summaries" || kind === "harness" ? kind : "user";
}

/** The event with only its images, documents and attached files; null if it has none. */
function attachmentsOf(event: Event): ChatRequest | ToolCallResponse | null {
  if (event.type !== "chat_request" && event.type !== "tool_call_response") return null;
  const { content } = event;
  if (isText(content)) return null;
  const attached = content.filter(({ type }) => type === "image" || type === "document" || type === "attachment");
  return attached.length === 0 ? null : { ...event, content: attached };
}

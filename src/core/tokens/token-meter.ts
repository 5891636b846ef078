// The token meter of a conversation: what its provider recorded where that is the very thing asked for, else an estimate
// that goes through the newest recorded size, so that what was not changed counts as recorded and changes count calibrated.
import { type Compaction, compareTimestamps } from "../compaction/compaction.ts";
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { projectTurns } from "../projection/projection.ts";
import type { View } from "../projection/view.ts";
import {
  type Calibration,
  calibrateOn,
  LEAST_FACTOR,
  MOST_FACTOR,
  MOST_OVERHEAD,
  recordRequests,
  sumTokens,
} from "./calibration.ts";
import { estimateByKind, estimateEvent, type TokenEstimate } from "./token-estimate.ts";
import { sizeOf, type UsageRecord } from "./usage.ts";

/** `recorded`: the provider's own count of the request and its answer; `estimate`: ours. */
export type TokenSource = "recorded" | "estimate";

/** Whole tokens ≥ 0, and who counted them. */
export interface TokenCount {
  readonly tokens: number;
  readonly source: TokenSource;
}

/** Counts in the measure of one conversation. */
export interface TokenMeter {
  /** Null when fewer than 5 requests have usage, or their usage is not of these events. */
  readonly calibration: Calibration | null;
  /** Tokens for each token of the plain estimate; 1 when unknown. */
  readonly factor: number;
  /** Tokens that every view has beside its events (system prompt, tool definitions); 0 when unknown. */
  readonly overhead: number;
  /** The whole history, as if it were sent at once; overhead included. */
  countHistory(): TokenCount;
  /** A view of this conversation under the compactions given; overhead included. */
  countView(view: View, compactions: readonly Compaction[]): TokenCount;
  /** One event, not rounded: an estimate. */
  countEvent(event: Event): number;
  /** Events alone, without overhead: always an estimate. */
  countEvents(events: Iterable<Event>): number;
  /** Events alone by kind; `total` is the sum of the kinds. */
  countByKind(events: Iterable<Event>): TokenEstimate;
}

export interface MeterOptions {
  /** Counts one event, by the plain estimate when left out; used as it is where no usage is recorded. */
  readonly countEvent?: (event: Event) => number;
}

/**
 * Creates the meter of a conversation. `turns`: all of them, in any order (what is missing lowers the overhead);
 * `compactions`: those in force, the agent's own among them, from which follows what the newest request was sent with.
 */
export function createTokenMeter(
  turns: Iterable<Turn>,
  compactions: readonly Compaction[] = [],
  { countEvent }: MeterOptions = {},
): TokenMeter {
  const ordered = [...turns].sort((a, b) => a.index - b.index);
  const { events, usage, requests, sums: estimates } = recordRequests(ordered);
  const calibration = calibrateOn(requests);
  const own = calibration === null ? countEvent : undefined;
  const estimate = own === undefined ? estimateEvent : remember(own);
  const sums = own === undefined ? estimates : sumTokens(events, estimate);
  const total = sums[events.length] ?? 0;
  const anchor = findAnchor({
    ordered,
    events,
    sums,
    record: usage.at(-1),
    compactions,
    estimate,
    isUnbroken: requests.at(-1)?.isUnbroken === true,
  });
  const { factor, overhead } = fitThrough(anchor, calibration);
  const count = (estimated: number): number => Math.round(overhead + factor * estimated);
  const recorded: TokenCount | null =
    anchor === null ? null : { tokens: count(anchor.estimate), source: anchor.source };
  const whole: TokenCount =
    recorded !== null && anchor?.estimate === total ? recorded : { tokens: count(total), source: "estimate" };
  const scaled = (event: Event): number => factor * estimate(event);
  return {
    calibration,
    factor,
    overhead: Math.round(overhead),
    countHistory: () => whole,
    countView(view, inForce) {
      if (inForce.length === 0) return whole;
      if (recorded !== null && anchor !== null && inForce.every((compaction) => isAgents(compaction, anchor.time)))
        return recorded;
      const shown = view.turns.reduce((tokens, turn) => tokens + sum(turn.events, estimate), 0);
      return { tokens: count(shown), source: "estimate" };
    },
    countEvent: scaled,
    countEvents: (list) => Math.round(sum(list, scaled)),
    countByKind: (list) => roundKinds(estimateByKind(list, scaled)),
  };
}

/** The newest recorded request with its answer and what followed, against the estimate of what it was sent with. */
interface Anchor {
  readonly tokens: number;
  readonly estimate: number;
  readonly source: TokenSource;
  /** When it was answered. */
  readonly time: string;
}

interface AnchorSearch {
  readonly ordered: readonly Turn[];
  readonly events: readonly Event[];
  /** Tokens of all events before each position; one longer than the events. */
  readonly sums: Float64Array;
  /** The newest. */
  readonly record: UsageRecord | undefined;
  readonly compactions: readonly Compaction[];
  readonly estimate: (event: Event) => number;
  readonly isUnbroken: boolean;
}

function findAnchor(search: AnchorSearch): (Anchor & { readonly followed: number }) | null {
  const { events, sums, record } = search;
  const time = events[record?.position ?? 0]?.timestamp;
  if (record === undefined || time === undefined) return null;
  const sent = estimateSent(search, time);
  if (sent === null) return null;
  const upTo = (position: number): number => sums[position] ?? 0;
  const answer = upTo(record.end) - upTo(record.position);
  const followed = upTo(events.length) - upTo(record.end);
  // A request smaller than half of its events was not sent with these, a far larger one not with these alone.
  const size = sizeOf(record.usage);
  const before = sent - answer - followed;
  if (size < LEAST_FACTOR * before || size > MOST_FACTOR * before + MOST_OVERHEAD) return null;
  return {
    tokens: size + answerTokens(record, answer),
    estimate: sent,
    followed,
    source: followed === 0 ? "recorded" : "estimate",
    time,
  };
}

/** Estimate of what the agent's next request is sent with; null when that cannot be told. */
function estimateSent(
  { ordered, events, sums, compactions, estimate, isUnbroken }: AnchorSearch,
  time: string,
): number | null {
  const agents = compactions.filter((compaction) => isAgents(compaction, time));
  if (agents.length === 0) return isUnbroken ? (sums[events.length] ?? 0) : null;
  if (ordered.some((turn, at) => turn.index !== at)) return null;
  return projectTurns(ordered, agents).turns.reduce((tokens, turn) => tokens + sum(turn.events, estimate), 0);
}

/** Made by the agent before a time, so that its requests show it. */
function isAgents({ source, timestamp }: Compaction, time: string): boolean {
  return source === "import" && compareTimestamps(timestamp, time) <= 0;
}

/** Usage written before the answer was complete counts too little of it. */
function answerTokens({ usage }: UsageRecord, estimated: number): number {
  return usage.output < estimated / 2 ? estimated : usage.output;
}

/** The line through the anchor; without a positive overhead the line through the anchor and nothing. */
function fitThrough(
  anchor: (Anchor & { readonly followed: number }) | null,
  calibration: Calibration | null,
): { readonly factor: number; readonly overhead: number } {
  const { factor, overhead } = calibration ?? { factor: 1, overhead: 0 };
  if (anchor === null) return { factor, overhead };
  const size = anchor.tokens + factor * anchor.followed;
  const rest = size - factor * anchor.estimate;
  return rest >= 0 ? { factor, overhead: rest } : { factor: size / anchor.estimate, overhead: 0 };
}

function roundKinds({ total: _, ...kinds }: TokenEstimate): TokenEstimate {
  const rounded = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0, total: 0 };
  for (const kind of Object.keys(kinds) as (keyof typeof kinds)[]) {
    rounded[kind] = Math.round(kinds[kind]);
    rounded.total += rounded[kind];
  }
  return rounded;
}

/** A tokenizer is slow; the plain estimate is quicker than looking it up. */
function remember(countEvent: (event: Event) => number): (event: Event) => number {
  const known = new Map<Event, number>();
  return (event) => {
    const tokens = known.get(event) ?? countEvent(event);
    known.set(event, tokens);
    return tokens;
  };
}

function sum(events: Iterable<Event>, countOne: (event: Event) => number): number {
  let tokens = 0;
  for (const event of events) tokens += countOne(event);
  return tokens;
}

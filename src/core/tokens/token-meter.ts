// The token meter of a conversation: what its provider recorded where that is the very thing asked for, else an estimate
// that goes through the newest recorded size, so that what was not changed counts as recorded and changes count calibrated.
import { type Compaction, compareTimestamps } from "../compaction/compaction.ts";
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { tokenizerFactor } from "../model/tokenizer-factor.ts";
import type { View } from "../projection/view.ts";
import {
  type Calibration,
  calibrateOn,
  gapsIn,
  LEAST_FACTOR,
  MOST_FACTOR,
  MOST_OVERHEAD,
  requestSizes,
} from "./calibration.ts";
import { type RecordedRequest, recordedRequests } from "./recorded-requests.ts";
import { type RecordedWindow, recordedWindow } from "./recorded-window.ts";
import { estimateSent, isAgents } from "./sent-estimate.ts";
import { type EstimateKind, estimateByKind, estimateEvent, type TokenEstimate } from "./token-estimate.ts";
import type { TurnFacts } from "./turn-facts.ts";
import { sizeOf, type Usage } from "./usage.ts";

/** `recorded`: the provider's own count of the request and its answer; `estimate`: ours. */
export type TokenSource = "recorded" | "estimate";

/** Where the size of system prompt and tools is from: the conversation's own usage, what agents of its kind send, or nowhere. */
export type OverheadSource = "recorded" | "typical" | "unknown";

/** Whole tokens ≥ 0, and who counted them. */
export interface TokenCount {
  readonly tokens: number;
  readonly source: TokenSource;
}

/** Counts in the measure of one conversation. */
export interface TokenMeter {
  /** Null when fewer than 5 requests have usage, or their usage is not of these events. */
  readonly calibration: Calibration | null;
  /** Tokens for each token of the plain estimate; that of the model's tokenizer where too little is recorded. */
  readonly factor: number;
  /** Tokens that every view has beside its events (system prompt, tool definitions); 0 when unknown. */
  readonly overhead: number;
  readonly overheadSource: OverheadSource;
  /** The overhead without the tools that these compactions prune, where no request was recorded since. */
  overheadUnder(compactions: readonly Compaction[]): number;
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
  /** The same of the whole history. */
  countHistoryByKind(): TokenEstimate;
  /** What the session tells of a model's window. */
  windowOf(model: string): RecordedWindow;
}

/** What a meter is made from. */
export interface MeterInput {
  /** Facts of the turns, in order; what is missing lowers the overhead. */
  readonly facts: readonly TurnFacts[];
  /** Turns at hand: of a conversation that is known whole, at least those of `turnsToCount`. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** Those in force, the agent's own among them, from which follows what the newest request was sent with. */
  readonly compactions: readonly Compaction[];
  /** Tokens of system prompt and tools as the conversation's agent sends them, for where nothing is recorded. */
  readonly typicalOverhead?: number;
}

/** Creates the meter of a conversation from the facts of its turns. */
export function createFactsMeter({ facts, turns, compactions, typicalOverhead }: MeterInput): TokenMeter {
  const records = recordedRequests(facts);
  const requests = requestSizes(records, facts);
  const calibration = calibrateOn(requests);
  const model = facts.findLast((turn) => turn.model !== null)?.model ?? null;
  const line = calibration ?? { factor: tokenizerFactor(model), overhead: null };
  const total = facts.reduce((tokens, turn) => tokens + turn.tokens, 0);
  const anchor = findAnchor({
    facts,
    turns,
    total,
    record: records.at(-1),
    compactions,
    isUnbroken: requests.at(-1)?.isUnbroken === true,
  });
  const fitted = fitThrough(anchor, line);
  const { factor } = fitted;
  const overhead = fitted.overhead ?? typicalOverhead ?? 0;
  const count = (estimated: number): number => Math.round(overhead + factor * estimated);
  const recorded: TokenCount | null =
    anchor === null ? null : { tokens: count(anchor.estimate), source: anchor.source };
  const whole: TokenCount =
    recorded !== null && anchor?.estimate === total ? recorded : { tokens: count(total), source: "estimate" };
  const scaled = (event: Event): number => factor * estimateEvent(event);
  const left = (inForce: readonly Compaction[]): number => Math.max(0, overhead - sparedSince(inForce, anchor?.time));
  return {
    calibration,
    factor,
    overhead: Math.round(overhead),
    overheadSource: fitted.overhead !== null ? "recorded" : typicalOverhead !== undefined ? "typical" : "unknown",
    overheadUnder: (inForce) => Math.round(left(inForce)),
    countHistory: () => whole,
    countView(view, inForce) {
      if (inForce.length === 0) return whole;
      if (recorded !== null && anchor !== null && inForce.every((compaction) => isSentWith(compaction, anchor.time)))
        return recorded;
      const shown = view.turns.reduce((tokens, turn) => tokens + sum(turn.events, estimateEvent), 0);
      return { tokens: Math.round(left(inForce) + factor * shown), source: "estimate" };
    },
    countEvent: scaled,
    countEvents: (list) => Math.round(sum(list, scaled)),
    countByKind: (list) => roundKinds(estimateByKind(list), factor),
    countHistoryByKind: () => roundKinds(addKinds(facts), factor),
    windowOf: (name) => {
      const answered = facts.flatMap(answeredIn);
      const events = [...turns.values()].sort((a, b) => a.index - b.index).flatMap((turn) => turn.events);
      return recordedWindow(name, { answered, events, requests });
    },
  };
}

/** Models that answered, oldest first. */
function answeredIn({ stretch, answers }: TurnFacts): readonly string[] {
  return stretch?.answered ?? answers.flatMap(({ model }) => model ?? []);
}

/** Tokens of the tools that compactions prune since a time. */
function sparedSince(compactions: readonly Compaction[], time = ""): number {
  const since = compactions.filter(({ timestamp }) => time === "" || compareTimestamps(timestamp, time) > 0);
  return since.reduce((tokens, { tools }) => tokens + (tools?.tokens ?? 0), 0);
}

/** The newest recorded request with its answer and what followed, against the estimate of what it was sent with. */
interface Anchor {
  readonly tokens: number;
  readonly estimate: number;
  readonly source: TokenSource;
  /** When it was answered. */
  readonly time: string;
}

interface AnchorSearch extends Pick<MeterInput, "facts" | "turns" | "compactions"> {
  /** Tokens of all turns. */
  readonly total: number;
  /** The newest. */
  readonly record: RecordedRequest | undefined;
  readonly isUnbroken: boolean;
}

function findAnchor(search: AnchorSearch): (Anchor & { readonly followed: number }) | null {
  const { total, record } = search;
  if (record?.answer === undefined || record.answer.time === "") return null;
  const { usage } = record;
  const { time, through } = record.answer;
  const sent = sentEstimate(search, time);
  if (sent === null) return null;
  const answer = through - record.before;
  const followed = total - through;
  // A request smaller than half of its events was not sent with these, a far larger one not with these alone.
  const size = sizeOf(usage);
  const before = sent - answer - followed;
  if (size < LEAST_FACTOR * before || size > MOST_FACTOR * before + MOST_OVERHEAD) return null;
  return {
    tokens: size + answerTokens(usage, answer),
    estimate: sent,
    followed,
    source: followed === 0 ? "recorded" : "estimate",
    time,
  };
}

/** Estimate of what the agent's next request is sent with; null when that cannot be told. */
function sentEstimate({ facts, turns, total, compactions, isUnbroken }: AnchorSearch, time: string): number | null {
  const agents = compactions.filter((compaction) => isSentWith(compaction, time));
  if (agents.length === 0) return isUnbroken ? total : null;
  if (gapsIn(facts).length > 0) return null;
  return estimateSent({ facts, turns, agents });
}

/** Made by the agent before a time, so that its requests show it. */
function isSentWith(compaction: Compaction, time: string): boolean {
  return isAgents(compaction) && compareTimestamps(compaction.timestamp, time) <= 0;
}

/** Usage written before the answer was complete counts too little of it. */
function answerTokens({ output }: Usage, estimated: number): number {
  return output < estimated / 2 ? estimated : output;
}

/** The line through the anchor; without a positive overhead the line through the anchor and nothing. Null = unknown overhead. */
function fitThrough(anchor: (Anchor & { readonly followed: number }) | null, { factor, overhead }: Line): Line {
  if (anchor === null) return { factor, overhead };
  const size = anchor.tokens + factor * anchor.followed;
  const rest = size - factor * anchor.estimate;
  return rest >= 0 ? { factor, overhead: rest } : { factor: size / anchor.estimate, overhead: 0 };
}

/** Size of a request = overhead + factor × estimate. */
interface Line {
  readonly factor: number;
  readonly overhead: number | null;
}

function addKinds(facts: readonly TurnFacts[]): TokenEstimate {
  const sums = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0, total: 0 };
  for (const { kinds, tokens } of facts) {
    for (const kind of Object.keys(kinds) as EstimateKind[]) sums[kind] += kinds[kind];
    sums.total += tokens;
  }
  return sums;
}

function roundKinds({ total: _, ...kinds }: TokenEstimate, factor: number): TokenEstimate {
  const rounded = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0, total: 0 };
  for (const kind of Object.keys(kinds) as EstimateKind[]) {
    rounded[kind] = Math.round(factor * kinds[kind]);
    rounded.total += rounded[kind];
  }
  return rounded;
}

function sum(events: Iterable<Event>, countOne: (event: Event) => number): number {
  let tokens = 0;
  for (const event of events) tokens += countOne(event);
  return tokens;
}

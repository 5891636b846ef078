// The token meter of a conversation: what its provider recorded where that is the very thing asked for, else an estimate by
// the line of its session. The line comes from what was said and recorded, never from the compactions that are live now.
import { type Compaction, compareTimestamps } from "../compaction/compaction.ts";
import type { Event } from "../event/event.ts";
import type { Turn } from "../event/turn.ts";
import { tokenizerFactor } from "../model/tokenizer-factor.ts";
import type { View } from "../projection/view.ts";
import { type Calibration, fitLine, requestSizes } from "./calibration.ts";
import { recordedRequests } from "./recorded-requests.ts";
import { type RecordedWindow, recordedWindow } from "./recorded-window.ts";
import {
  type EstimateKind,
  estimateByKind,
  estimateEvent,
  estimateView,
  type TokenEstimate,
} from "./token-estimate.ts";
import type { TurnFacts } from "./turn-facts.ts";
import { sizeOf } from "./usage.ts";

/** `recorded`: the provider's own count of the request and its answer; `estimate`: ours. */
export type TokenSource = "recorded" | "estimate";

/** Where the size of system prompt and tools is from: the conversation's own usage, what agents of its kind send, or nowhere. */
export type OverheadSource = "recorded" | "typical" | "unknown";

/** Whole tokens ≥ 0, and who counted them. */
export interface TokenCount {
  readonly tokens: number;
  readonly source: TokenSource;
}

/** The newest request that the provider counted. Whole tokens ≥ 0. */
export interface NewestRequest {
  readonly tokens: number;
  /** What was said since, its answer included: an estimate. */
  readonly since: number;
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
  /** Null where none is recorded. */
  readonly newestRequest: NewestRequest | null;
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

/** In what two views are counted that are compared. Tokens. */
export interface DiffMeasure {
  /** For each of the plain estimate. */
  readonly factor: number;
  /** Beside the events of each view. */
  readonly overhead: { readonly before: number; readonly after: number };
}

/** What a meter is made from. */
export interface MeterInput {
  /** Facts of the turns, in order; what is missing lowers the overhead. */
  readonly facts: readonly TurnFacts[];
  /** Turns at hand: in the newest of them the model's window is looked for. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The newest turn from which other tools were offered, 0-based; absent = none is recorded. */
  readonly definedFrom?: number;
  /** Tokens of system prompt and tools as the conversation's agent sends them, for where nothing is recorded. */
  readonly typicalOverhead?: number;
}

/** Creates the meter of a conversation from the facts of its turns. */
export function createFactsMeter({ facts, turns, definedFrom = 0, typicalOverhead }: MeterInput): TokenMeter {
  const records = recordedRequests(facts);
  const requests = requestSizes(records, facts);
  const model = facts.findLast((turn) => turn.model !== null)?.model ?? null;
  const line = fitLine({ records, requests, tokenizer: tokenizerFactor(model), definedFrom });
  const { factor } = line;
  const overhead = line.overhead ?? typicalOverhead ?? 0;
  const total = facts.reduce((tokens, turn) => tokens + turn.tokens, 0);
  const newest = records.at(-1);
  const isRecorded = line.isExact && newest?.answer?.through === total;
  const whole: TokenCount = {
    tokens: Math.round(overhead + factor * total),
    source: isRecorded ? "recorded" : "estimate",
  };
  const scaled = (event: Event): number => factor * estimateEvent(event);
  const left = (inForce: readonly Compaction[]): number =>
    Math.max(0, overhead - sparedSince(inForce, line.first?.answer?.time));
  return {
    calibration: line.calibration,
    factor,
    overhead: Math.round(overhead),
    overheadSource: line.overhead !== null ? "recorded" : typicalOverhead !== undefined ? "typical" : "unknown",
    newestRequest:
      newest === undefined
        ? null
        : { tokens: sizeOf(newest.usage), since: Math.round(factor * (total - newest.before)) },
    overheadUnder: (inForce) => Math.round(left(inForce)),
    countHistory: () => whole,
    countView: (view, inForce) =>
      inForce.length === 0
        ? whole
        : { tokens: Math.round(left(inForce) + factor * estimateView(view)), source: "estimate" },
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

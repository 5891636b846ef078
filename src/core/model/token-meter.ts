// The token meter of a conversation: the provider's recorded count if it is of exactly what is asked for, else an estimate by the line of
// its session. The line comes from what was said and recorded, never from the compactions that are live now.
import { type Compaction, compareTimestamps } from "../conversation/compaction.ts";
import { offeredTools } from "../conversation/defined-tools.ts";
import { type Event, isMessage, type ToolCallRequest, type Turn, type View } from "../conversation/event.ts";
import {
  type EstimateKind,
  estimateByKind,
  estimateEvent,
  estimateView,
  NO_TOKENS,
  type TokenEstimate,
} from "../conversation/token-estimate.ts";
import { type Calibration, fitLine, type RequestSize, recordedRequests, requestSizes } from "./calibration.ts";
import { modelFamily } from "./model-name.ts";
import { sizeOf, type TurnFacts } from "./usage.ts";

/** `recorded`: the provider's own count of the request and its answer; `estimate`: ours. */
export type TokenSource = "recorded" | "estimate";

/** Source of the size of system prompt and tools: the conversation's own usage, what agents of its kind send, or none. */
export type OverheadSource = "recorded" | "typical" | "unknown";

/** Whole tokens ≥ 0, and who counted them. */
export interface TokenCount {
  readonly tokens: number;
  readonly source: TokenSource;
}

/** The newest request that the provider counted. Whole tokens ≥ 0. */
interface NewestRequest {
  readonly tokens: number;
  /** What was said since, including its answer: an estimate. */
  readonly since: number;
}

/** Counts tokens as the provider of one conversation does. */
export interface TokenMeter {
  /** Null when fewer than 5 requests have usage, or their usage is not of these events. */
  readonly calibration: Calibration | null;
  /** Tokens per token of the plain estimate; that of the model's tokenizer if too little is recorded. */
  readonly factor: number;
  /** Tokens of every view besides its events (system prompt, tool definitions); 0 when unknown. */
  readonly overhead: number;
  readonly overheadSource: OverheadSource;
  /** Null if none is recorded. */
  readonly newestRequest: NewestRequest | null;
  /** The overhead without the tools that these compactions prune, if no request was recorded since. */
  overheadUnder(compactions: readonly Compaction[]): number;
  /** The whole history, as if it were sent at once; includes the overhead. */
  countHistory(): TokenCount;
  /** A view of this conversation under the compactions given; includes the overhead. */
  countView(view: View, compactions: readonly Compaction[]): TokenCount;
  /** One event, not rounded: an estimate. */
  countEvent(event: Event): number;
  /** Events alone, without overhead: always an estimate. */
  countEvents(events: Iterable<Event>): number;
  /** Events alone by kind; `total` is the sum of the kinds. */
  countByKind(events: Iterable<Event>): TokenEstimate;
  /** The whole history by kind, like countByKind. */
  countHistoryByKind(): TokenEstimate;
  /** What the session records of a model's window. */
  windowOf(model: string): RecordedWindow;
}

/** The measure in which two views are compared. Tokens. */
export interface DiffMeasure {
  /** Per token of the plain estimate. */
  readonly factor: number;
  /** Besides the events of each view. */
  readonly overhead: { readonly before: number; readonly after: number };
}

export interface MeterInput {
  /** Facts of the turns, in order; missing turns lower the overhead. */
  readonly facts: readonly TurnFacts[];
  /** Loaded turns: the newest of them are searched for the model's window. */
  readonly turns: ReadonlyMap<number, Turn>;
  /** The newest turn from which other tools were offered, 0-based; absent = none is recorded. */
  readonly definedFrom?: number;
  /** Tokens of system prompt and tools as the conversation's agent sends them, used if nothing is recorded. */
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
  const isRecorded = line.isExact && newest?.through === total;
  const whole: TokenCount = {
    tokens: Math.round(overhead + factor * total),
    source: isRecorded ? "recorded" : "estimate",
  };
  const scaled = (event: Event): number => factor * estimateEvent(event);
  const left = (inForce: readonly Compaction[]): number =>
    Math.max(0, overhead - prunedSince(inForce, line.first?.time));
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
      const answered = facts.flatMap(({ answers }) => answers.flatMap(({ model }) => model ?? []));
      const events = [...turns.values()].sort((a, b) => a.index - b.index).flatMap((turn) => turn.events);
      return recordedWindow(name, { answered, events, requests });
    },
  };
}

/** Tokens of the tools that compactions have pruned since a time. */
function prunedSince(compactions: readonly Compaction[], time = ""): number {
  const since = compactions.filter(({ timestamp }) => time === "" || compareTimestamps(timestamp, time) > 0);
  return since.reduce((tokens, { tools }) => tokens + (tools?.tokens ?? 0), 0);
}

function addKinds(facts: readonly TurnFacts[]): TokenEstimate {
  const sums = { ...NO_TOKENS, total: 0 };
  for (const { kinds, tokens } of facts) {
    for (const kind of Object.keys(kinds) as EstimateKind[]) sums[kind] += kinds[kind];
    sums.total += tokens;
  }
  return sums;
}

function roundKinds({ total: _, ...kinds }: TokenEstimate, factor: number): TokenEstimate {
  const rounded = { ...NO_TOKENS, total: 0 };
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

// How many tokens a model's tokenizer makes of one estimated token, for when no usage was recorded. Measured on sessions with usage:
// docs/decisions/sizes.md says how. A model that is not listed counts as estimated.

/** Claude's tokenizer up to 4.6, and the one since. */
const CLAUDE = 1.05;
const CLAUDE_SINCE_4_7 = 1.5;

const OLDER_CLAUDE = /^claude-(?:instant|[123](?:[.-]|$)|(?:opus|sonnet|haiku)-(?:3|4)(?:-[0-6])?$)/;

/** Returns the tokens of a model per estimated token; 1 for unknown models. */
export function tokenizerFactor(model: string | null): number {
  const family = modelFamily(model ?? "");
  if (!/^claude-(?:instant|opus|sonnet|haiku|fable|\d)/.test(family)) return 1;
  return OLDER_CLAUDE.test(family) ? CLAUDE : CLAUDE_SINCE_4_7;
}

// What a session says about a model's context window: whether its name or its headers asked for a larger one, and the largest request that
// was answered. A window is never smaller than that.

/** What is recorded of a model's window. Tokens. */
interface RecordedWindow {
  /** The window asked for; null = none is recorded. */
  readonly asked: number | null;
  /** The largest request that it answered; 0 = none is recorded. */
  readonly largest: number;
}

/** The parts of a session that are read. */
interface SessionWords {
  /** Models that answered, as the agent wrote them, oldest first. */
  readonly answered: readonly string[];
  /** Loaded events, oldest first: headers are read from the newest answer among them. */
  readonly events: readonly Event[];
  readonly requests: readonly Pick<RequestSize, "model" | "size">[];
}

/** Claude with its larger window: a mark in the name, as Claude Code writes it, and a header of requests. */
const MILLION = 1_000_000;
const MILLION_NAME = /\[1m\]$/i;
const MILLION_BETA = /^context-1m-/;

/** Reads what a session says about a model, whatever route or date is in its name. */
function recordedWindow(model: string, { answered, events, requests }: SessionWords): RecordedWindow {
  const family = modelFamily(model);
  let largest = 0;
  for (const request of requests) if (request.model === family && request.size > largest) largest = request.size;
  return { asked: MILLION_NAME.test(model) ? MILLION : askedIn({ answered, events }, family), largest };
}

/** The newest answer of the model decides: a session may return to the usual window. */
function askedIn({ answered, events }: Pick<SessionWords, "answered" | "events">, family: string): number | null {
  const named = answered.findLast((name) => isOf(name, family));
  if (named !== undefined && MILLION_NAME.test(named)) return MILLION;
  const newest = events.findLast(({ type, metadata }) => type === "chat_response" && isOf(metadata?.model, family));
  const betas = newest?.metadata?.["betas"];
  const isAsked = (beta: unknown): boolean => typeof beta === "string" && MILLION_BETA.test(beta);
  return Array.isArray(betas) && betas.some(isAsked) ? MILLION : null;
}

function isOf(model: unknown, family: string): boolean {
  return typeof model === "string" && modelFamily(model) === family;
}

/** What is known of a model's window apart from the session. */
export interface KnownWindow {
  /** What the user set; absent = nothing. */
  readonly set?: number;
  /** What its provider publishes; null = unknown. */
  readonly published: number | null;
}

/**
 * Decides the window: the user's setting, then what the session asked for, then what is published; never below the largest request. Null =
 * unknown.
 */
export function decideWindow({ set, published }: KnownWindow, { asked, largest }: RecordedWindow): number | null {
  const known = set ?? asked ?? published;
  return known === null ? null : Math.max(known, largest);
}

// How many tokens a model takes at once, by family, if nothing better is known. Facts of the providers' model pages of 2026; a model that
// is not listed is unknown, never guessed. src/app/models/models.ts decides which window a view is measured against.

/** Tokens of the window by the beginning of the model's family; the first match counts. */
const WINDOWS: readonly (readonly [prefix: RegExp, tokens: number])[] = [
  [/^claude-(?:instant|[123](?:-|$)|(?:opus|sonnet|haiku)-4(?:-[0-5])?$)/, 200_000],
  [/^claude-/, 1_000_000],
  [/^gpt-5/, 272_000],
  [/^gpt-4\.1/, 1_047_576],
  [/^gpt-4o/, 128_000],
  [/^o[134]/, 200_000],
  [/^gemini-/, 1_048_576],
];

/** The window assumed for an unknown model: that of most coding agents' models. Tokens. */
export const USUAL_WINDOW = 200_000;

/**
 * Returns the context window of a model, whatever route or date is in its name (`us.anthropic.claude-opus-4-8-v1:0`), tokens; null when it
 * is not known.
 */
export function contextWindow(model: string): number | null {
  if (MILLION_NAME.test(model)) return MILLION;
  const family = modelFamily(model);
  return WINDOWS.find(([beginning]) => beginning.test(family))?.[1] ?? null;
}

// The size of jpg's own requests. The meter counts what the conversation's agent puts before a view; jpg sends its own system prompt and
// tools instead, and knows them.

/** What precedes the view in every request that jpg sends in a conversation. */
export interface SentFrame {
  /** "" = none. */
  readonly system: string;
  readonly tools: readonly { readonly name: string }[];
}

/** Tokens ≥ 0, estimated unless the provider counted this very request. */
interface SentSize {
  readonly tokens: number;
  /** System prompt and tools: no compaction reaches them. */
  readonly overhead: number;
}

/** Measures a view as jpg sends it under this frame; null = as the conversation's agent would. */
export function sizeToSend(
  meter: TokenMeter,
  { view, compactions }: { readonly view: View; readonly compactions: readonly Compaction[] },
  frame: SentFrame | null,
): SentSize {
  const { tokens, source } = meter.countView(view, compactions);
  const counted = meter.overheadUnder(compactions);
  if (frame === null || (source === "recorded" && wasAskedByJpg(view))) return { tokens, overhead: counted };
  const tools = offeredTools(frame.tools, view, compactions);
  const overhead = countFrame(meter, { ...frame, tools });
  return { tokens: Math.max(0, tokens - counted) + overhead, overhead };
}

/** Counts a frame with a conversation's meter: whole tokens, estimated. */
export function countFrame({ countEvents }: TokenMeter, { system = "", tools = [] }: Partial<SentFrame>): number {
  return countEvents([{ type: "chat_request", ...STAMP, content: system }, ...tools.map(asCall)]);
}

/** Estimates the definition of a tool: tokens, not rounded, in the plain estimate. */
export function estimateTool(tool: SentFrame["tools"][number]): number {
  return estimateEvent(asCall(tool));
}

const STAMP = { id: "", timestamp: "" };

/** A definition is sent much like a call: a name and JSON. */
function asCall({ name, ...definition }: SentFrame["tools"][number]): ToolCallRequest {
  return { type: "tool_call_request", ...STAMP, call_id: "", name, arguments: definition };
}

/** Whether jpg sent the newest request that was counted: jpg stores the provider's id of answers that it streamed. */
export function wasAskedByJpg({ turns }: View): boolean {
  const events = turns.at(-1)?.events ?? [];
  return events.findLast(({ metadata }) => metadata?.usage !== undefined)?.metadata?.["response_id"] !== undefined;
}

// Messages of a view, the unit of the chat thresholds: requests of the user and answers. Summaries are counted apart, never as messages.

/** What a view shows. */
export interface MessageCount {
  /** Users' requests and assistants' messages that are shown, including those of a replacement list. */
  readonly messages: number;
  /** Summaries that replace turns. */
  readonly summaries: number;
}

export function countMessages({ turns }: View): MessageCount {
  let messages = 0;
  let summaries = 0;
  for (const { origin, events } of turns) {
    if (origin.kind === "summary") summaries += 1;
    else messages += events.filter((event) => isMessage(event)).length;
  }
  return { messages, summaries };
}

/** Counts the messages of a view that were said after a time (RFC 3339 UTC). */
export function countMessagesAfter({ turns }: View, timestamp: string): number {
  return turns
    .filter(({ origin }) => origin.kind === "kept")
    .flatMap(({ events }) => events)
    .filter((event) => isMessage(event) && compareTimestamps(event.timestamp, timestamp) > 0).length;
}

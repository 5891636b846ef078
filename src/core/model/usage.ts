// Usage: what a provider counted for one request, read from the shapes of the provider APIs into one. Values come from files that anyone
// may have written, so an implausible count is read as absent.
import { toolsDefinedIn } from "../conversation/defined-tools.ts";
import {
  type Event,
  type EventMetadata,
  type Fields,
  fieldsOf,
  isMessage,
  previousTurn,
  type Turn,
  traitsOf,
} from "../conversation/event.ts";
import { type EstimateKind, estimateEvent, estimateKind, NO_TOKENS } from "../conversation/token-estimate.ts";
import type { ModelPrice } from "./model-provider.ts";

/** Tokens of one request and its answer, counted by the provider, and what is paid in addition; whole numbers ≥ 0. */
export interface Usage {
  /** Sent and neither read from nor written to a cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The answer, reasoning included. Some agents record it before the answer is complete: then it is too small. */
  readonly output: number;
  /** Of `cacheWrite`, what is kept for an hour, which costs more; absent = none. */
  readonly cacheWrite1h?: number;
  /** Web searches that the provider ran; absent = none. */
  readonly webSearches?: number;
}

/** One answer and its place among the events. */
export interface RecordedAnswer {
  /** Position of its first event, 0-based: the request was sent with everything before it. */
  readonly position: number;
  /** Position after its last event. */
  readonly end: number;
  /** Id that its events share; null for a single event without one. */
  readonly message: string | null;
  /** Null if none is recorded. */
  readonly usage: Usage | null;
  /** As the agent wrote it. */
  readonly model?: string;
}

/** Larger than any context: a larger value is no count of tokens. */
const MOST_TOKENS = 1e9;

/**
 * Reads a usage value of Anthropic, OpenAI (chat, responses and what Codex writes), Google, or one with the keys of `Usage`; null when it
 * is none of them or has no plausible count.
 */
export function readUsage(value: unknown): Usage | null {
  const fields = fieldsOf(value);
  const read = SHAPES.find(({ mark }) => mark.some((key) => toCount(fields[key]) !== null))?.read(fields);
  return read === undefined || sizeOf(read) + read.output === 0 ? null : withExtras(read, fields);
}

/** Adds what is paid in addition to plain tokens, as Anthropic counts it and pi writes it. */
function withExtras(usage: Usage, fields: Fields): Usage {
  const hour =
    toCount(fieldsOf(fields["cache_creation"])["ephemeral_1h_input_tokens"]) ?? toCount(fields["cacheWrite1h"]);
  const searches =
    toCount(fieldsOf(fields["server_tool_use"])["web_search_requests"]) ?? toCount(fields["webSearches"]);
  return joinExtras(usage, Math.min(hour ?? 0, usage.cacheWrite), searches ?? 0);
}

function joinExtras(usage: Usage, cacheWrite1h: number, webSearches: number): Usage {
  if (cacheWrite1h === 0 && webSearches === 0) return usage;
  return {
    ...usage,
    ...(cacheWrite1h === 0 ? {} : { cacheWrite1h }),
    ...(webSearches === 0 ? {} : { webSearches }),
  };
}

/** Size of the request that was sent, in tokens. */
export function sizeOf({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/** Adds the usage of two requests. */
export function addUsage(one: Usage, other: Usage): Usage {
  const sum = (key: keyof Usage): number => (one[key] ?? 0) + (other[key] ?? 0);
  const tokens = {
    input: sum("input"),
    cacheRead: sum("cacheRead"),
    cacheWrite: sum("cacheWrite"),
    output: sum("output"),
  };
  return joinExtras(tokens, sum("cacheWrite1h"), sum("webSearches"));
}

/**
 * Lists the answers of events in order. Events of one message are one answer; its last usage counts, since usage is written again while an
 * answer streams.
 */
export function listAnswers(events: readonly Event[]): readonly RecordedAnswer[] {
  const answers = new Map<string, WrittenAnswer>();
  let position = -1;
  for (const event of events) {
    const { metadata } = event;
    position += 1;
    const key = answerKey(metadata, position);
    if (key === null) continue;
    let known = answers.get(key);
    if (known === undefined) {
      known = { position, end: position + 1, message: metadata?.message_id === key ? key : null, usage: null };
      answers.set(key, known);
    }
    // A note may record the usage after the outputs of the answer's calls.
    if (event.type !== "note") known.end = position + 1;
    if (metadata?.usage !== undefined) known.usage = readUsage(metadata.usage) ?? known.usage;
    if (typeof metadata?.model === "string") known.model = metadata.model;
  }
  return [...answers.values()];
}

type WrittenAnswer = { -readonly [Key in keyof RecordedAnswer]: RecordedAnswer[Key] };

/** Whether a request was counted. Requests of size 0, as agents write for messages of their own, are not. */
export function isCounted<One extends { readonly usage: Usage | null }>(
  answer: One,
): answer is One & { readonly usage: Usage } {
  return answer.usage !== null && sizeOf(answer.usage) > 0;
}

/** What events of one answer share; null for events that belong to no request. */
function answerKey(metadata: EventMetadata | undefined, position: number): string | null {
  const id: unknown = metadata?.message_id;
  if (typeof id === "string") return id;
  return metadata?.usage === undefined ? null : `#${position}`;
}

interface Shape {
  /** Keys of which one identifies the shape. */
  readonly mark: readonly string[];
  read(fields: Fields): Usage;
}

/** In this order: the first whose mark is present. Only Anthropic counts cached tokens in addition to the input, not within it. */
const SHAPES: readonly Shape[] = [
  {
    mark: ["cache_read_input_tokens", "cache_creation_input_tokens"],
    read: (fields) => ({
      input: toCount(fields["input_tokens"]) ?? 0,
      cacheRead: toCount(fields["cache_read_input_tokens"]) ?? 0,
      cacheWrite: toCount(fields["cache_creation_input_tokens"]) ?? 0,
      output: toCount(fields["output_tokens"]) ?? 0,
    }),
  },
  {
    mark: ["input_tokens"],
    read: (fields) =>
      split(fields["input_tokens"], {
        cached: fieldsOf(fields["input_tokens_details"])["cached_tokens"] ?? fields["cached_input_tokens"],
        output: [fields["output_tokens"]],
      }),
  },
  {
    mark: ["prompt_tokens"],
    read: (fields) =>
      split(fields["prompt_tokens"], {
        cached: fieldsOf(fields["prompt_tokens_details"])["cached_tokens"],
        output: [fields["completion_tokens"]],
      }),
  },
  {
    mark: ["promptTokenCount"],
    read: (fields) =>
      split(fields["promptTokenCount"], {
        cached: fields["cachedContentTokenCount"],
        output: [fields["candidatesTokenCount"], fields["thoughtsTokenCount"]],
      }),
  },
  {
    // Gemini CLI: part of its input, too, was cached.
    mark: ["cached", "thoughts"],
    read: (fields) =>
      split(fields["input"], { cached: fields["cached"], output: [fields["output"], fields["thoughts"]] }),
  },
  {
    mark: ["input", "cacheRead", "cacheWrite"],
    read: (fields) => ({
      input: toCount(fields["input"]) ?? 0,
      cacheRead: toCount(fields["cacheRead"]) ?? 0,
      cacheWrite: toCount(fields["cacheWrite"]) ?? 0,
      output: toCount(fields["output"]) ?? 0,
    }),
  },
];

/** Subtracts the cached tokens from an input that includes them. */
function split(sent: unknown, { cached, output }: { cached: unknown; output: readonly unknown[] }): Usage {
  const size = toCount(sent) ?? 0;
  const cacheRead = Math.min(toCount(cached) ?? 0, size);
  const answered = output.reduce<number>((sum, part) => sum + (toCount(part) ?? 0), 0);
  return { input: size - cacheRead, cacheRead, cacheWrite: 0, output: answered };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : null;
}

// What counting a conversation needs to know of a turn. It follows from the turn alone.

/** An answer, or the part of one in a turn. Tokens are whole numbers of one counter. */
export interface AnswerFacts {
  /** Id that its events share, in other turns too; null for a single event without one. */
  readonly message: string | null;
  /** Tokens of the turn's events before it. */
  readonly before: number;
  /** Tokens of these events up to its end. */
  readonly through: number;
  /** Null if none is recorded. */
  readonly usage: Usage | null;
  /** As the agent wrote it. */
  readonly model?: string;
  /** When it began; empty when its event does not say. */
  readonly time: string;
}

export interface TurnFacts {
  /** Position of the turn, 0-based. */
  readonly index: number;
  /** Events of the kinds that are counted. */
  readonly events: number;
  /** Requests of the user and answers among them. */
  readonly messages: number;
  /** Names of the tools that are called, each once. */
  readonly tools: readonly string[];
  /** Names of the tools that config deltas among its events define, each once; absent = none. */
  readonly defines?: readonly string[];
  /** Tokens of all its events, whole. */
  readonly tokens: number;
  /** The same by kind. */
  readonly kinds: Readonly<Record<EstimateKind, number>>;
  readonly answers: readonly AnswerFacts[];
  /** The model that answered last; null when no answer names one. */
  readonly model: string | null;
  /** Object id of the turn file that it says it follows. */
  readonly previous: string | null;
}

/** Computes the facts of a turn. */
export function turnFacts({ index, events }: Turn): TurnFacts {
  const kinds = { ...NO_TOKENS };
  /** Tokens of all events before each position; one longer than the events. */
  const sums = [0];
  let tokens = 0;
  let [counted, messages] = [0, 0];
  const tools = new Set<string>();
  const defines = toolsDefinedIn(events);
  for (const event of events) {
    const own = estimateEvent(event);
    const kind = estimateKind(event);
    if (kind !== null) kinds[kind] += own;
    tokens += own;
    sums.push(tokens);
    if (traitsOf(event).counted) counted += 1;
    if (isMessage(event)) messages += 1;
    if (event.type === "tool_call_request") tools.add(event.name);
  }
  return {
    index,
    events: counted,
    messages,
    tools: [...tools],
    ...(defines.length === 0 ? {} : { defines }),
    tokens,
    kinds,
    answers: listAnswers(events).map(({ position, end, ...answer }) => ({
      ...answer,
      before: sums[position] ?? 0,
      through: sums[end] ?? 0,
      time: events[position]?.timestamp ?? "",
    })),
    model: modelOf(events),
    previous: previousTurn(events),
  };
}

/** The model that answers in these events, as the newest of them names it; null when none does. */
function modelOf(events: readonly Event[]): string | null {
  const model = events.findLast(({ type, metadata }) => type === "chat_response" && metadata?.model !== undefined);
  return typeof model?.metadata?.model === "string" ? model.metadata.model : null;
}

// What a request cost: usage times the prices of its model. An unknown price is null everywhere, never 0.

const MILLION = 1_000_000;

const THOUSAND = 1000;
/** US dollars for a thousand searches if no other price is listed. */
const WEB_SEARCHES = 10;
/** Price of a cache that is kept for an hour, in prices of input, if no other is listed. */
const HOUR_IN_INPUTS = 2;

/** Computes the price of one request, US dollars. Sums of requests are sums of prices: prices depend on a request's size. */
export function priceOf(usage: Usage, price: ModelPrice): number {
  const prices = price.larger?.findLast(({ above }) => sizeOf(usage) > above) ?? price;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h: hour = 0, webSearches = 0 } = usage;
  const tokens =
    input * prices.input +
    output * prices.output +
    cacheRead * prices.cacheRead +
    (cacheWrite - hour) * prices.cacheWrite +
    hour * (prices.cacheWrite1h ?? HOUR_IN_INPUTS * prices.input);
  return tokens / MILLION + (webSearches * (price.webSearches ?? WEB_SEARCHES)) / THOUSAND;
}

// Usage: what a provider counted for one request, read from the shapes of the provider APIs into one. Values come from
// files that anyone may have written, so what is no plausible count is read as absent.
import type { Event, EventMetadata } from "../event/event.ts";
import { type Fields, fieldsOf } from "../event/fields.ts";

/** Tokens of one request and its answer, counted by the provider; whole numbers ≥ 0. */
export interface Usage {
  /** Sent and neither read from nor written to a cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** The answer, reasoning included. Some agents record it before the answer is complete: then it is too small. */
  readonly output: number;
}

/** One answer, where it stands among the events. */
export interface RecordedAnswer {
  /** Position of its first event, 0-based: the request was sent with what stands before it. */
  readonly position: number;
  /** Position after its last event. */
  readonly end: number;
  /** Id that its events share; null of one that is a single event. */
  readonly message: string | null;
  /** Null where none is recorded. */
  readonly usage: Usage | null;
  /** As the agent wrote it. */
  readonly model?: string;
}

/** Larger than any context: what is above it is no count of tokens. */
const MOST_TOKENS = 1e9;

/**
 * Reads a usage value of Anthropic, OpenAI (chat, responses and what Codex writes), Google, or one with the keys of
 * `Usage`; null when it is none of them or holds no plausible count.
 */
export function readUsage(value: unknown): Usage | null {
  const fields = fieldsOf(value);
  const read = SHAPES.find(({ mark }) => mark.some((key) => toCount(fields[key]) !== null))?.read(fields);
  return read === undefined || sizeOf(read) + read.output === 0 ? null : read;
}

/** Size of the request that was sent, in tokens. */
export function sizeOf({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite;
}

/** Usage of two requests together. */
export function addUsage(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
    output: one.output + other.output,
  };
}

/**
 * Lists the answers of events in order. Events of one message are one answer; its last usage counts, since usage is written
 * again while an answer streams.
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
    // A note may tell what was counted once the outputs of the answer's calls are there.
    if (event.type !== "note") known.end = position + 1;
    if (metadata?.usage !== undefined) known.usage = readUsage(metadata.usage) ?? known.usage;
    if (typeof metadata?.model === "string") known.model = metadata.model;
  }
  return [...answers.values()];
}

type WrittenAnswer = { -readonly [Key in keyof RecordedAnswer]: RecordedAnswer[Key] };

/** Whether a request was counted. Requests of size 0, as agents write for messages of their own, are none. */
export function isCounted<One extends { readonly usage: Usage | null }>(
  answer: One,
): answer is One & { readonly usage: Usage } {
  return answer.usage !== null && sizeOf(answer.usage) > 0;
}

/** What events of one answer share; null where nothing tells of a request. */
function answerKey(metadata: EventMetadata | undefined, position: number): string | null {
  const id: unknown = metadata?.message_id;
  if (typeof id === "string") return id;
  return metadata?.usage === undefined ? null : `#${position}`;
}

interface Shape {
  /** Keys of which one tells the shape. */
  readonly mark: readonly string[];
  read(fields: Fields): Usage;
}

/** In this order: the first whose mark is there. Only Anthropic counts cached tokens beside the input, not within it. */
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
    mark: ["input", "cacheRead", "cacheWrite"],
    read: (fields) => ({
      input: toCount(fields["input"]) ?? 0,
      cacheRead: toCount(fields["cacheRead"]) ?? 0,
      cacheWrite: toCount(fields["cacheWrite"]) ?? 0,
      output: toCount(fields["output"]) ?? 0,
    }),
  },
];

/** Takes the cached tokens out of an input that includes them. */
function split(sent: unknown, { cached, output }: { cached: unknown; output: readonly unknown[] }): Usage {
  const size = toCount(sent) ?? 0;
  const cacheRead = Math.min(toCount(cached) ?? 0, size);
  const answered = output.reduce<number>((sum, part) => sum + (toCount(part) ?? 0), 0);
  return { input: size - cacheRead, cacheRead, cacheWrite: 0, output: answered };
}

function toCount(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS ? value : null;
}

// Client of Anthropic's Messages API. The library is used through its plain `post`: its own methods print warnings about models, and
// the other APIs' methods are three quarters of its size.
import { type Anthropic, BaseAnthropic } from "@anthropic-ai/sdk";
import { Models } from "@anthropic-ai/sdk/resources/models";
import {
  type AnswerPart,
  type Completion,
  type ListedModel,
  type LlmClient,
  type LlmConnection,
  type Stop,
  type StopReason,
  type StreamPart,
  stopReason,
  toAnthropicBody,
  toAnthropicInput,
  toToolCall,
} from "./client.ts";
import { DEFAULT_URLS } from "./errors.ts";
import { type Exchange, type KnownAnswer, LONGEST_TIMER } from "./exchange.ts";
import { askProvider, completeAnswer, streamAnswer } from "./tries.ts";

/** Models per page of the list: the API's maximum. */
const PAGE = 1000;

/** Creates a client of Anthropic's API. */
export function createAnthropicClient(connection: LlmConnection): LlmClient {
  return {
    api: "anthropic",
    provider: connection.provider,
    stream: (request) => {
      const body = toAnthropicBody(request, true);
      return streamAnswer(connection, request, async function* (exchange) {
        const events = await openSdk(connection, exchange).post(PATH, { body, stream: true });
        yield* readAnthropicStream(events as AsyncIterable<Anthropic.RawMessageStreamEvent>, exchange.known);
      });
    },
    complete: async (request) => {
      const body = toAnthropicBody(request, false);
      return completeAnswer(connection, request, async (exchange) => {
        const message = await openSdk(connection, exchange).post(PATH, { body });
        return readAnthropicMessage(message as Anthropic.Message, exchange.known);
      });
    },
    countTokens: async (request) => {
      const body = toAnthropicInput(request);
      return askProvider(connection, request, async (exchange) => {
        const count = await openSdk(connection, exchange).post(`${PATH}/count_tokens`, { body });
        const { input_tokens } = count as Partial<Anthropic.MessageTokensCount>;
        if (input_tokens === undefined) throw new TypeError("no count");
        return input_tokens;
      });
    },
    listModels: (signal) =>
      askProvider(connection, { signal }, async (exchange) => {
        const models: ListedModel[] = [];
        const pages = new Models(openSdk(connection, exchange)).list({ limit: PAGE });
        for await (const model of pages) models.push(toListed(model));
        return models;
      }),
  };
}

const PATH = "/v1/messages";

/** Every option is set, so that the library reads nothing from the environment. */
function openSdk({ apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): BaseAnthropic {
  return new BaseAnthropic({
    // The exchange authenticates requests; without a key here the library would search for one.
    apiKey: apiKey || "none",
    baseURL: (baseUrl ?? DEFAULT_URLS.anthropic).replace(/(?:\/v1)?\/*$/, ""),
    fetch,
    maxRetries: 0,
    timeout: LONGEST_TIMER,
    logLevel: "off",
    webhookKey: null,
    openTelemetry: false,
  });
}

function toListed({
  id,
  max_input_tokens,
  max_tokens,
  lifecycle,
  retires_at,
  deprecated_at,
}: Anthropic.ModelInfo): ListedModel {
  const retires = lifecycle === "active" ? undefined : (retires_at ?? deprecated_at ?? undefined);
  return {
    name: id,
    ...(max_input_tokens ? { contextWindow: max_input_tokens } : {}),
    ...(max_tokens ? { maxOutput: max_tokens } : {}),
    retires,
  };
}

// Reads answers of the Messages API, streamed and whole, into parts. Drops blocks of kinds that jpg never asks for (results of the
// provider's own tools).

type Block = Anthropic.ContentBlock;
type StreamEvent = Anthropic.RawMessageStreamEvent;
type Usage = Readonly<Record<string, unknown>>;

/** An unfinished block. */
interface Draft {
  readonly block: Block;
  text: string;
  signature: string;
}

const REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "complete",
  stop_sequence: "complete",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

/** Reads a stream. Ends without a stop if the stream does. */
export async function* readAnthropicStream(
  events: AsyncIterable<StreamEvent>,
  known: KnownAnswer,
): AsyncGenerator<StreamPart> {
  const drafts = new Map<number, Draft>();
  let reason: string | null = null;
  for await (const event of events) {
    switch (event.type) {
      case "message_start":
        keepMessage(known, event.message);
        break;
      case "content_block_start":
        drafts.set(event.index, draftOf(event.content_block));
        yield* initialDelta(event.content_block);
        break;
      case "content_block_delta":
        yield* addDelta(drafts.get(event.index), event.delta);
        break;
      case "content_block_stop":
        yield* finishDraft(drafts, event.index);
        break;
      case "message_delta":
        reason = event.delta.stop_reason;
        known.usage = mergeUsage(known.usage, event.usage);
        break;
      case "message_stop":
        // Some servers omit the ends of blocks.
        for (const index of [...drafts.keys()]) yield* finishDraft(drafts, index);
        yield { type: "stop", stop: stopOf(reason, known) };
        break;
      default: // what newer versions of the API send besides
    }
  }
}

export function readAnthropicMessage(message: Anthropic.Message, known: KnownAnswer): Completion {
  keepMessage(known, message);
  return { parts: message.content.flatMap(partOf), stop: stopOf(message.stop_reason, known) };
}

function keepMessage(known: KnownAnswer, { id, model, usage }: Anthropic.Message): void {
  known.id = id;
  known.model = model || known.model;
  known.usage = usage;
}

function draftOf(block: Block): Draft {
  switch (block.type) {
    case "text":
      return { block, text: block.text, signature: "" };
    case "thinking":
      return { block, text: block.thinking, signature: block.signature ?? "" };
    default:
      return { block, text: "", signature: "" };
  }
}

function* initialDelta(block: Block): Generator<StreamPart> {
  if (block.type === "text" && block.text !== "") yield { type: "delta", kind: "message", text: block.text };
  if (block.type === "thinking" && block.thinking !== "")
    yield { type: "delta", kind: "reasoning", text: block.thinking };
}

function* addDelta(draft: Draft | undefined, delta: Anthropic.RawContentBlockDelta): Generator<StreamPart> {
  if (draft === undefined) return;
  switch (delta.type) {
    case "text_delta":
      draft.text += delta.text;
      yield { type: "delta", kind: "message", text: delta.text };
      break;
    case "thinking_delta":
      draft.text += delta.thinking;
      yield { type: "delta", kind: "reasoning", text: delta.thinking };
      break;
    case "signature_delta":
      draft.signature += delta.signature;
      break;
    case "input_json_delta":
      draft.text += delta.partial_json;
      break;
    default: // citations and the like
  }
}

function* finishDraft(drafts: Map<number, Draft>, index: number): Generator<StreamPart> {
  const draft = drafts.get(index);
  drafts.delete(index);
  if (draft === undefined) return;
  for (const part of finishedParts(draft)) yield { type: "part", part };
}

function finishedParts({ block, text, signature }: Draft): readonly AnswerPart[] {
  switch (block.type) {
    case "text":
      return partOf({ ...block, text });
    case "thinking":
      return partOf({ ...block, thinking: text, signature });
    case "tool_use":
      // Some servers send the input at the start instead.
      return text === "" ? partOf(block) : [toToolCall({ callId: block.id, name: block.name, text })];
    default:
      return partOf(block);
  }
}

function partOf(block: Block): readonly AnswerPart[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ kind: "message", text: block.text }];
    case "thinking": {
      const metadata = block.signature ? { metadata: { signature: block.signature } } : {};
      return [{ kind: "reasoning", text: block.thinking, ...metadata }];
    }
    case "redacted_thinking":
      return [{ kind: "reasoning", text: "", metadata: { encrypted: block.data } }];
    case "tool_use":
      return [toToolCall({ callId: block.id, name: block.name, text: JSON.stringify(block.input ?? {}) })];
    default:
      return [];
  }
}

/** Later counts replace earlier ones; the end of a stream repeats only some. */
function mergeUsage(earlier: unknown, later: unknown): Usage {
  const counts = Object.entries((later ?? {}) as Usage).filter(([, count]) => count !== null);
  return { ...(earlier as Usage | null), ...Object.fromEntries(counts) };
}

function stopOf(reason: string | null, { id, model, usage }: KnownAnswer): Stop {
  return { reason: stopReason(REASONS, reason), providerReason: reason, usage: usage ?? null, model, id };
}

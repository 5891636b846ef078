// Reads answers of Anthropic's Messages API, streamed and whole, into parts. Blocks of kinds that jpg never asks for (results of
// the provider's own tools) are left out.
import type { Anthropic } from "@anthropic-ai/sdk";
import type { KnownAnswer } from "./exchange.ts";
import type { AnswerPart, Completion, Stop, StopReason, StreamPart } from "./llm-client.ts";
import { stopReason } from "./stop-reason.ts";
import { toToolCall } from "./tool-arguments.ts";

type Block = Anthropic.ContentBlock;
type StreamEvent = Anthropic.RawMessageStreamEvent;
type Usage = Readonly<Record<string, unknown>>;

/** A block while it streams in. */
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

/** Reads a stream. Ends without a stop when the stream does. */
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
        // Some servers leave out the ends of blocks.
        for (const index of [...drafts.keys()]) yield* finishDraft(drafts, index);
        yield { type: "stop", stop: stopOf(reason, known) };
        break;
      default: // what newer versions of the API send besides
    }
  }
}

/** Reads an answer that came in one piece. */
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
      // A server may give the input at the start instead.
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

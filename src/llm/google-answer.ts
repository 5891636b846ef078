// Reads answers of Google's generateContent, streamed and whole, into parts. The API gives calls whole and mostly without ids,
// and thought signatures at any part; a stream has the end of its answer in its last chunk.
import type { GenerateContentResponse, Part } from "@google/genai/web";
import type { KnownAnswer } from "./exchange.ts";
import type { AnswerPart, Completion, Stop, StopReason, StreamPart } from "./llm-client.ts";
import { stopReason } from "./stop-reason.ts";
import { madeUpId, toToolCall } from "./tool-arguments.ts";

/** An answer while it streams in. */
interface Draft {
  /** The text at hand; neighbours of one kind are one part. */
  current: { readonly kind: "message" | "reasoning"; text: string; signature: string | undefined } | null;
  /** Calls so far. */
  calls: number;
  /** The provider's word for the end; null until it comes. */
  reason: string | null;
  isBlocked: boolean;
}

const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "complete",
  // Servers that only speak like Google's say so.
  FUNCTION_CALL: "tool_calls",
  MAX_TOKENS: "length",
  SAFETY: "refusal",
  RECITATION: "refusal",
  LANGUAGE: "refusal",
  BLOCKLIST: "refusal",
  PROHIBITED_CONTENT: "refusal",
  SPII: "refusal",
  IMAGE_SAFETY: "refusal",
  IMAGE_PROHIBITED_CONTENT: "refusal",
  IMAGE_RECITATION: "refusal",
};

/** Reads a stream. Ends without a stop when the stream ends without a finish reason. */
export async function* readGoogleStream(
  chunks: AsyncIterable<GenerateContentResponse>,
  known: KnownAnswer,
): AsyncGenerator<StreamPart> {
  const draft = createDraft();
  for await (const chunk of chunks) yield* addChunk(draft, chunk, known);
  if (draft.reason === null) return;
  yield* finishText(draft);
  yield { type: "stop", stop: stopOf(draft, known) };
}

/** Reads an answer that came in one piece; throws where there is none. */
export function readGoogleResponse(response: GenerateContentResponse, known: KnownAnswer): Completion {
  const draft = createDraft();
  const streamed = [...addChunk(draft, response, known), ...finishText(draft)];
  if (response.candidates === undefined && !draft.isBlocked) throw new TypeError("no candidate");
  const parts = streamed.flatMap((item) => (item.type === "part" ? [item.part] : []));
  return { parts, stop: stopOf(draft, known) };
}

function createDraft(): Draft {
  return { current: null, calls: 0, reason: null, isBlocked: false };
}

function* addChunk(draft: Draft, chunk: GenerateContentResponse, known: KnownAnswer): Generator<StreamPart> {
  known.id = chunk.responseId ?? known.id;
  known.model = chunk.modelVersion || known.model;
  known.usage = chunk.usageMetadata ?? known.usage;
  const [candidate] = chunk.candidates ?? [];
  for (const part of candidate?.content?.parts ?? []) yield* addPart(draft, part, known);
  const blocked = chunk.promptFeedback?.blockReason;
  if (blocked !== undefined) draft.isBlocked = true;
  draft.reason = candidate?.finishReason ?? blocked ?? draft.reason;
}

function* addPart(draft: Draft, part: Part, known: KnownAnswer): Generator<StreamPart> {
  const { text, functionCall, thoughtSignature: signature } = part;
  if (functionCall !== undefined) {
    yield* finishText(draft);
    const callId = functionCall.id || madeUpId(known.id, draft.calls);
    draft.calls += 1;
    const call = { callId, name: functionCall.name ?? "", text: JSON.stringify(functionCall.args ?? {}), signature };
    yield { type: "part", part: toToolCall(call) };
    return;
  }
  if (text === undefined) return;
  const kind = part.thought === true ? "reasoning" : "message";
  if (draft.current?.kind !== kind) {
    // A signature may come in an empty part after the text that it belongs to.
    if (text === "" && draft.current === null && signature === undefined) return;
    yield* finishText(draft);
    draft.current = { kind, text: "", signature: undefined };
  }
  draft.current.text += text;
  draft.current.signature = signature ?? draft.current.signature;
  if (text !== "") yield { type: "delta", kind, text };
}

function* finishText(draft: Draft): Generator<StreamPart> {
  const { current } = draft;
  draft.current = null;
  if (current === null || (current.text === "" && current.signature === undefined)) return;
  const { kind, text, signature } = current;
  const part: AnswerPart = { kind, text, ...(signature !== undefined && { metadata: { signature } }) };
  yield { type: "part", part };
}

function stopOf({ calls, reason, isBlocked }: Draft, { id, model, usage }: KnownAnswer): Stop {
  const named = stopReason(REASONS, reason);
  const whole = named === "complete" && calls > 0 ? "tool_calls" : named;
  return { reason: isBlocked ? "refusal" : whole, providerReason: reason, usage: usage ?? null, model, id };
}

// Client of servers with OpenAI's Chat Completions: Groq, OpenRouter, Ollama, llama.cpp, LM Studio and many more.
import { type Fields, fieldsOf } from "../core/conversation/event.ts";
import {
  type AnswerPart,
  type Completion,
  generateCallId,
  type LlmClient,
  type LlmConnection,
  type Stop,
  type StopReason,
  type StreamPart,
  stopReason,
  toToolCall,
} from "./client.ts";
import { StreamedError } from "./errors.ts";
import type { KnownAnswer } from "./exchange.ts";
import { toChatBody } from "./openai-chat-request.ts";
import { listOpenAiModels, openOpenAi } from "./openai-sdk.ts";
import { completeAnswer, streamAnswer } from "./tries.ts";

const PATH = "/chat/completions";

/** Creates a client of an OpenAI-compatible server. */
export function createChatClient(connection: LlmConnection): LlmClient {
  return {
    api: "openai-chat",
    provider: connection.provider,
    stream: (request) => {
      const body = toChatBody(connection, request, true);
      return streamAnswer(connection, request, async function* (exchange) {
        const chunks = await openOpenAi(connection, exchange).post(PATH, { body, stream: true });
        yield* readChatStream(chunks as AsyncIterable<unknown>, exchange.known);
      });
    },
    complete: async (request) => {
      const body = toChatBody(connection, request, false);
      return completeAnswer(connection, request, async (exchange) =>
        readChatCompletion(await openOpenAi(connection, exchange).post(PATH, { body }), exchange.known),
      );
    },
    listModels: (signal) => listOpenAiModels(connection, signal),
  };
}

// Reads answers of Chat Completions, streamed and whole, into parts. Servers differ: reasoning has two names, calls come in pieces
// or whole, with or without ids and numbers. So fields are read defensively, not as the library types them.

type Kind = "message" | "reasoning";

interface CallDraft {
  readonly index: unknown;
  id: string;
  name: string;
  text: string;
}

/** An unfinished answer. */
interface Draft {
  /** The current text. */
  current: { readonly kind: Kind; text: string } | null;
  readonly calls: CallDraft[];
  hasRefusal: boolean;
}

const REASONS: Readonly<Record<string, StopReason>> = {
  stop: "complete",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  length: "length",
  content_filter: "refusal",
};

/** Reads a stream. Ends without a stop if the stream has no finish reason. */
export async function* readChatStream(chunks: AsyncIterable<unknown>, known: KnownAnswer): AsyncGenerator<StreamPart> {
  const draft: Draft = { current: null, calls: [], hasRefusal: false };
  let reason: string | null = null;
  for await (const chunk of chunks) {
    const choice = keepChunk(known, fieldsOf(chunk));
    yield* addDelta(draft, fieldsOf(choice["delta"]));
    if (typeof choice["finish_reason"] === "string") reason = choice["finish_reason"];
  }
  if (reason === null) return;
  yield* finishText(draft);
  for (const part of toParts(draft, known)) yield { type: "part", part };
  yield { type: "stop", stop: stopOf(reason, draft, known) };
}

/** Reads an answer in one piece; throws an error sent in its place. */
export function readChatCompletion(completion: unknown, known: KnownAnswer): Completion {
  const choice = keepChunk(known, fieldsOf(completion));
  if (typeof choice["message"] !== "object")
    throw new StreamedError(fieldsOf(completion)["error"] ?? { type: "server_error" });
  const draft: Draft = { current: null, calls: [], hasRefusal: false };
  const parts: AnswerPart[] = [];
  const streamed = [...addDelta(draft, fieldsOf(choice["message"])), ...finishText(draft)];
  for (const item of streamed) if (item.type === "part") parts.push(item.part);
  const reason = typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null;
  return { parts: [...parts, ...toParts(draft, known)], stop: stopOf(reason, draft, known) };
}

/** Records what a chunk says about the whole answer; returns its choice. */
function keepChunk(known: KnownAnswer, chunk: Fields): Fields {
  const { id, model, usage, choices, x_groq } = chunk;
  if (typeof id === "string" && id !== "") known.id = id;
  if (typeof model === "string" && model !== "") known.model = model;
  known.usage = usage ?? fieldsOf(x_groq)["usage"] ?? known.usage;
  return fieldsOf(Array.isArray(choices) ? choices[0] : null);
}

function* addDelta(draft: Draft, delta: Fields): Generator<StreamPart> {
  const { content, refusal, tool_calls } = delta;
  yield* addText(draft, "reasoning", delta["reasoning_content"] ?? delta["reasoning"]);
  yield* addText(draft, "message", content);
  if (typeof refusal === "string" && refusal !== "") draft.hasRefusal = true;
  yield* addText(draft, "message", refusal);
  const calls: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : [];
  if (calls.length > 0) yield* finishText(draft);
  for (const call of calls) addCall(draft, fieldsOf(call));
}

function* addText(draft: Draft, kind: Kind, text: unknown): Generator<StreamPart> {
  if (typeof text !== "string" || text === "") return;
  if (draft.current?.kind !== kind) {
    yield* finishText(draft);
    draft.current = { kind, text: "" };
  }
  draft.current.text += text;
  yield { type: "delta", kind, text };
}

function* finishText(draft: Draft): Generator<StreamPart> {
  const { current } = draft;
  draft.current = null;
  if (current !== null) yield { type: "part", part: current };
}

/** A piece belongs to the call with its index; servers that use one index for all calls give each an id. */
function addCall({ calls }: Draft, piece: Fields): void {
  const { id, index } = piece;
  const { name, arguments: text } = fieldsOf(piece["function"]);
  const isNew = (call: CallDraft): boolean => typeof id === "string" && id !== "" && call.id !== "" && call.id !== id;
  const last = calls.findLast((call) => index === undefined || call.index === index);
  let call = last;
  if (call === undefined || isNew(call) || (index === undefined && typeof name === "string" && name !== "")) {
    call = { index, id: "", name: "", text: "" };
    calls.push(call);
  }
  if (typeof id === "string") call.id ||= id;
  if (typeof name === "string") call.name ||= name;
  call.text += typeof text === "string" ? text : text === undefined || text === null ? "" : JSON.stringify(text);
}

function toParts({ calls }: Draft, known: KnownAnswer): readonly AnswerPart[] {
  return calls.map(({ id, name, text }, position) =>
    toToolCall({ callId: id || generateCallId(known.id, position), name, text }),
  );
}

function stopOf(reason: string | null, draft: Draft, { id, model, usage }: KnownAnswer): Stop {
  return { reason: whole(stopReason(REASONS, reason), draft), providerReason: reason, usage: usage ?? null, model, id };
}

/** Some servers end every answer with `stop`. */
function whole(reason: StopReason, { calls, hasRefusal }: Draft): StopReason {
  if (reason !== "complete" && reason !== "tool_calls") return reason;
  if (hasRefusal) return "refusal";
  return calls.length > 0 ? "tool_calls" : "complete";
}

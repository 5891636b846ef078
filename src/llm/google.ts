// Client of Google's Gemini API. Uses the library's browser build on purpose: the Node build reads keys, projects and addresses from
// the environment, prints warnings about them, and includes Google's sign-in.
import { type GenerateContentResponse, GoogleGenAI, type Model, type Part } from "@google/genai/web";
import { appendAll } from "../core/lists.ts";
import {
  type AnswerPart,
  type Completion,
  generateCallId,
  type ListedModel,
  type LlmClient,
  type LlmConnection,
  type Stop,
  type StopReason,
  type StreamPart,
  stopReason,
  toCountedContents,
  toGoogleParameters,
  toToolCall,
} from "./client.ts";
import { DEFAULT_URLS } from "./errors.ts";
import type { Exchange, KnownAnswer } from "./exchange.ts";
import { askProvider, completeAnswer, streamAnswer } from "./tries.ts";

/** Models per page of the list: the API's maximum. */
const PAGE = 1000;

/** Creates a client of Google's API. */
export function createGoogleClient(connection: LlmConnection): LlmClient {
  return {
    api: "google",
    provider: connection.provider,
    stream: (request) => {
      const parameters = toGoogleParameters(request);
      return streamAnswer(connection, request, async function* (exchange) {
        const chunks = await openSdk(connection, exchange).models.generateContentStream(parameters);
        yield* readGoogleStream(chunks, exchange.known);
      });
    },
    complete: async (request) => {
      const parameters = toGoogleParameters(request);
      return completeAnswer(connection, request, async (exchange) =>
        readGoogleResponse(await openSdk(connection, exchange).models.generateContent(parameters), exchange.known),
      );
    },
    countTokens: async (request) => {
      const counted = { model: request.model, contents: toCountedContents(request) };
      return askProvider(connection, request, async (exchange) => {
        const { totalTokens } = await openSdk(connection, exchange).models.countTokens(counted);
        if (totalTokens === undefined) throw new TypeError("no count");
        return totalTokens;
      });
    },
    listModels: (signal) =>
      askProvider(connection, { signal }, async (exchange) => {
        const models: ListedModel[] = [];
        const pages = await openSdk(connection, exchange).models.list({ config: { pageSize: PAGE } });
        for await (const model of pages) appendAll(models, toListed(model));
        return models;
      }),
  };
}

function openSdk({ apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): GoogleGenAI {
  return new GoogleGenAI({
    // The exchange authenticates requests; the library needs a key to start.
    apiKey: apiKey || "none",
    vertexai: false,
    httpOptions: { baseUrl: (baseUrl ?? DEFAULT_URLS.google).replace(/(?:\/v1beta)?\/*$/, ""), fetch },
  });
}

/** Drops models that make images or vectors. */
function toListed({ name = "", inputTokenLimit, outputTokenLimit, supportedActions }: Model): readonly ListedModel[] {
  if (supportedActions !== undefined && !supportedActions.includes("generateContent")) return [];
  return [
    {
      name: name.replace(/^models\//, ""),
      ...(inputTokenLimit ? { contextWindow: inputTokenLimit } : {}),
      ...(outputTokenLimit ? { maxOutput: outputTokenLimit } : {}),
    },
  ];
}

// Reads answers of generateContent, streamed and whole, into parts. The API sends calls whole and mostly without ids, and thought
// signatures on any part; a stream's last chunk has the finish reason.

/** An unfinished answer. */
interface Draft {
  /** The current text; neighbours of one kind are one part. */
  current: { readonly kind: "message" | "reasoning"; text: string; signature: string | undefined } | null;
  /** Calls so far. */
  calls: number;
  /** The finish reason; null until it comes. */
  reason: string | null;
  isBlocked: boolean;
}

const REASONS: Readonly<Record<string, StopReason>> = {
  STOP: "complete",
  // Sent by servers that imitate Google's API.
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

/** Reads a stream. Ends without a stop if the stream has no finish reason. */
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

/** Reads an answer in one piece; throws if there is none. */
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
    const callId = functionCall.id || generateCallId(known.id, draft.calls);
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
  const part: AnswerPart = { kind, text, metadata: signature === undefined ? undefined : { signature } };
  yield { type: "part", part };
}

function stopOf({ calls, reason, isBlocked }: Draft, { id, model, usage }: KnownAnswer): Stop {
  const named = stopReason(REASONS, reason);
  const whole = named === "complete" && calls > 0 ? "tool_calls" : named;
  return { reason: isBlocked ? "refusal" : whole, providerReason: reason, usage: usage ?? null, model, id };
}

// The interface to models. Adapters render the view for their API (hardened, so that it is accepted) and turn the stream into parts.
// Invariant: an answer is complete only when its last part says so.
import type { Content, GenerateContentConfig, GenerateContentParameters, Part } from "@google/genai/web";
import type { ToolDefinition } from "../core/conversation/defined-tools.ts";
import { isFields, type View } from "../core/conversation/event.ts";
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../core/json.ts";
import { toAnthropicThread } from "../core/model/anthropic-thread.ts";
import { toGoogleThread } from "../core/model/google-thread.ts";
import type { ProviderApi } from "../core/model/model-provider.ts";
import { joinPrompts, splitPrompts } from "../core/model/thread.ts";

/** One request to a model. */
export interface LlmRequest {
  /** The provider's name of the model, without the provider. */
  readonly model: string;
  /** Rendered and hardened by the adapter. */
  readonly view: View;
  /** System prompt, before those at the view's start. */
  readonly system?: string;
  readonly tools?: readonly ToolDefinition[];
  /** Longest answer, tokens; absent = the adapter's default. */
  readonly maxTokens?: number;
  /** More requests will soon begin with this one: the provider is asked to cache it, where it must be asked (default false). */
  readonly cache?: boolean;
  /** Called before each wait for another try. */
  readonly onRetry?: (retry: Retry) => void;
  /** Ends the request: the stream ends with a stop of reason `aborted`; earlier deltas stay valid, but an unfinished part is dropped. */
  readonly signal?: AbortSignal;
}

/** A failed try, and the wait before the next. */
export interface Retry {
  readonly error: Error;
  readonly waitMs: number;
}

/** One event of an answer. */
export type AnswerPart =
  | { readonly kind: "message"; readonly text: string; readonly metadata?: PartMetadata }
  | { readonly kind: "reasoning"; readonly text: string; readonly metadata?: PartMetadata }
  | {
      readonly kind: "tool_call";
      /** The provider's id; generated if the API has none. */
      readonly callId: string;
      readonly name: string;
      /** Parsed; null when the model wrote no valid JSON object: `text` has what it wrote. */
      readonly arguments: Readonly<Record<string, unknown>> | null;
      readonly text: string;
      readonly metadata?: PartMetadata;
    };

/** Data that only the provider needs back; goes to the event's metadata. */
interface PartMetadata {
  readonly signature?: string;
  readonly encrypted?: string;
  readonly [key: string]: unknown;
}

/** Why an answer ended. Only `complete` and `tool_calls` are whole answers. */
export type StopReason =
  | "complete"
  | "tool_calls"
  /** The limit of tokens was reached. */
  | "length"
  /** The model or the provider's filter refused. */
  | "refusal"
  /** The signal ended it. */
  | "aborted"
  /** The provider gave no reason, or an unknown one. */
  | "unknown";

/** The end of an answer. */
export interface Stop {
  readonly reason: StopReason;
  /** The provider's own reason. */
  readonly providerReason: string | null;
  /** The provider's counts, verbatim (core's `readUsage` reads them); null when it gave none. */
  readonly usage: unknown;
  /** The model, as the provider names it. */
  readonly model: string;
  /** The provider's id of the answer; null when it gave none. */
  readonly id: string | null;
}

/** The stream, in order: deltas of a part, then the whole part; last the stop. Unfinished parts are deltas only. */
export type StreamPart =
  | { readonly type: "delta"; readonly kind: "message" | "reasoning"; readonly text: string }
  | { readonly type: "part"; readonly part: AnswerPart }
  | { readonly type: "stop"; readonly stop: Stop };

/** An answer in one piece. */
export interface Completion {
  readonly parts: readonly AnswerPart[];
  readonly stop: Stop;
}

/** A model in a provider's list; absent = the provider does not say. */
export interface ListedModel {
  readonly name: string;
  /** Context window, tokens. */
  readonly contextWindow?: number;
  /** Longest answer, tokens. */
  readonly maxOutput?: number;
  /** US dollars per million tokens. */
  readonly price?: { readonly input: number; readonly output: number };
  /** Date or word of retirement: no longer offered, or not after that date. */
  readonly retires?: string;
}

/**
 * A provider's model API. All methods throw JpgError of kind `provider`: `wrong_key`, `unknown_model`, `context_overflow`,
 * `rate_limited`, `overloaded`, `provider_timeout`, `provider_unreachable`, `stream_cut`, `request_refused`, `provider_failed`.
 * Each names provider, model and the setting to change, never a key. Rate limits, overload and unreachable hosts are retried with
 * back-off until something has streamed.
 */
export interface LlmClient {
  readonly api: ProviderApi;
  /** The provider in `provider/model`. */
  readonly provider: string;
  /** Streams an answer. A connection that ends without a stop throws `stream_cut`; earlier parts stay valid. */
  stream(request: LlmRequest): AsyncIterable<StreamPart>;
  /** Asks without streaming. */
  complete(request: LlmRequest): Promise<Completion>;
  /** Counts a request's tokens; absent if the API cannot. */
  countTokens?(request: LlmRequest): Promise<number>;
  /** Throws the signal's reason if aborted. */
  listModels?(signal?: AbortSignal): Promise<readonly ListedModel[]>;
}

export interface LlmConnection {
  readonly provider: string;
  readonly api: ProviderApi;
  /** Absent = the provider's own address. */
  readonly baseUrl?: string;
  /** Absent for local servers without one. Never shown. */
  readonly apiKey?: string;
  /** Names in error hints: the setting of the key, e.g. `ANTHROPIC_API_KEY`, and of the address. */
  readonly keySetting: string;
  readonly urlSetting: string;
  /** Tries per request, 1 or more; default 4. */
  readonly attempts?: number;
  /** Time without a byte before a request fails, milliseconds; default 290000: models think for minutes. */
  readonly timeoutMs?: number;
  /** Waits between tries; replaced in tests. */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Maps a provider's word; `unknown` for a word that is not in its table, and for none. */
export function stopReason(words: Readonly<Record<string, StopReason>>, word: string | null): StopReason {
  return word !== null && Object.hasOwn(words, word) ? (words[word] ?? "unknown") : "unknown";
}

// Arguments of calls, and ids for calls of providers that give none.

type ToolCall = Extract<AnswerPart, { readonly kind: "tool_call" }>;

/** A call as it streamed in. */
interface CallDraft {
  readonly callId: string;
  readonly name: string;
  /** What the model wrote; "" = no arguments. */
  readonly text: string;
  readonly signature?: string | undefined;
}

/** Finishes a call; its arguments are null when the model wrote no JSON object. */
export function toToolCall({ callId, name, text, signature }: CallDraft): ToolCall {
  const metadata = signature === undefined ? {} : { metadata: { signature } };
  return { kind: "tool_call", callId, name, arguments: parseArguments(text), text, ...metadata };
}

/** Makes an id for a call: the same answer gives the same ids. `position` counts the answer's calls from 0. */
export function generateCallId(answerId: string | null, position: number): string {
  const answer = (answerId ?? "").replace(/[^a-zA-Z0-9_-]/g, "").slice(-24);
  return answer === "" ? `call_${position}` : `call_${answer}_${position}`;
}

function parseArguments(text: string): ToolCall["arguments"] {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) && !isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? value : null;
  } catch {
    return null;
  }
}

/** The part of a body that token counting takes too. */
interface AnthropicInput {
  readonly model: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly system?: string;
  readonly tools?: readonly Readonly<Record<string, unknown>>[];
}

/** A body of the Messages API. */
interface AnthropicBody extends AnthropicInput {
  readonly max_tokens: number;
  /** Marks the last block that can be cached. */
  readonly cache_control?: { readonly type: "ephemeral" };
  readonly stream?: boolean;
}

/** Longest answer by default, tokens: the API requires a number, and every model accepts this one. */
const DEFAULT_MAX_TOKENS = 8192;

/** Renders the input; deterministic. */
export function toAnthropicInput({ model, view, system, tools = [] }: LlmRequest): AnthropicInput {
  const { prompts, rest } = splitPrompts(view);
  const prompt = joinPrompts(system, prompts);
  const messages = toAnthropicThread(rest, { model, complete: true }).messages.map(({ role, blocks }) => ({
    role,
    content: blocks.map(({ block }) => block),
  }));
  return {
    model,
    messages,
    ...(prompt !== "" && { system: prompt }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    }),
  };
}

export function toAnthropicBody(request: LlmRequest, stream: boolean): AnthropicBody {
  return {
    ...toAnthropicInput(request),
    max_tokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
    ...(request.cache === true && { cache_control: { type: "ephemeral" } }),
    ...(stream && { stream }),
  };
}

/** Renders the library's parameters; deterministic. */
export function toGoogleParameters(request: LlmRequest): GenerateContentParameters {
  const { model, tools = [], maxTokens } = request;
  const { prompt, contents } = toInput(request);
  const config: GenerateContentConfig = {
    // By default the library runs tools and continues by itself.
    automaticFunctionCalling: { disable: true },
    automaticContinuation: false,
    ...(prompt !== "" && { systemInstruction: { parts: [{ text: prompt }] } }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: toDeclarations(tools) }] }),
    maxOutputTokens: maxTokens,
  };
  return { model, contents, config };
}

/** Renders the same body as the library sends; the model is in the address. */
export function toGoogleBody(request: LlmRequest): Readonly<Record<string, unknown>> {
  const { contents, config: { systemInstruction, tools, maxOutputTokens } = {} } = toGoogleParameters(request);
  return {
    systemInstruction,
    contents,
    tools,
    generationConfig: maxOutputTokens === undefined ? undefined : { maxOutputTokens },
  };
}

/** Renders contents for counting: the library counts contents only, so prompt and tools are added as texts. */
export function toCountedContents(request: LlmRequest): Content[] {
  const { prompt, contents } = toInput(request);
  const tools = request.tools === undefined ? "" : JSON.stringify(toDeclarations(request.tools));
  const frame = [prompt, tools].filter((text) => text !== "" && text !== "[]");
  return [...(frame.length > 0 ? [{ role: "user", parts: frame.map((text) => ({ text })) }] : []), ...contents];
}

function toInput({ model, view, system }: LlmRequest): { readonly prompt: string; readonly contents: Content[] } {
  const { prompts, rest } = splitPrompts(view);
  const { messages } = toGoogleThread(rest, { model, complete: true });
  return {
    prompt: joinPrompts(system, prompts),
    contents: messages.map(({ role, blocks }) => ({
      role: role === "assistant" ? "model" : "user",
      parts: blocks.map(({ block }) => block as Part),
    })),
  };
}

function toDeclarations(tools: NonNullable<LlmRequest["tools"]>): Declaration[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }));
}

interface Declaration {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: unknown;
}

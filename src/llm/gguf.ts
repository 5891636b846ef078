// Runs a model of the user's own: a GGUF file, in this process, through node-llama-cpp. Nothing leaves the machine and no key is
// needed. It answers with text alone: tools are not offered to it.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { JpgError, messageOf, nearestName } from "../core/errors.ts";
import { toOpenAiChatThread } from "../core/model/openai-chat-thread.ts";
import type { ProviderObject } from "../core/model/openai-thread.ts";
import {
  type AnswerPart,
  type Completion,
  type LlmClient,
  type LlmConnection,
  type LlmRequest,
  type ModelFiles,
  type Stop,
  type StopReason,
  type StreamPart,
  stopReason,
} from "./client.ts";
import { createFailure, type FailureTarget, toShownText } from "./errors.ts";
import { engineOf, type Generated, type Generation, readGgufHeader, WindowError } from "./gguf-engine.ts";
import {
  findLlamaLibrary,
  type LlamaCall,
  type LlamaChunk,
  type LlamaLibrary,
  type LlamaMessage,
  libraryMissing,
  loadLlamaLibrary,
} from "./gguf-library.ts";

/** Longest answer when the request names none, tokens: room for it is made in memory. */
const DEFAULT_MAX_TOKENS = 4096;

/** The library's words for the end of an answer; with any other the answer is not known to be whole. */
const REASONS: Readonly<Record<string, StopReason>> = {
  eogToken: "complete",
  stopGenerationTrigger: "complete",
  maxTokens: "length",
};

/**
 * Creates a client of the files in a folder. The library is looked for; it is loaded, and the model with it, when something is
 * asked. `open` is replaced in tests. Throws `library_missing`.
 */
export function createGgufClient(connection: LlmConnection, open?: () => Promise<LlamaLibrary>): LlmClient {
  const { files } = connection;
  if (files === undefined) throw new TypeError(`a connection to ${connection.provider} without a folder of files`);
  const client = { connection, files, open: open ?? openerOf(files) };
  return {
    api: "gguf",
    provider: connection.provider,
    takesTools: false,
    stream: (request) => streamAnswer(client, request),
    complete: async (request) => {
      const parts: AnswerPart[] = [];
      for await (const piece of streamAnswer(client, request)) {
        if (piece.type === "part") parts.push(piece.part);
        if (piece.type === "stop") return { parts, stop: piece.stop } satisfies Completion;
      }
      throw new Error("an answer ended without a stop");
    },
  };
}

function openerOf({ library }: ModelFiles): () => Promise<LlamaLibrary> {
  const path = findLlamaLibrary(library);
  return () => loadLlamaLibrary(path, library);
}

interface Client {
  readonly connection: LlmConnection;
  readonly files: ModelFiles;
  readonly open: () => Promise<LlamaLibrary>;
}

/** The stop comes at once with the signal: what the model still does then ends by itself and is not waited for. */
async function* streamAnswer(client: Client, request: LlmRequest): AsyncGenerator<StreamPart> {
  const isAborted = (): boolean => request.signal?.aborted === true;
  const aborted: StreamPart = { type: "stop", stop: { ...stopOf(request, null), reason: "aborted" } };
  if (isAborted()) return yield aborted;
  const left = new AbortController();
  const signal = request.signal === undefined ? left.signal : AbortSignal.any([request.signal, left.signal]);
  const chunks: LlamaChunk[] = [];
  const parts: AnswerPart[] = [];
  const work = startWork(() =>
    generate(client, request, { signal, take: (chunk) => chunks.push(chunk) && work.wake() }),
  );
  signal.addEventListener("abort", () => work.wake(), { once: true });
  try {
    while (!isAborted()) {
      const chunk = chunks.shift();
      if (chunk !== undefined) yield* addChunk(parts, chunk);
      else if (work.isDone()) break;
      else await work.news();
    }
  } finally {
    left.abort();
  }
  if (isAborted()) return yield aborted;
  const generated = await work.result;
  for (const part of parts) yield { type: "part", part };
  yield { type: "stop", stop: stopOf(request, generated) };
}

/** A work in the background, and a way to wait for whatever happens next. */
interface Work<Value> {
  readonly result: Promise<Value>;
  isDone(): boolean;
  wake(): void;
  news(): Promise<void>;
}

function startWork<Value>(act: () => Promise<Value>): Work<Value> {
  let isDone = false;
  let wake: () => void = () => undefined;
  const settle = (): void => {
    isDone = true;
    wake();
  };
  const result = Promise.resolve().then(act);
  result.then(settle, settle);
  return {
    result,
    isDone: () => isDone,
    wake: () => wake(),
    news: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

async function generate(
  { connection, files, open }: Client,
  request: LlmRequest,
  listener: Pick<Generation, "signal" | "take">,
): Promise<Generated> {
  const target = { connection, model: request.model };
  await checkModelFile(target, files.folder);
  const library = await open();
  try {
    return await engineOf(library, join(files.folder, request.model)).generate({
      ...listener,
      history: toLlamaHistory(request),
      maxTokens: request.maxTokens ?? DEFAULT_MAX_TOKENS,
      contextTokens: files.contextTokens,
    });
  } catch (error) {
    if (error instanceof library.NoBinaryFoundError) {
      throw libraryMissing(files.library, "its compiled part for this machine is not installed", error);
    }
    throw toGgufError(target, library, error);
  }
}

/** Joins a chunk to the part that is being said, or begins the next one. */
function* addChunk(parts: AnswerPart[], { type, text }: LlamaChunk): Generator<StreamPart> {
  if (text === "") return;
  const kind = type === "segment" ? "reasoning" : "message";
  const last = parts.at(-1);
  if (last?.kind === kind) parts[parts.length - 1] = { kind, text: last.text + text };
  else parts.push({ kind, text });
  yield { type: "delta", kind, text };
}

function stopOf({ model }: LlmRequest, generated: Generated | null): Stop {
  const providerReason = generated?.stopReason ?? null;
  return {
    reason: stopReason(REASONS, providerReason),
    providerReason,
    usage: generated?.usage ?? null,
    model,
    id: null,
  };
}

// What went wrong in node-llama-cpp, as the error of jpg.

const WINDOW_SETTING = "providers.gguf.context_tokens";
const OTHER = "`--model PROVIDER/MODEL` asks another model.";

/** Translates what loading a model or generating threw: `context_overflow`, `provider_failed`. */
export function toGgufError(target: FailureTarget, library: LlamaLibrary, error: unknown): JpgError {
  if (error instanceof JpgError) return error;
  if (error instanceof WindowError)
    return createFailure(target, "context_overflow", { more: ` (${error.message})` }).error;
  if (error instanceof library.InsufficientMemoryError) {
    const what = "does not fit into the memory of this machine with this conversation";
    const hints = [
      `${WINDOW_SETTING} = 8192 in your settings makes its window smaller.`,
      "`jpg compact` makes the conversation shorter.",
      OTHER,
    ];
    return createFailure(target, "provider_failed", { what, hints }).error;
  }
  const reason = toShownText(messageOf(error), undefined);
  return createFailure(target, "provider_failed", { more: `: ${reason}`, hints: [OTHER] }).error;
}

/** Checks that the model of a request is a GGUF file in the folder. Throws `unknown_model`. */
export async function checkModelFile(target: FailureTarget, folder: string): Promise<void> {
  const name = target.model ?? "";
  const problem = await readGgufHeader(join(folder, name)).then(
    ({ isGguf }) => (isGguf ? null : "is not a GGUF file"),
    (error: unknown) => unreadable(folder, error),
  );
  if (problem === null) return;
  const others = (await readdir(folder).catch(() => [])).filter((other) => other.endsWith(".gguf") && other !== name);
  const nearest = nearestName(name, others) ?? others.sort()[0];
  const { provider, urlSetting } = target.connection;
  throw createFailure(target, "unknown_model", {
    what: problem,
    hints: [
      ...(nearest === undefined ? [] : [`Use ${provider}/${toShownText(nearest, undefined)}.`]),
      `Check ${urlSetting}.`,
    ],
  }).error;
}

function unreadable(folder: string, error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  const shown = toShownText(folder, undefined);
  return code === "ENOENT" || code === "ENOTDIR"
    ? `is not in ${shown}`
    : `cannot be read in ${shown} (${String(code)})`;
}

// A view as messages of a model that runs in this process. Everything is text: calls of tools stand with their results inside
// what the model said; of media only that they were there.

/** Gives the messages; the same request always gives the same. */
export function toLlamaHistory({ model, view, system = "" }: LlmRequest): readonly LlamaMessage[] {
  const items = toOpenAiChatThread(view, { model, system }).items.map(({ item }) => item);
  const results = new Map(
    items.filter(({ role }) => role === "tool").map((item) => [item["tool_call_id"], item["content"]]),
  );
  const messages: LlamaMessage[] = [];
  for (const item of items) {
    if (item["role"] === "tool") continue;
    const message = toMessage(item, results);
    const last = messages.at(-1);
    if (last?.type === "model" && message.type === "model") messages[messages.length - 1] = joinTexts(last, message);
    else messages.push(message);
  }
  return messages;
}

function toMessage(
  { role, content, tool_calls }: ProviderObject,
  results: ReadonlyMap<unknown, unknown>,
): LlamaMessage {
  const text = textOf(content);
  if (role === "user") return { type: "user", text };
  if (role !== "assistant") return { type: "system", text };
  const calls = Array.isArray(tool_calls) ? (tool_calls as readonly ProviderObject[]) : [];
  return {
    type: "model",
    response: [
      ...(text === "" ? [] : [text]),
      ...calls.map(({ id, function: called }, index): LlamaCall => {
        const { name, arguments: params } = called as { readonly name: string; readonly arguments: string };
        const result = results.get(id) ?? "";
        return { type: "functionCall", name, params: JSON.parse(params), result, startsNewChunk: index === 0 };
      }),
    ],
  };
}

type Answer = Extract<LlamaMessage, { readonly type: "model" }>;

/** What is said in a row is one message, as the library has it: results of calls are inside it. */
function joinTexts(before: Answer, after: Answer): Answer {
  const isText = typeof before.response.at(-1) === "string" && typeof after.response[0] === "string";
  return { type: "model", response: [...before.response, ...(isText ? ["\n\n"] : []), ...after.response] };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? (content as readonly ProviderObject[]).map(nameOf).join("\n") : "";
}

/** A part as text; media are named as they are where only text can stand. */
function nameOf({ type, text, file }: ProviderObject): string {
  if (type === "text") return String(text);
  if (type === "file") return `[document: ${(file as { readonly filename?: string }).filename}]`;
  return type === "image_url" ? "[image]" : `[${type}]`;
}

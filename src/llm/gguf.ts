// Runs a model of the user's own: a GGUF file, in this process, through node-llama-cpp. Nothing leaves the machine and no key is
// needed. It answers with text alone: tools are not offered to it.
import { join } from "node:path";
import { engineOf, type Generated, type Generation } from "./gguf-engine.ts";
import { toGgufError } from "./gguf-error.ts";
import { checkModelFile } from "./gguf-file.ts";
import { toLlamaHistory } from "./gguf-history.ts";
import {
  findLlamaLibrary,
  type LlamaChunk,
  type LlamaLibrary,
  libraryMissing,
  loadLlamaLibrary,
} from "./gguf-library.ts";
import type {
  AnswerPart,
  Completion,
  LlmClient,
  LlmConnection,
  LlmRequest,
  ModelFiles,
  Stop,
  StopReason,
  StreamPart,
} from "./llm-client.ts";
import { stopReason } from "./stop-reason.ts";

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

// The models that this process has loaded, each once: loading one takes seconds and gigabytes. A model answers one request at a
// time, and keeps what it has read, so that a conversation that goes on is not read again. What does not fit into the window
// is refused before anything is generated: nothing of a conversation is left out in silence.
import { open } from "node:fs/promises";
import {
  type Llama,
  type LlamaChat,
  type LlamaChunk,
  type LlamaContext,
  type LlamaLibrary,
  type LlamaMessage,
  type LlamaModel,
  quietly,
} from "./gguf-library.ts";

/** One request. */
export interface Generation {
  readonly history: readonly LlamaMessage[];
  /** Longest answer, tokens. */
  readonly maxTokens: number;
  /** Most tokens of request and answer together; absent = what the model was trained for. */
  readonly contextTokens: number | undefined;
  readonly signal: AbortSignal;
  take(chunk: LlamaChunk): void;
}

/** How a generation ended. */
export interface Generated {
  readonly stopReason: string;
  /** Tokens that were sent, and that were generated. */
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** The request has no room in the window. */
export class WindowError extends Error {
  constructor(tokens: number, window: number) {
    super(`${tokens} tokens, the window has ${window}`);
  }
}

/** A model that is loaded, or is about to be. */
interface GgufEngine {
  /** Generates when the requests before are done. Throws `WindowError`, the signal's reason, and what the library throws. */
  generate(generation: Generation): Promise<Generated>;
}

/** Tokens beside request and answer: what templates put around thoughts while they are generated, and what rounding takes. */
const MARGIN = 64;
/** Room for an answer that is worth beginning, tokens, where memory is short. */
const SHORT_ANSWER = 256;
/** Smallest room that is made, tokens: a conversation grows, and a new room means to read it all again. */
const SMALLEST_ROOM = 8192;

const runtimes = new WeakMap<LlamaLibrary, Promise<Llama>>();
const engines = new WeakMap<LlamaLibrary, Map<string, GgufEngine>>();

/** Gives the engine of a file. Nothing is loaded before it is asked something. */
export function engineOf(library: LlamaLibrary, path: string): GgufEngine {
  const known = engines.get(library) ?? new Map<string, GgufEngine>();
  engines.set(library, known);
  const engine = known.get(path) ?? createEngine(library, path);
  known.set(path, engine);
  return engine;
}

/** What a model has read, and the room for more. */
interface Room {
  readonly context: LlamaContext;
  readonly chat: LlamaChat;
  readonly outputTokens: () => number;
  /** The memory had no room for what was wanted. */
  readonly isLimited: boolean;
}

function createEngine(library: LlamaLibrary, path: string): GgufEngine {
  let loaded: LoadedModel | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const generate = async (generation: Generation): Promise<Generated> => {
    const { signal } = generation;
    signal.throwIfAborted();
    loaded ??= await quietly(() => loadModel(library, path, signal));
    const model = loaded;
    return quietly(() => generateWith(model, generation));
  };
  return {
    generate: (generation) => {
      const turn = last.then(() => generate(generation));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

interface LoadedModel {
  readonly library: LlamaLibrary;
  readonly llama: Llama;
  readonly model: LlamaModel;
  readonly template: ReturnType<LlamaLibrary["resolveChatWrapper"]>;
  room: Room | null;
}

async function loadModel(library: LlamaLibrary, modelPath: string, signal: AbortSignal): Promise<LoadedModel> {
  const llama = await openRuntime(library);
  const model = await llama.loadModel({ modelPath, loadSignal: signal });
  return { library, llama, model, template: library.resolveChatWrapper(model), room: null };
}

/** Starts the compiled part; it is never built or fetched, and says nothing. */
async function openRuntime(library: LlamaLibrary): Promise<Llama> {
  const opening =
    runtimes.get(library) ??
    library.getLlama({ build: "never", skipDownload: true, gpu: "auto", logLevel: "disabled", progressLogs: false });
  runtimes.set(library, opening);
  return opening;
}

async function generateWith(loaded: LoadedModel, generation: Generation): Promise<Generated> {
  const { history, signal } = generation;
  const prompt = countTokens(loaded, history);
  const window = Math.min(loaded.model.trainContextSize, generation.contextTokens ?? Number.POSITIVE_INFINITY);
  const left = window - prompt - MARGIN;
  if (left < 1) throw new WindowError(prompt, window);
  const room = await makeRoom(loaded, {
    least: prompt + MARGIN + Math.min(left, generation.maxTokens, SHORT_ANSWER),
    wanted: prompt + MARGIN + Math.min(left, generation.maxTokens),
    window,
    signal,
  });
  const before = room.outputTokens();
  const { metadata } = await room.chat.generateResponse(history, {
    maxTokens: Math.min(generation.maxTokens, left, room.context.contextSize - prompt - MARGIN),
    signal,
    stopOnAbortSignal: true,
    contextShift: { size: 1 },
    onResponseChunk: generation.take,
  });
  const usage = { prompt_tokens: prompt, completion_tokens: room.outputTokens() - before };
  return { stopReason: metadata.stopReason, usage };
}

function countTokens({ template, model }: LoadedModel, history: readonly LlamaMessage[]): number {
  const chatHistory: readonly LlamaMessage[] =
    history.at(-1)?.type === "model" ? history : [...history, { type: "model", response: [] }];
  return template.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer).length;
}

interface Wish {
  readonly least: number;
  readonly wanted: number;
  readonly window: number;
  readonly signal: AbortSignal;
}

/** The room that is there when it is large enough, else a larger one in its place. */
async function makeRoom(loaded: LoadedModel, { least, wanted, window, signal }: Wish): Promise<Room> {
  const { room, library, llama, model, template } = loaded;
  const size = room?.context.contextSize ?? 0;
  if (room !== null && (size >= wanted || (room.isLimited && size >= least))) return room;
  loaded.room = null;
  await room?.context.dispose();
  const max = Math.min(window, Math.max(SMALLEST_ROOM, 2 ** Math.ceil(Math.log2(wanted))));
  const context = await model.createContext({
    contextSize: { min: least, max },
    threads: llama.cpuMathCores,
    createSignal: signal,
  });
  const contextSequence = context.getSequence();
  const made = {
    context,
    chat: new library.LlamaChat({ contextSequence, chatWrapper: template }),
    outputTokens: () => contextSequence.tokenMeter.usedOutputTokens,
    isLimited: context.contextSize < max,
  };
  loaded.room = made;
  return made;
}

// The head of a GGUF file, as far as jpg wants it: how many tokens the model was trained to see. Read without loading the
// model. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

/** What is known of a file. */
interface GgufHeader {
  /** It begins as a GGUF file does. */
  readonly isGguf: boolean;
  /** Tokens; null when the head does not say so early enough. */
  readonly contextLength: number | null;
}

/** What is read, in bytes: the facts stand before the vocabulary, which is of many MB. */
const READ_BYTES = 256 * 1024;
/** Versions whose counts have 8 bytes. */
const VERSIONS: ReadonlySet<number> = new Set([2, 3]);
/** Sizes of values by type, in bytes; texts (8) and lists (9) say theirs. */
const SIZES: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];
const UINT32 = 4;
const TEXT = 8;
const LIST = 9;
const UINT64 = 10;

/** Reads the head of a file. Throws what the file system throws. */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, 0);
    return parseGgufHeader(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Parses the first bytes of a file, which may end anywhere. */
export function parseGgufHeader(bytes: Buffer): GgufHeader {
  const isGguf = bytes.length >= 8 && bytes.toString("latin1", 0, 4) === "GGUF" && VERSIONS.has(bytes.readUInt32LE(4));
  return { isGguf, contextLength: isGguf ? findContextLength(bytes) : null };
}

function findContextLength(bytes: Buffer): number | null {
  const reader = { bytes, at: 16 };
  try {
    for (let left = readLong(reader); left > 0; left--) {
      const key = readText(reader);
      const type = readInt(reader);
      if (/^[\w-]+\.context_length$/.test(key) && (type === UINT32 || type === UINT64)) {
        return (type === UINT32 ? readInt(reader) : readLong(reader)) || null;
      }
      skip(reader, type);
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error; // past the end of what was read
  }
  return null;
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function skip(reader: Reader, type: number): void {
  if (type === TEXT) {
    const length = readLong(reader);
    reader.at += length;
    return;
  }
  if (type !== LIST) {
    reader.at += sizeOf(type);
    return;
  }
  const inner = readInt(reader);
  const count = readLong(reader);
  if (inner !== TEXT && inner !== LIST) reader.at += count * sizeOf(inner);
  else for (let left = count; left > 0; left--) skip(reader, inner);
}

function sizeOf(type: number): number {
  const size = SIZES[type];
  if (size === undefined) throw new RangeError(`no type ${type}`);
  return size;
}

function readText(reader: Reader): string {
  const length = readLong(reader);
  const text = reader.bytes.toString("utf8", reader.at, reader.at + length);
  reader.at += length;
  return text;
}

function readInt(reader: Reader): number {
  const value = reader.bytes.readUInt32LE(reader.at);
  reader.at += 4;
  return value;
}

function readLong(reader: Reader): number {
  const value = Number(reader.bytes.readBigUInt64LE(reader.at));
  reader.at += 8;
  return value;
}

// The models that this process has loaded, each once: loading one takes seconds and gigabytes. A model answers one request at a
// time, and keeps what it has read, so that a conversation that goes on is not read again. What does not fit into the window
// is refused before anything is generated: nothing of a conversation is left out in silence.
import type {
  Llama,
  LlamaChat,
  LlamaChunk,
  LlamaContext,
  LlamaLibrary,
  LlamaMessage,
  LlamaModel,
} from "./gguf-library.ts";
import { quietly } from "./quiet-console.ts";

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
export interface GgufEngine {
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

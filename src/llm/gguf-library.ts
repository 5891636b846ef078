// node-llama-cpp, which runs a model that is a file on this machine: where it is installed, and the part of it that is used.
// It is no dependency of jpg (it is large, and few want it): whoever wants it installs it. Looked for in a folder of the user's
// and beside jpg, never in the current directory: what lies there may be a stranger's program.
import { createRequire } from "node:module";
import { join } from "node:path";
import { arch, platform } from "node:process";
import { pathToFileURL } from "node:url";
import { asSentence, JpgError, messageOf } from "../core/errors.ts";
import { shellWord } from "../core/safe-text.ts";
import { toShownText } from "./errors.ts";

/** A message as the library takes it. */
export type LlamaMessage =
  | { readonly type: "system" | "user"; readonly text: string }
  | { readonly type: "model"; readonly response: readonly (string | LlamaCall)[] };

/** A call of a tool with its result, inside what the model said. */
export interface LlamaCall {
  readonly type: "functionCall";
  readonly name: string;
  readonly params: unknown;
  readonly result: unknown;
  /** It does not belong to the same message as the call before it. */
  readonly startsNewChunk: boolean;
}

/** How messages become what a model reads: the chat template of its file. */
interface LlamaTemplate {
  generateContextState(state: { readonly chatHistory: readonly LlamaMessage[] }): {
    readonly contextText: { tokenize(tokenizer: unknown): readonly unknown[] };
  };
}

/** A piece of an answer; `segment` = not part of what is said: thoughts. */
export interface LlamaChunk {
  readonly type: "segment" | undefined;
  readonly text: string;
}

/** How an answer is asked for. */
export interface LlamaOptions {
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  /** An answer that has begun ends without an error. */
  readonly stopOnAbortSignal: true;
  /** Tokens that stay free at least; with fewer the library would leave old messages out. */
  readonly contextShift: { readonly size: number };
  onResponseChunk(chunk: LlamaChunk): void;
}

export interface LlamaChat {
  generateResponse(
    history: readonly LlamaMessage[],
    options: LlamaOptions,
  ): Promise<{ readonly metadata: { readonly stopReason: string } }>;
}

interface LlamaSequence {
  readonly tokenMeter: { readonly usedOutputTokens: number };
}

export interface LlamaContext {
  /** Tokens. */
  readonly contextSize: number;
  getSequence(): LlamaSequence;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  /** Tokens that it was trained to see. */
  readonly trainContextSize: number;
  readonly tokenizer: unknown;
  createContext(options: {
    /** Tokens; as many of them as the memory has room for. */
    readonly contextSize: { readonly min: number; readonly max: number };
    readonly threads: number;
    readonly createSignal: AbortSignal;
  }): Promise<LlamaContext>;
}

export interface Llama {
  /** Cores that are worth using. */
  readonly cpuMathCores: number;
  loadModel(options: { readonly modelPath: string; readonly loadSignal: AbortSignal }): Promise<LlamaModel>;
}

type LlamaError = abstract new (...args: never) => Error;

/** The part of the library that is used. */
export interface LlamaLibrary {
  getLlama(options: {
    readonly build: "never";
    readonly skipDownload: true;
    readonly gpu: "auto";
    readonly logLevel: "disabled";
    readonly progressLogs: false;
  }): Promise<Llama>;
  resolveChatWrapper(model: LlamaModel): LlamaTemplate;
  readonly LlamaChat: new (options: {
    readonly contextSequence: LlamaSequence;
    readonly chatWrapper: LlamaTemplate;
  }) => LlamaChat;
  readonly InsufficientMemoryError: LlamaError;
  readonly NoBinaryFoundError: LlamaError;
}

const NAME = "node-llama-cpp";

/** The packages that hold the compiled part, by platform and processor. */
const BINARIES: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "linux-arm": "linux-armv7l",
  "linux-riscv64": "linux-riscv64",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
};

/** Finds the library: as a program in `folder` would, else as jpg would. Nothing of it is run. Throws `library_missing`. */
export function findLlamaLibrary(folder: string): string {
  try {
    return createRequire(pathToFileURL(join(folder, "package.json"))).resolve(NAME);
  } catch {
    // The usual place is beside jpg for those who installed both into one project.
  }
  try {
    return createRequire(import.meta.url).resolve(NAME);
  } catch (cause) {
    throw libraryMissing(folder, `it is installed neither in ${toShownText(folder, undefined)} nor beside jpg`, cause);
  }
}

/** Loads the library from where it was found. Throws `library_missing` when it cannot be loaded. */
export async function loadLlamaLibrary(path: string, folder: string): Promise<LlamaLibrary> {
  try {
    return (await import(pathToFileURL(path).href)) as LlamaLibrary;
  } catch (cause) {
    const reason = toShownText(messageOf(cause), undefined);
    throw libraryMissing(folder, `${toShownText(path, undefined)} cannot be loaded: ${reason}`, cause);
  }
}

/** Creates the error `library_missing`, with the command that installs it into `folder`; `problem` ends the sentence. */
export function libraryMissing(folder: string, problem: string, cause: unknown): JpgError {
  return new JpgError("provider", "library_missing", `A gguf model needs the library ${NAME}: ${asSentence(problem)}`, {
    hints: [
      `Install it: npm install --prefix ${shellWord(folder)} ${packages()}`,
      "A server needs no library: ollama/MODEL, llamacpp/MODEL or lmstudio/MODEL.",
    ],
    cause,
  });
}

/** Without `--omit=optional` npm fetches the compiled parts for all platforms, 700 MB. */
function packages(): string {
  const binary = BINARIES[`${platform}-${arch}`];
  return binary === undefined ? `${NAME}@3` : `--omit=optional ${NAME}@3 @${NAME}/${binary}@3`;
}

// Keeps a library that writes to the console from the terminal, where an answer is being shown. jpg itself writes elsewhere.

const METHODS = ["debug", "error", "info", "log", "warn"] as const;

type Console = Record<(typeof METHODS)[number], (...args: readonly unknown[]) => void>;

let depth = 0;
let loud: Partial<Console> = {};

/** Does a work during which the console says nothing. Works may overlap. */
export async function quietly<Value>(work: () => Promise<Value>): Promise<Value> {
  const target = globalThis.console as Console;
  if (depth++ === 0) {
    for (const method of METHODS) {
      loud[method] = target[method];
      target[method] = () => undefined;
    }
  }
  try {
    return await work();
  } finally {
    if (--depth === 0) {
      Object.assign(target, loud);
      loud = {};
    }
  }
}

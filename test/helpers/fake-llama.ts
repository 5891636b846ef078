// Stands in for node-llama-cpp: says what a test tells it to, and remembers what was done with it.
import type {
  LlamaChunk,
  LlamaContext,
  LlamaLibrary,
  LlamaMessage,
  LlamaModel,
  LlamaOptions,
} from "../../src/llm/gguf-library.ts";

/** What the library does. */
export interface FakeLlamaScript {
  /** Pieces of the answer; a text is a piece of what is said. */
  readonly answer?: readonly (string | LlamaChunk)[];
  readonly stopReason?: string;
  /** Never ends by itself. */
  readonly isEndless?: boolean;
  /** Tokens that the model was trained to see; default 100000. */
  readonly window?: number;
  /** Most tokens that the memory has room for; with fewer than that at least, no context can be made. */
  readonly memory?: number;
  /** Thrown where it is named, once each. */
  readonly fails?: { load?: Error; runtime?: Error; template?: Error; generate?: Error };
  /** Waited for before a model is loaded. */
  readonly loading?: Promise<void>;
}

export class FakeMemoryError extends Error {}
export class FakeBinaryError extends Error {}

export interface FakeLlama extends LlamaLibrary {
  /** What was done, in order. */
  readonly done: string[];
  /** What the model was sent. */
  readonly sent: (readonly LlamaMessage[])[];
  readonly options: LlamaOptions[];
}

/** Creates the library. Each character of the messages is a token. */
export function createFakeLlama(script: FakeLlamaScript = {}): FakeLlama {
  const done: string[] = [];
  const sent: (readonly LlamaMessage[])[] = [];
  const options: LlamaOptions[] = [];
  const fails = { ...script.fails };
  const failOnce = (where: keyof typeof fails): void => {
    const error = fails[where];
    delete fails[where];
    if (error !== undefined) throw error;
  };
  const createContext: LlamaModel["createContext"] = async ({ contextSize: { min, max } }) => {
    const room = Math.min(max, script.memory ?? Number.POSITIVE_INFINITY);
    if (room < min) throw new FakeMemoryError("no room");
    done.push(`context ${room}`);
    const meter = { usedOutputTokens: 0 };
    const context: LlamaContext & { readonly meter: typeof meter } = {
      contextSize: room,
      meter,
      getSequence: () => ({ tokenMeter: meter }),
      dispose: async () => void done.push(`dispose ${room}`),
    };
    return context;
  };
  return {
    done,
    sent,
    options,
    InsufficientMemoryError: FakeMemoryError,
    NoBinaryFoundError: FakeBinaryError,
    getLlama: async (given) => {
      failOnce("runtime");
      console.log("llama.cpp says hello");
      done.push(`runtime build=${given.build} skipDownload=${given.skipDownload}`);
      return {
        cpuMathCores: 2,
        loadModel: async ({ modelPath, loadSignal }) => {
          console.error("loading", modelPath);
          await Promise.race([
            script.loading,
            new Promise((_, reject) => loadSignal.addEventListener("abort", () => reject(loadSignal.reason))),
          ]);
          failOnce("load");
          done.push(`load ${modelPath.split("/").at(-1)}`);
          return { trainContextSize: script.window ?? 100_000, tokenizer: null, createContext };
        },
      };
    },
    resolveChatWrapper: () => ({
      generateContextState: ({ chatHistory }) => {
        failOnce("template");
        return { contextText: { tokenize: () => [...chatHistory.map((message) => textOf(message)).join("")] } };
      },
    }),
    LlamaChat: class {
      readonly meter: { usedOutputTokens: number };

      constructor({
        contextSequence,
      }: { readonly contextSequence: { readonly tokenMeter: { readonly usedOutputTokens: number } } }) {
        this.meter = contextSequence.tokenMeter;
      }

      async generateResponse(
        history: readonly LlamaMessage[],
        given: LlamaOptions,
      ): Promise<{ readonly metadata: { readonly stopReason: string } }> {
        sent.push(history);
        options.push(given);
        failOnce("generate");
        const pieces = script.answer ?? ["Hello", " there."];
        let said = 0;
        do {
          for (const piece of pieces) {
            await new Promise((resolve) => setTimeout(resolve, 1));
            if (given.signal.aborted) {
              done.push("ended");
              if (said === 0) throw given.signal.reason;
              return { metadata: { stopReason: "abort" } };
            }
            if (said >= given.maxTokens) return { metadata: { stopReason: "maxTokens" } };
            said += 1;
            this.meter.usedOutputTokens += 1;
            given.onResponseChunk(typeof piece === "string" ? { type: undefined, text: piece } : piece);
          }
        } while (script.isEndless === true);
        return { metadata: { stopReason: script.stopReason ?? "eogToken" } };
      }
    },
  };
}

function textOf(message: LlamaMessage): string {
  return message.type === "model" ? message.response.map((part) => JSON.stringify(part)).join("") : message.text;
}

// A model that says what a test tells it to: one script for each request, and the requests that it was sent.
import type { OpenedModel } from "../../src/app/models/models.ts";
import type { AnswerPart, LlmClient, LlmRequest, Stop, StreamPart } from "../../src/llm/client.ts";

/** One answer: parts in order; an error is thrown where it stands, a function is called with the request. */
export type Script = readonly (StreamPart | Error | ((request: LlmRequest) => void | Promise<void>))[];

export interface ScriptedModel extends OpenedModel {
  /** What was asked, in order. */
  readonly requests: LlmRequest[];
}

/** Creates the model. A request beyond the scripts fails. A signal ends an answer as adapters do: with a stop. */
export function createScriptedModel(scripts: readonly Script[], name = "test/model-1"): ScriptedModel {
  const requests: LlmRequest[] = [];
  const [provider = "", model = ""] = name.split("/");
  async function* stream(request: LlmRequest): AsyncGenerator<StreamPart> {
    const script = scripts[requests.length];
    requests.push(request);
    if (script === undefined) throw new Error(`no script for request ${requests.length}`);
    for (const step of script) {
      if (request.signal?.aborted === true) return yield stop("aborted");
      if (step instanceof Error) throw step;
      if (typeof step === "function") await step(request);
      else yield step;
    }
    if (request.signal?.aborted === true) yield stop("aborted");
  }
  const client: LlmClient = {
    api: "openai-chat",
    provider,
    stream,
    complete: () => Promise.reject(new Error("not scripted")),
  };
  return { name, provider, model, client, facts: { contextWindow: 100_000, maxOutput: null, price: null }, requests };
}

/** A stop; usage of 100 tokens in and 10 out. */
export function stop(reason: Stop["reason"] = "complete"): StreamPart {
  const usage = { prompt_tokens: 100, completion_tokens: 10 };
  return { type: "stop", stop: { reason, providerReason: `raw_${reason}`, usage, model: "model-1", id: "resp-1" } };
}

/** A text in pieces, then whole. */
export function says(...pieces: readonly string[]): StreamPart[] {
  return streamed("message", pieces);
}

export function thinks(...pieces: readonly string[]): StreamPart[] {
  return streamed("reasoning", pieces);
}

function streamed(kind: "message" | "reasoning", pieces: readonly string[]): StreamPart[] {
  return [
    ...pieces.map((text): StreamPart => ({ type: "delta", kind, text })),
    { type: "part", part: { kind, text: pieces.join("") } },
  ];
}

/** A call; arguments that are a text stand for JSON that does not parse. */
export function calls(
  name: string,
  args: Readonly<Record<string, unknown>> | string,
  callId = `call-${name}`,
): StreamPart {
  const part: AnswerPart =
    typeof args === "string"
      ? { kind: "tool_call", callId, name, arguments: null, text: args }
      : { kind: "tool_call", callId, name, arguments: args, text: JSON.stringify(args) };
  return { type: "part", part };
}

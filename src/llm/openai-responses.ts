// Client of OpenAI's Responses API.
import type OpenAI from "openai";
import {
  type AnswerPart,
  type Completion,
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
import { toResponsesBody } from "./openai-responses-request.ts";
import { listOpenAiModels, openOpenAi } from "./openai-sdk.ts";
import { completeAnswer, streamAnswer } from "./tries.ts";

const PATH = "/responses";

/** Creates a client of the Responses API. */
export function createResponsesClient(connection: LlmConnection): LlmClient {
  return {
    api: "openai-responses",
    provider: connection.provider,
    stream: (request) => {
      const body = toResponsesBody(request, true);
      return streamAnswer(connection, request, async function* (exchange) {
        const events = await openOpenAi(connection, exchange).post(PATH, { body, stream: true });
        yield* readResponsesStream(events as AsyncIterable<OpenAI.Responses.ResponseStreamEvent>, exchange.known);
      });
    },
    complete: async (request) => {
      const body = toResponsesBody(request, false);
      return completeAnswer(connection, request, async (exchange) => {
        const response = await openOpenAi(connection, exchange).post(PATH, { body });
        return readResponse(response as OpenAI.Responses.Response, exchange.known);
      });
    },
    listModels: (signal) => listOpenAiModels(connection, signal),
  };
}

// Reads answers of OpenAI's Responses API, streamed and whole, into parts: each finished item is one part.

type Item = OpenAI.Responses.ResponseOutputItem;
type Response = OpenAI.Responses.Response;
type StreamEvent = OpenAI.Responses.ResponseStreamEvent;

/** Reads a stream. Ends without a stop if the stream does; throws an error inside the stream. */
export async function* readResponsesStream(
  events: AsyncIterable<StreamEvent>,
  known: KnownAnswer,
): AsyncGenerator<StreamPart> {
  const items: Item[] = [];
  for await (const event of events) {
    switch (event.type) {
      case "response.created":
        keepResponse(known, event.response);
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
        yield { type: "delta", kind: "message", text: event.delta };
        break;
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        yield { type: "delta", kind: "reasoning", text: event.delta };
        break;
      case "response.output_item.done":
        items.push(event.item);
        yield* streamed(partOf(event.item));
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        yield* readEnd(event.response, items, known);
        break;
      case "error":
        throw new StreamedError(event);
      default: // progress of items
    }
  }
}

function* readEnd(response: Response, items: readonly Item[], known: KnownAnswer): Generator<StreamPart> {
  keepResponse(known, response);
  if (response.status === "failed") throw failureOf(response);
  // Some servers send the items only here.
  const output = items.length === 0 ? (response.output ?? []) : items;
  if (items.length === 0) yield* streamed(output.flatMap(partOf));
  yield { type: "stop", stop: stopOf(response, output, known) };
}

function* streamed(parts: readonly AnswerPart[]): Generator<StreamPart> {
  for (const part of parts) yield { type: "part", part };
}

/** Reads an answer in one piece; throws an error sent in its place. */
export function readResponse(response: Response, known: KnownAnswer): Completion {
  keepResponse(known, response);
  if (response.status === "failed" || !Array.isArray(response.output)) throw failureOf(response);
  return { parts: response.output.flatMap(partOf), stop: stopOf(response, response.output, known) };
}

/** The error sent instead of an answer; without details it counts as a server error. */
function failureOf({ error }: Response): StreamedError {
  return new StreamedError(error ?? { type: "server_error" });
}

function keepResponse(known: KnownAnswer, { id, model, usage }: Response): void {
  known.id = id ?? known.id;
  known.model = model || known.model;
  known.usage = usage ?? known.usage;
}

function partOf(item: Item): readonly AnswerPart[] {
  switch (item.type) {
    case "message": {
      const text = item.content.map((part) => (part.type === "refusal" ? part.refusal : part.text)).join("");
      // Newer models need to get back which of their messages were commentary.
      const metadata = item.phase ? { metadata: { phase: item.phase } } : {};
      return text === "" ? [] : [{ kind: "message", text, ...metadata }];
    }
    case "reasoning": {
      const texts = item.summary.length > 0 ? item.summary : (item.content ?? []);
      const metadata = item.encrypted_content ? { metadata: { encrypted: item.encrypted_content } } : {};
      const text = texts.map((part) => part.text).join("\n\n");
      return text === "" && !item.encrypted_content ? [] : [{ kind: "reasoning", text, ...metadata }];
    }
    case "function_call":
      return [toToolCall({ callId: item.call_id, name: item.name, text: item.arguments })];
    default:
      return [];
  }
}

function stopOf(response: Response, items: readonly Item[], { id, model, usage }: KnownAnswer): Stop {
  const { status = null, incomplete_details: details } = response;
  const why = (status === "incomplete" ? details?.reason : null) ?? status;
  const reason = status === "completed" ? wholeReason(items) : stopReason(INCOMPLETE, why);
  return { reason, providerReason: why, usage: usage ?? null, model, id };
}

const INCOMPLETE: Readonly<Record<string, StopReason>> = { max_output_tokens: "length", content_filter: "refusal" };

function wholeReason(items: readonly Item[]): StopReason {
  const isRefused = items.some(
    (item) => item.type === "message" && item.content.some(({ type }) => type === "refusal"),
  );
  if (isRefused) return "refusal";
  return items.some(({ type }) => type === "function_call") ? "tool_calls" : "complete";
}

// Talks to OpenAI's Responses API.
import type OpenAI from "openai";
import type { LlmClient, LlmConnection } from "./llm-client.ts";
import { listOpenAiModels } from "./openai-models.ts";
import { readResponse, readResponsesStream } from "./openai-responses-answer.ts";
import { toResponsesBody } from "./openai-responses-request.ts";
import { openOpenAi } from "./openai-sdk.ts";
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

// Talks to servers that speak OpenAI's Chat Completions: Groq, OpenRouter, Ollama, llama.cpp, LM Studio and many more.
import type { LlmClient, LlmConnection } from "./llm-client.ts";
import { readChatCompletion, readChatStream } from "./openai-chat-answer.ts";
import { toChatBody } from "./openai-chat-request.ts";
import { listOpenAiModels } from "./openai-models.ts";
import { openOpenAi } from "./openai-sdk.ts";
import { completeAnswer, streamAnswer } from "./tries.ts";

const PATH = "/chat/completions";

/** Creates a client of an OpenAI-compatible server. */
export function createChatClient(connection: LlmConnection): LlmClient {
  return {
    api: "openai-chat",
    provider: connection.provider,
    stream: (request) => {
      const body = toChatBody(connection, request, true);
      return streamAnswer(connection, request, async function* (exchange) {
        const chunks = await openOpenAi(connection, exchange).post(PATH, { body, stream: true });
        yield* readChatStream(chunks as AsyncIterable<unknown>, exchange.known);
      });
    },
    complete: async (request) => {
      const body = toChatBody(connection, request, false);
      return completeAnswer(connection, request, async (exchange) =>
        readChatCompletion(await openOpenAi(connection, exchange).post(PATH, { body }), exchange.known),
      );
    },
    listModels: (signal) => listOpenAiModels(connection, signal),
  };
}

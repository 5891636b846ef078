// Talks to Google's Gemini API. The library's build for browsers is used on purpose: the one for Node reads keys, projects and
// addresses from the environment, warns on the console about them, and brings Google's sign-in along.
import { GoogleGenAI, type Model } from "@google/genai/web";
import { appendAll } from "../core/lists.ts";
import type { Exchange } from "./exchange.ts";
import { OWN_URLS } from "./failure.ts";
import { readGoogleResponse, readGoogleStream } from "./google-answer.ts";
import { toCountedContents, toGoogleParameters } from "./google-request.ts";
import type { ListedModel, LlmClient, LlmConnection } from "./llm-client.ts";
import { askProvider, completeAnswer, streamAnswer } from "./tries.ts";

/** Models of a page of the list: the most that the API gives. */
const PAGE = 1000;

/** Creates a client of Google's API. */
export function createGoogleClient(connection: LlmConnection): LlmClient {
  return {
    api: "google",
    provider: connection.provider,
    stream: (request) => {
      const parameters = toGoogleParameters(request);
      return streamAnswer(connection, request, async function* (exchange) {
        const chunks = await openSdk(connection, exchange).models.generateContentStream(parameters);
        yield* readGoogleStream(chunks, exchange.known);
      });
    },
    complete: async (request) => {
      const parameters = toGoogleParameters(request);
      return completeAnswer(connection, request, async (exchange) =>
        readGoogleResponse(await openSdk(connection, exchange).models.generateContent(parameters), exchange.known),
      );
    },
    countTokens: async (request) => {
      const counted = { model: request.model, contents: toCountedContents(request) };
      return askProvider(connection, request, async (exchange) => {
        const { totalTokens } = await openSdk(connection, exchange).models.countTokens(counted);
        if (totalTokens === undefined) throw new TypeError("no count");
        return totalTokens;
      });
    },
    listModels: (signal) =>
      askProvider(connection, { signal }, async (exchange) => {
        const models: ListedModel[] = [];
        const pages = await openSdk(connection, exchange).models.list({ config: { pageSize: PAGE } });
        for await (const model of pages) appendAll(models, toListed(model));
        return models;
      }),
  };
}

function openSdk({ apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): GoogleGenAI {
  return new GoogleGenAI({
    // The exchange signs requests itself; the library wants a key to start.
    apiKey: apiKey || "none",
    vertexai: false,
    httpOptions: { baseUrl: (baseUrl ?? OWN_URLS.google).replace(/(?:\/v1beta)?\/*$/, ""), fetch },
  });
}

/** Only models that give answers; the list also has those that make pictures or vectors. */
function toListed({ name = "", inputTokenLimit, outputTokenLimit, supportedActions }: Model): readonly ListedModel[] {
  if (supportedActions !== undefined && !supportedActions.includes("generateContent")) return [];
  return [
    {
      name: name.replace(/^models\//, ""),
      ...(inputTokenLimit ? { contextWindow: inputTokenLimit } : {}),
      ...(outputTokenLimit ? { maxOutput: outputTokenLimit } : {}),
    },
  ];
}

// Talks to Anthropic's Messages API, or to a server that speaks it. The library is used through its plain `post`, because its
// own methods warn on the console about models, and without the methods of the other APIs, which are three quarters of it.
import { type Anthropic, BaseAnthropic } from "@anthropic-ai/sdk";
import { Models } from "@anthropic-ai/sdk/resources/models";
import { defined } from "../core/json.ts";
import { readAnthropicMessage, readAnthropicStream } from "./anthropic-answer.ts";
import { toAnthropicBody, toAnthropicInput } from "./anthropic-request.ts";
import { type Exchange, LONGEST_TIMER } from "./exchange.ts";
import { OWN_URLS } from "./failure.ts";
import type { ListedModel, LlmClient, LlmConnection } from "./llm-client.ts";
import { askProvider, completeAnswer, streamAnswer } from "./tries.ts";

/** Models of a page of the list: the most that the API gives. */
const PAGE = 1000;

/** Creates a client of Anthropic's API. */
export function createAnthropicClient(connection: LlmConnection): LlmClient {
  return {
    api: "anthropic",
    provider: connection.provider,
    stream: (request) => {
      const body = toAnthropicBody(request, true);
      return streamAnswer(connection, request, async function* (exchange) {
        const events = await openSdk(connection, exchange).post(PATH, { body, stream: true });
        yield* readAnthropicStream(events as AsyncIterable<Anthropic.RawMessageStreamEvent>, exchange.known);
      });
    },
    complete: async (request) => {
      const body = toAnthropicBody(request, false);
      return completeAnswer(connection, request, async (exchange) => {
        const message = await openSdk(connection, exchange).post(PATH, { body });
        return readAnthropicMessage(message as Anthropic.Message, exchange.known);
      });
    },
    countTokens: async (request) => {
      const body = toAnthropicInput(request);
      return askProvider(connection, request, async (exchange) => {
        const count = await openSdk(connection, exchange).post(`${PATH}/count_tokens`, { body });
        const { input_tokens } = count as Partial<Anthropic.MessageTokensCount>;
        if (input_tokens === undefined) throw new TypeError("no count");
        return input_tokens;
      });
    },
    listModels: (signal) =>
      askProvider(connection, { signal }, async (exchange) => {
        const models: ListedModel[] = [];
        const pages = new Models(openSdk(connection, exchange)).list({ limit: PAGE });
        for await (const model of pages) models.push(toListed(model));
        return models;
      }),
  };
}

const PATH = "/v1/messages";

/** Everything is given, so that the library reads nothing from the environment. */
function openSdk({ apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): BaseAnthropic {
  return new BaseAnthropic({
    // The exchange signs requests itself; without a key here the library would look for one.
    apiKey: apiKey || "none",
    baseURL: (baseUrl ?? OWN_URLS.anthropic).replace(/(?:\/v1)?\/*$/, ""),
    fetch,
    maxRetries: 0,
    timeout: LONGEST_TIMER,
    logLevel: "off",
    webhookKey: null,
    openTelemetry: false,
  });
}

function toListed({
  id,
  max_input_tokens,
  max_tokens,
  lifecycle,
  retires_at,
  deprecated_at,
}: Anthropic.ModelInfo): ListedModel {
  const retires = lifecycle === "active" ? undefined : (retires_at ?? deprecated_at ?? undefined);
  return {
    name: id,
    ...(max_input_tokens ? { contextWindow: max_input_tokens } : {}),
    ...(max_tokens ? { maxOutput: max_tokens } : {}),
    ...defined({ retires }),
  };
}

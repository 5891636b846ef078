// Opens OpenAI's library for one try of a request. Every option is set, so that it reads nothing from the environment and logs nothing.
import OpenAI from "openai";
import { type Fields, fieldsOf } from "../core/conversation/event.ts";
import type { ListedModel, LlmConnection } from "./client.ts";
import { DEFAULT_URLS } from "./errors.ts";
import { type Exchange, LONGEST_TIMER } from "./exchange.ts";
import { askProvider } from "./tries.ts";

/** Opens the library on an exchange, which authenticates the requests. */
export function openOpenAi({ api, apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): OpenAI {
  return new OpenAI({
    // Without a key the library would search the environment.
    apiKey: apiKey || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: (baseUrl ?? DEFAULT_URLS[api]).replace(/\/+$/, ""),
    fetch,
    maxRetries: 0,
    timeout: LONGEST_TIMER,
    logLevel: "off",
  });
}

/** Asks for the list of models. */
export function listOpenAiModels(
  connection: LlmConnection,
  signal: AbortSignal | undefined,
): Promise<readonly ListedModel[]> {
  return askProvider(connection, { signal }, async (exchange) => {
    const page = fieldsOf(await openOpenAi(connection, exchange).get("/models"));
    const rows: readonly unknown[] = Array.isArray(page["data"]) ? page["data"] : [];
    return rows.map(fieldsOf).flatMap((row) => (typeof row["id"] === "string" ? [toListed(row["id"], row)] : []));
  });
}

/** The window is in the field of OpenRouter, Groq, vLLM or llama.cpp. OpenRouter dates a retirement; Groq has only `active`. */
function toListed(name: string, row: Fields): ListedModel {
  const top = fieldsOf(row["top_provider"]);
  const contextWindow = firstCount(
    row["context_length"],
    row["context_window"],
    row["max_model_len"],
    fieldsOf(row["meta"])["n_ctx_train"],
  );
  const maxOutput = firstCount(top["max_completion_tokens"], row["max_completion_tokens"]);
  const price = toPrice(fieldsOf(row["pricing"]));
  const retires = [row["expiration_date"], row["active"] === false ? "retired" : null].find(
    (value) => typeof value === "string",
  );
  return {
    name,
    contextWindow,
    maxOutput,
    price,
    ...(typeof retires === "string" && { retires }),
  };
}

/** OpenRouter gives dollars per token as texts, and -1 if the price varies. */
function toPrice({ prompt, completion }: Fields): ListedModel["price"] | undefined {
  const [input, output] = [toDollars(prompt), toDollars(completion)];
  return input === undefined || output === undefined ? undefined : { input, output };
}

function toDollars(perToken: unknown): number | undefined {
  const price = typeof perToken === "string" && perToken !== "" ? Number(perToken) : Number.NaN;
  // Rounded to a millionth: 0.00000015 has no exact binary form.
  return price >= 0 ? Math.round(price * 1e12) / 1e6 : undefined;
}

function firstCount(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === "number" && Number.isInteger(value) && value > 0);
}

// OpenAI's library for one try: everything is given, so that it reads nothing from the environment and says nothing itself.
import OpenAI from "openai";
import { type Exchange, LONGEST_TIMER } from "./exchange.ts";
import { OWN_URLS } from "./failure.ts";
import type { LlmConnection } from "./llm-client.ts";

/** Opens the library on an exchange, which signs the requests. */
export function openOpenAi({ api, apiKey, baseUrl }: LlmConnection, { fetch }: Exchange): OpenAI {
  return new OpenAI({
    // Without a key here the library would look for one.
    apiKey: apiKey || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: (baseUrl ?? OWN_URLS[api]).replace(/\/+$/, ""),
    fetch,
    maxRetries: 0,
    timeout: LONGEST_TIMER,
    logLevel: "off",
  });
}

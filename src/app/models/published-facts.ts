// The published prices and window of a model, from the price list of genai-prices, without network. The list finds models by the
// beginning of a name; matches of another family are rejected.
import type { MatchLogic, ModelInfo } from "@pydantic/genai-prices";
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import { isSameModelFamily, type ListedName, listedNames, type ModelName } from "../../core/model/model-name.ts";
import type { ModelPrice, TokenPrices } from "../../core/model/model-provider.ts";
import { type Runtime, readCacheFile, writeCacheFile } from "../conversation/runtime.ts";

const NOTHING: PublishedFacts = { contextWindow: null, price: null };

/** Providers of the list that are also jpg's. */
const LISTED: ReadonlySet<string> = new Set(["anthropic", "openai", "google", "groq", "openrouter"]);

/** Tokens. OpenAI includes the longest answer in the window of its models since GPT-5, so less can be sent. */
const ANSWER_IN_WINDOW = 128_000;
const COUNTS_ANSWER = /(?:^|\/)gpt-(?:[5-9]|\d\d)/;
/** Smaller windows of these models are of chat variants and say what can be sent. */
const LARGE_WINDOW = 400_000;

/** Finds a model with today's prices. Loading the list takes 50 ms, so the result is cached for the day; see `recallFacts`. */
export async function publishedFacts(runtime: Runtime, name: ModelName): Promise<PublishedFacts> {
  return LISTED.has(name.provider) ? listedFacts(runtime, name) : NOTHING;
}

/**
 * Like `publishedFacts`, for a model as an agent recorded it: with a route before its name, by a provider that jpg cannot ask, or
 * without one.
 */
export async function listedFacts(runtime: Runtime, name: ListedName): Promise<PublishedFacts> {
  const now = runtime.now();
  const memory = { runtime, day: now.toISOString().slice(0, 10), name: `${name.provider ?? ""}/${name.model}` };
  const remembered = await recallFacts(memory);
  if (remembered !== null) return remembered;
  const facts = await lookUp(name, now);
  await rememberFacts(memory, facts);
  return facts;
}

async function lookUp(name: ListedName, at: Date): Promise<PublishedFacts> {
  const list = await import("@pydantic/genai-prices");
  for (const { provider, model } of listedNames(name)) {
    const found = list.calcPrice({}, model, { timestamp: at, providerId: provider });
    if (found === null || !isFound(found.model, model)) continue;
    const { context_window: window } = found.model;
    return {
      contextWindow: window === undefined ? null : sendable(model, window),
      price: toPrice(found.model_price),
    };
  }
  return NOTHING;
}

/** Whether a match is the model: `claude-sonnet-5-5` begins like `claude-sonnet-5` and is another one. */
function isFound({ id, match }: ModelInfo, model: string): boolean {
  return isSameModelFamily(id, model) || isNamed(match, model);
}

/** Whether a row of the list has a model by its whole name, as `gpt-5` has `gpt-5-codex`. */
function isNamed(match: MatchLogic, model: string): boolean {
  if ("or" in match) return match.or.some((one) => isNamed(one, model));
  return "equals" in match && match.equals === model;
}

function sendable(model: string, window: number): number {
  return COUNTS_ANSWER.test(model) && window >= LARGE_WINDOW ? window - ANSWER_IN_WINDOW : window;
}

/** A price of the list: dollars per million tokens, or by the size of the request. */
type ListedPrice =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] }
  | undefined;

function toPrice(listed: Readonly<Record<string, ListedPrice>>): ModelPrice | null {
  const base = pricesAt(listed, 0);
  if (base === null) return null;
  const sizes = Object.values(listed).flatMap((price) =>
    typeof price === "object" ? price.tiers.map(({ start }) => start) : [],
  );
  const webSearches = listed["web_searches_kcount"];
  const searches = typeof webSearches === "number" ? { webSearches } : {};
  const larger = [...new Set(sizes)]
    .sort((a, b) => a - b)
    .flatMap((above) => {
      const prices = pricesAt(listed, above + 1);
      return prices === null ? [] : [{ above, ...prices }];
    });
  return { ...base, ...searches, ...(larger.length === 0 ? {} : { larger }) };
}

/** Cached tokens without a price of their own cost as much as others. */
function pricesAt(listed: Readonly<Record<string, ListedPrice>>, size: number): TokenPrices | null {
  const at = (price: ListedPrice): number | undefined =>
    typeof price === "object" ? (price.tiers.findLast(({ start }) => size > start)?.price ?? price.base) : price;
  const input = at(listed["input_mtok"]);
  const output = at(listed["output_mtok"]);
  if (input === undefined || output === undefined) return null;
  const cacheRead = at(listed["cache_read_mtok"]) ?? input;
  const cacheWrite = at(listed["cache_write_mtok"]) ?? input;
  return { input, output, cacheRead, cacheWrite, cacheWrite1h: at(listed["cache_write_1h_mtok"]) };
}

/** Published facts of a model; null = unknown. */
interface PublishedFacts {
  /** Tokens that can be sent. */
  readonly contextWindow: number | null;
  readonly price: ModelPrice | null;
}

/** The key of cached facts. */
interface FactsMemory {
  readonly runtime: Runtime;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** `provider/model`. */
  readonly name: string;
}

const FILE = "models/published.json";
/** Raise it when other facts are cached, or the list is searched differently. */
const FORMAT = 2;

/** Returns the facts cached on the same day; null when there are none. */
async function recallFacts({ runtime, day, name }: FactsMemory): Promise<PublishedFacts | null> {
  const models = await modelsOf(runtime, day);
  return Object.hasOwn(models, name) ? parseFacts(models[name]) : null;
}

/** Caches facts with those of the same day; drops those of other days. */
async function rememberFacts({ runtime, day, name }: FactsMemory, facts: PublishedFacts): Promise<void> {
  const models = Object.fromEntries([...Object.entries(await modelsOf(runtime, day)), [name, facts]]);
  await writeCacheFile(runtime, FILE, { format: FORMAT, day, models });
}

async function modelsOf(runtime: Runtime, day: string): Promise<Fields> {
  const file = await readCacheFile(runtime, FILE);
  return file["format"] === FORMAT && file["day"] === day ? fieldsOf(file["models"]) : {};
}

function parseFacts(value: unknown): PublishedFacts | null {
  const { contextWindow, price } = fieldsOf(value);
  if (contextWindow !== null && typeof contextWindow !== "number") return null;
  if (price === null) return { contextWindow, price };
  const { larger = [] } = fieldsOf(price);
  if (!isPrices(price) || !Array.isArray(larger) || !larger.every(isLargerPrices)) return null;
  return { contextWindow, price };
}

function isPrices(value: unknown): value is TokenPrices {
  const { input, output, cacheRead, cacheWrite, cacheWrite1h = 0, webSearches = 0 } = fieldsOf(value);
  const prices = [input, output, cacheRead, cacheWrite, cacheWrite1h, webSearches];
  return prices.every((price) => typeof price === "number" && price >= 0);
}

function isLargerPrices(value: unknown): boolean {
  return isPrices(value) && typeof fieldsOf(value)["above"] === "number";
}

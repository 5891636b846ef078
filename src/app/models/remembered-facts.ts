// What the list of published prices says of the models in use, remembered for one day in the user's cache folder: the list
// is large, and prices change with the day.
import { type Fields, fieldsOf } from "../../core/conversation/event.ts";
import type { ModelPrice, TokenPrices } from "../../core/model/model-provider.ts";
import { readCacheFile, writeCacheFile } from "../workspace/cache-file.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** What is published of a model; null = nothing. */
export interface PublishedFacts {
  /** Tokens that can be sent. */
  readonly contextWindow: number | null;
  readonly price: ModelPrice | null;
}

/** Where facts are remembered. */
export interface FactsMemory {
  readonly runtime: Runtime;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  /** `provider/model`. */
  readonly name: string;
}

const FILE = "models/published.json";
/** Raised when other facts are kept, or the list is searched otherwise. */
const FORMAT = 2;

/** Gives the facts that were looked up on the same day; null when they were not. */
export async function recallFacts({ runtime, day, name }: FactsMemory): Promise<PublishedFacts | null> {
  const models = await modelsOf(runtime, day);
  return Object.hasOwn(models, name) ? parseFacts(models[name]) : null;
}

/** Remembers facts beside those of the same day; those of other days are dropped. */
export async function rememberFacts({ runtime, day, name }: FactsMemory, facts: PublishedFacts): Promise<void> {
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

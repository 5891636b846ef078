// What is published of a model's prices and window, from the price list of genai-prices. It is loaded when asked for, and
// nothing is fetched. The list finds models by the beginning of their name; a find of another family is no find.
import { isSameModelFamily } from "../../core/model/model-family.ts";
import { formatModelName, type ModelName } from "../../core/model/model-name.ts";
import type { ModelPrice, TokenPrices } from "../../core/model/model-price.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { type PublishedFacts, recallFacts, rememberFacts } from "./remembered-facts.ts";

const NOTHING: PublishedFacts = { contextWindow: null, price: null };

/** Providers of the list that are also ours. */
const LISTED: ReadonlySet<string> = new Set(["anthropic", "openai", "google", "groq", "openrouter"]);

/** OpenAI counts the longest answer into the window of its models since GPT-5: what can be sent is smaller. Tokens. */
const ANSWER_IN_WINDOW = 128_000;
const COUNTS_ANSWER = /(?:^|\/)gpt-(?:[5-9]|\d\d)/;
/** Smaller windows of these models are those of chat variants, which say what can be sent. */
const LARGE_WINDOW = 400_000;

/**
 * Looks a model up with the prices of today. Loading the list takes 50 ms, so what it says is remembered for the day; see
 * remembered-facts.ts.
 */
export async function publishedFacts(runtime: Runtime, name: ModelName): Promise<PublishedFacts> {
  if (!LISTED.has(name.provider)) return NOTHING;
  const now = runtime.now();
  const memory = { runtime, day: now.toISOString().slice(0, 10), name: formatModelName(name) };
  const remembered = await recallFacts(memory);
  if (remembered !== null) return remembered;
  const facts = await lookUp(name, now);
  await rememberFacts(memory, facts);
  return facts;
}

async function lookUp({ provider, model }: ModelName, at: Date): Promise<PublishedFacts> {
  const { loadPriceList } = await import("./price-list.ts");
  const list = await loadPriceList();
  const found = list?.calcPrice({}, model, { providerId: provider, timestamp: at }) ?? null;
  // `claude-sonnet-5-5` begins like `claude-sonnet-5` and is another model.
  if (found === null || !isSameModelFamily(found.model.id, model)) return NOTHING;
  const { context_window: window } = found.model;
  return {
    contextWindow: window === undefined ? null : sendable(model, window),
    price: toPrice(found.model_price),
  };
}

function sendable(model: string, window: number): number {
  return COUNTS_ANSWER.test(model) && window >= LARGE_WINDOW ? window - ANSWER_IN_WINDOW : window;
}

/** A price of the list: dollars for a million tokens, or by the size of the request. */
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
  const larger = [...new Set(sizes)]
    .sort((a, b) => a - b)
    .flatMap((above) => {
      const prices = pricesAt(listed, above + 1);
      return prices === null ? [] : [{ above, ...prices }];
    });
  return larger.length === 0 ? base : { ...base, larger };
}

/** Cached tokens without a price of their own cost what others do. */
function pricesAt(listed: Readonly<Record<string, ListedPrice>>, size: number): TokenPrices | null {
  const at = (price: ListedPrice): number | undefined =>
    typeof price === "object" ? (price.tiers.findLast(({ start }) => size > start)?.price ?? price.base) : price;
  const input = at(listed["input_mtok"]);
  const output = at(listed["output_mtok"]);
  if (input === undefined || output === undefined) return null;
  const cacheRead = at(listed["cache_read_mtok"]) ?? input;
  const cacheWrite = at(listed["cache_write_mtok"]) ?? input;
  return { input, output, cacheRead, cacheWrite };
}

// The models that short names stand for, and which of each provider answers, and writes summaries, when nobody chose. Checked
// against the providers' model pages in November 2026; a retired model is taken out, never kept as a default.
import type { ModelPrice } from "./model-price.ts";

/** A model of the table. What the price lists know of it is not repeated here. */
export interface CurrentModel {
  readonly provider: string;
  /** Short name that means it. */
  readonly alias: string;
  /** The provider's own name. */
  readonly model: string;
  /** Writes summaries when nobody chose a model. */
  readonly isCheap?: true;
  /** Answers when nobody chose a model. */
  readonly isUsual?: true;
  /** Tokens that can be sent. */
  readonly contextWindow?: number;
  /** Longest answer, tokens. */
  readonly maxOutput?: number;
  readonly price?: ModelPrice;
}

const MODELS: readonly CurrentModel[] = [
  {
    provider: "anthropic",
    alias: "claude-haiku",
    model: "claude-haiku-5-5",
    isCheap: true,
    contextWindow: 1_000_000,
    maxOutput: 128_000,
    price: {
      input: 0.1,
      output: 0.5,
      cacheRead: 0.01,
      cacheWrite: 0.125,
      larger: [{ above: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 }],
    },
  },
  {
    provider: "anthropic",
    alias: "claude-sonnet",
    model: "claude-sonnet-5-5",
    isUsual: true,
    contextWindow: 1_000_000,
    maxOutput: 128_000,
    price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  },
  { provider: "anthropic", alias: "claude-opus", model: "claude-opus-5-5", maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-mini", model: "gpt-5.4-mini", isCheap: true, maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-luna", model: "gpt-6-luna", isUsual: true, maxOutput: 128_000 },
  { provider: "openai", alias: "gpt-sol", model: "gpt-6-sol", maxOutput: 128_000 },
  {
    provider: "google",
    alias: "gemini-flash",
    model: "gemini-3.8-flash",
    isCheap: true,
    isUsual: true,
    contextWindow: 1_048_576,
    maxOutput: 65_536,
  },
  { provider: "google", alias: "gemini-flash-lite", model: "gemini-3.5-flash-lite" },
  {
    provider: "groq",
    alias: "llama-3.3-70b",
    model: "llama-3.3-70b-versatile",
    isCheap: true,
    isUsual: true,
    contextWindow: 131_072,
    maxOutput: 32_768,
  },
  { provider: "openrouter", alias: "cheap", model: "openai/gpt-6-luna", isCheap: true, isUsual: true },
];

/** Models on OpenRouter that write usable summaries: its cheapest ones are toys, or free for the right to read along. */
const OPENROUTER_SUMMARIES: readonly string[] = [
  "openai/gpt-6-luna",
  "openai/gpt-oss-120b",
  "google/gemini-3.5-flash-lite",
  "anthropic/claude-haiku-5.5",
  "meta-llama/llama-3.3-70b-instruct",
];

/** Lists the short names with their providers, e.g. `anthropic/claude-haiku`. */
export function listModelNames(): readonly string[] {
  return MODELS.map(({ provider, alias }) => `${provider}/${alias}`);
}

/** Gives the model that a short name of a provider means; the name itself when it is none. */
export function resolveAlias(provider: string, model: string): string {
  return MODELS.find((row) => row.provider === provider && row.alias === model)?.model ?? model;
}

/** Gives the provider of a short name that stands alone, e.g. `claude-haiku`; undefined when it is none. */
export function providerOfAlias(alias: string): string | undefined {
  return MODELS.find((row) => row.alias === alias && row.provider !== "openrouter")?.provider;
}

/** Finds what the table says of a model by the provider's own name; undefined when it is not in it. */
export function currentModel(provider: string, model: string): CurrentModel | undefined {
  return MODELS.find((row) => row.provider === provider && row.model === model);
}

/** Gives the model of a provider that answers when nobody chose one, the provider's own name; null for one without. */
export function usualModel(provider: string): string | null {
  return MODELS.find((row) => row.provider === provider && row.isUsual)?.model ?? null;
}

/** A model of a list, with its price when the list has one. */
interface PricedModel {
  readonly name: string;
  readonly price?: { readonly input: number; readonly output: number };
  /** Set where the provider takes it out of service. */
  readonly retires?: string;
}

/**
 * Gives the cheap model of a provider for summaries, the provider's own name; null for a provider without one. `listed` is
 * OpenRouter's own list when it is at hand: then the cheapest of the usable ones that are in it with a price.
 */
export function cheapModel(provider: string, listed: readonly PricedModel[] = []): string | null {
  const fixed = MODELS.find((row) => row.provider === provider && row.isCheap)?.model ?? null;
  if (provider !== "openrouter") return fixed;
  const offered = listed.filter(
    ({ name, price, retires }) => price !== undefined && retires === undefined && OPENROUTER_SUMMARIES.includes(name),
  );
  const costOf = ({ price }: PricedModel): number => (price?.input ?? 0) + (price?.output ?? 0);
  return offered.sort((a, b) => costOf(a) - costOf(b))[0]?.name ?? fixed;
}

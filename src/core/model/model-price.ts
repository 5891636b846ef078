// What a model costs.

/** US dollars for a million tokens, by kind. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** Written to a cache that is kept for an hour; absent = twice the input, as Anthropic asks, whose models alone have one. */
  readonly cacheWrite1h?: number;
}

/** The prices of a model. */
export interface ModelPrice extends TokenPrices {
  /** Of requests of more than `above` tokens (sent, cached ones included), for the whole request; ascending. */
  readonly larger?: readonly (TokenPrices & { readonly above: number })[];
  /** US dollars for a thousand searches of the web that the provider ran; absent = 10, what Anthropic and OpenAI ask. */
  readonly webSearches?: number;
}

// What a model costs.

/** US dollars for a million tokens, by kind. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The prices of a model. */
export interface ModelPrice extends TokenPrices {
  /** Of requests of more than `above` tokens (sent, cached ones included), for the whole request; ascending. */
  readonly larger?: readonly (TokenPrices & { readonly above: number })[];
}

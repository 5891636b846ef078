// What a request cost: usage times the prices of its model. A price that is not known is null everywhere, never 0.
import type { ModelPrice } from "../model/model-price.ts";
import { decimal, type SafeText, safe } from "../safe-text.ts";
import { sizeOf, type Usage } from "./usage.ts";

const MILLION = 1_000_000;

const THOUSAND = 1000;
/** US dollars for a thousand searches where no other price is listed. */
const WEB_SEARCHES = 10;
/** Price of a cache that is kept for an hour, in prices of input, where no other is listed. */
const HOUR_IN_INPUTS = 2;

/** Computes the price of one request, US dollars. Sums of requests are sums of prices: prices depend on a request's size. */
export function priceOf(usage: Usage, price: ModelPrice): number {
  const prices = price.larger?.findLast(({ above }) => sizeOf(usage) > above) ?? price;
  const { input, output, cacheRead, cacheWrite, cacheWrite1h: hour = 0, webSearches = 0 } = usage;
  const tokens =
    input * prices.input +
    output * prices.output +
    cacheRead * prices.cacheRead +
    (cacheWrite - hour) * prices.cacheWrite +
    hour * (prices.cacheWrite1h ?? HOUR_IN_INPUTS * prices.input);
  return tokens / MILLION + (webSearches * (price.webSearches ?? WEB_SEARCHES)) / THOUSAND;
}

/** Renders a price in US dollars: four decimals below a dollar, else two; `price unknown` for null. */
export function renderPrice(dollars: number | null): SafeText {
  if (dollars === null) return safe`price unknown`;
  if (dollars > 0 && dollars < 0.0001) return safe`<$0.0001`;
  return safe`$${decimal(dollars, dollars < 1 ? 4 : 2)}`;
}

// What a request cost: usage times the prices of its model. A price that is not known is null everywhere, never 0.
import type { ModelPrice } from "../model/model-price.ts";
import { decimal, type SafeText, safe } from "../safe-text.ts";
import { sizeOf, type Usage } from "./usage.ts";

const MILLION = 1_000_000;

/** Computes the price of one request, US dollars. Sums of requests are sums of prices: prices depend on a request's size. */
export function priceOf(usage: Usage, price: ModelPrice): number {
  const prices = price.larger?.findLast(({ above }) => sizeOf(usage) > above) ?? price;
  const { input, output, cacheRead, cacheWrite } = usage;
  return (
    (input * prices.input + output * prices.output + cacheRead * prices.cacheRead + cacheWrite * prices.cacheWrite) /
    MILLION
  );
}

/** Renders a price in US dollars: four decimals below a dollar, else two; `price unknown` for null. */
export function renderPrice(dollars: number | null): SafeText {
  if (dollars === null) return safe`price unknown`;
  if (dollars > 0 && dollars < 0.0001) return safe`<$0.0001`;
  return safe`$${decimal(dollars, dollars < 1 ? 4 : 2)}`;
}

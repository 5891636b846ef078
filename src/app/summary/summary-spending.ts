// What writing a summary cost: usage and price of all its calls, those whose answers were not taken among them. Sums are known
// only when each call's part is: unknown stays unknown.
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { addUsage, priceOf, readUsage, type Usage } from "../../core/model/usage.ts";

/** A running sum over calls; grows as calls end. */
export interface Spending {
  calls: number;
  /** Null as soon as a call came without usage. */
  usage: Usage | null;
  /** US dollars; null as soon as the price of a call is not known. */
  price: number | null;
}

/** Opens a sum over no calls. */
export function createSpending(): Spending {
  return { calls: 0, usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }, price: 0 };
}

/** Adds a call; `usage` as the provider gave it. */
export function addSpending(spending: Spending, usage: unknown, price: ModelPrice | null): void {
  const read = readUsage(usage);
  const { usage: sum } = spending;
  spending.calls += 1;
  spending.usage = sum === null || read === null ? null : addUsage(sum, read);
  spending.price =
    spending.price === null || read === null || price === null ? null : spending.price + priceOf(read, price);
}

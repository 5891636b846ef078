// The recorded usage and cost of a conversation's requests by turn. Prices are those published today: no agent records what was
// paid.
import type { Config } from "../../config/config.ts";
import { recordedRequests } from "../../core/model/calibration.ts";
import type { ModelPrice } from "../../core/model/model-provider.ts";
import { priceOf, type TurnFacts } from "../../core/model/usage.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { recordedFacts } from "../models/models.ts";

/** The sum of requests with recorded usage; tokens are whole numbers. */
export interface RecordedCost {
  readonly requests: number;
  /** Neither read from nor written to a cache. */
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
  /** US dollars at today's list prices; null = the price of a model is unknown. */
  readonly price_usd: number | null;
}

const NOTHING: RecordedCost = { requests: 0, input: 0, cache_read: 0, cache_write: 0, output: 0, price_usd: 0 };

/** Sums costs; null where nothing is recorded. */
export function addCosts(costs: Iterable<RecordedCost>): RecordedCost | null {
  let sum = NOTHING;
  for (const cost of costs)
    sum = {
      requests: sum.requests + cost.requests,
      input: sum.input + cost.input,
      cache_read: sum.cache_read + cost.cache_read,
      cache_write: sum.cache_write + cost.cache_write,
      output: sum.output + cost.output,
      price_usd: sum.price_usd === null || cost.price_usd === null ? null : sum.price_usd + cost.price_usd,
    };
  return sum.requests === 0 ? null : sum;
}

/** The recorded cost by turn position, without turns that have none. Uses no network. */
export async function costByTurn(
  workspace: Workspace,
  config: Config,
  facts: readonly TurnFacts[],
): Promise<ReadonlyMap<number, RecordedCost>> {
  const priceFor = createPrices(workspace, async () => config);
  const costs = new Map<number, RecordedCost>();
  for (const { usage, turn, model } of recordedRequests(facts)) {
    const { input, cacheRead, cacheWrite, output } = usage;
    const price = await priceFor(model);
    const cost: RecordedCost = {
      requests: 1,
      input,
      cache_read: cacheRead,
      cache_write: cacheWrite,
      output,
      price_usd: price === null ? null : priceOf(usage, price),
    };
    costs.set(turn, addCosts([costs.get(turn) ?? NOTHING, cost]) ?? cost);
  }
  return costs;
}

/** Returns a function that finds the price of a model by the name that an agent wrote, each once; null = unknown, or no name. */
export function createPrices(
  workspace: Workspace,
  readConfig: () => Promise<Config>,
): (model: string | undefined) => Promise<ModelPrice | null> {
  const prices = new Map<string, ModelPrice | null>();
  return async (model = "") => {
    const known = prices.get(model);
    if (known !== undefined) return known;
    const price = model === "" ? null : (await recordedFacts(workspace, await readConfig(), { model })).price;
    prices.set(model, price);
    return price;
  };
}

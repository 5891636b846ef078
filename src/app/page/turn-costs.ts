// What the turns of a conversation cost: the usage that their providers recorded, at the prices that are known of the models.

import { JpgError } from "../../core/errors.ts";
import type { ModelPrice } from "../../core/model/model-price.ts";
import type { TurnFacts } from "../../core/tokens/turn-facts.ts";
import { priceOf } from "../../core/tokens/usage-price.ts";
import { modelFacts } from "../models/models.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Prices turns by position, US dollars; those of which an answer has neither usage nor a known price are left out. */
export async function turnCosts(
  workspace: Workspace,
  facts: readonly TurnFacts[],
): Promise<ReadonlyMap<number, number>> {
  const prices = await pricesOf(workspace, new Set(facts.flatMap(({ answers }) => answers.map(({ model }) => model))));
  const costs = new Map<number, number>();
  for (const { index, answers } of facts) {
    const paid = answers.map(({ model, usage }) => {
      const price = prices.get(model);
      return usage === null || price === undefined ? null : priceOf(usage, price);
    });
    if (paid.length === 0 || paid.includes(null)) continue;
    costs.set(
      index,
      paid.reduce<number>((sum, cost) => sum + (cost ?? 0), 0),
    );
  }
  return costs;
}

async function pricesOf(
  workspace: Workspace,
  models: ReadonlySet<string | undefined>,
): Promise<ReadonlyMap<string | undefined, ModelPrice>> {
  const { config } = await workspace.config();
  const prices = new Map<string | undefined, ModelPrice>();
  for (const model of models) {
    if (model === undefined) continue;
    try {
      const { price } = await modelFacts(workspace, config, model);
      if (price !== null) prices.set(model, price);
    } catch (error) {
      // Agents name models that jpg does not know: then nothing is known of their prices.
      if (!(error instanceof JpgError)) throw error;
    }
  }
  return prices;
}

// Whom a compaction would ask for its summary, how much it would be sent, and what that costs: said before it is done.

import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { sayTurns } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { priceOf, renderPrice } from "../../core/model/usage.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { type CompactRequest, compact } from "../compact/compact.ts";
import { modelFacts } from "../models/models.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** A model, and what asking it comes to. */
export interface AskedCost {
  /** `provider/model`. */
  readonly model: string;
  /** Turn positions, 0-based, inclusive. */
  readonly from_turn: number;
  readonly to_turn: number;
  /** Estimate of the raw events that it is sent. */
  readonly tokens: number;
  /** US dollars for these at list prices, without the answer; null = not known. */
  readonly price_usd: number | null;
}

/** Tells whom a compaction would ask; null = nobody. It asks nobody itself. */
export async function askedModel(
  workspace: Workspace,
  tree: BranchTree,
  request: CompactRequest,
): Promise<AskedCost | null> {
  const { planned_summary, further } = await compact(workspace, tree, { ...request, dryRun: true });
  const planned = planned_summary ?? further?.planned_summary ?? null;
  if (planned === null || planned.model === EXTRACTIVE) return null;
  const { model, from_turn, to_turn } = planned;
  const covered = tree.turnOids.map((_, turn) => turn).filter((turn) => from_turn <= turn && turn <= to_turn);
  const { turns, meter } = await loadCounted(workspace.store, tree, covered);
  const tokens = meter.countEvents(covered.flatMap((turn) => turns.get(turn)?.events ?? []));
  const { config } = await loadConversationConfig(workspace, tree);
  const { price } = await modelFacts(workspace, config, model);
  const price_usd = price === null ? null : priceOf({ input: tokens, output: 0, cacheRead: 0, cacheWrite: 0 }, price);
  return { model, from_turn, to_turn, tokens, price_usd };
}

/** Says it in a sentence. */
export function describeAsked({ model, from_turn: from, to_turn: to, tokens, price_usd: price }: AskedCost): string {
  const turns = sayTurns(from, to);
  const cost = price === null ? "its price is not known" : `${renderPrice(price)} at list prices, and its answer`;
  return `It asks ${model} for a summary of ${turns}: about ${formatTokens(tokens)} tokens are sent, ${cost}.`;
}

// Computes what strategies would still free of a view: each alone, and all that need neither a model nor a person together, which
// is the limit of mechanical compaction. Plans like `jpg compact --strategy NAME`, but without the least gain of a batch.
import { planCompaction, trialOf } from "../../core/compact/plan.ts";
import { type ChosenStrategies, choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { STRATEGIES } from "../../core/compact/strategies/strategy-list.ts";
import { type StrategyFacts, TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { isNothing } from "../../core/conversation/bound-resolution.ts";
import { project } from "../../core/conversation/projection.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { gatherFacts, type LoadedForPlan, loadForPlan, rangeOf } from "./plan.ts";

export interface StrategyHeadroom {
  readonly strategy: string;
  /** Tokens, 0 or more. */
  readonly frees: number;
  /** Tokens of the view after it. */
  readonly after: number;
}

interface Headroom {
  /** Each alone, the mildest first, `auto` last. */
  readonly strategies: readonly StrategyHeadroom[];
  readonly mechanical: Omit<StrategyHeadroom, "strategy">;
}

export interface HeadroomView extends LoadedForPlan {
  readonly headroom: Headroom;
}

/** Strategies that work by rule; the others ask a model or a person. */
const MECHANICAL: readonly string[] = STRATEGIES.flatMap(({ name, summarizes }) =>
  summarizes === true || name === TANGENTS ? [] : [name],
);

/** Loads a branch and plans each strategy on it. Throws `spliced_turns`. */
export async function loadHeadroom(workspace: Workspace, tree: BranchTree): Promise<HeadroomView> {
  const all = choosePipelines(MECHANICAL);
  const loaded = await loadForPlan(workspace, tree, { range: {}, strategies: all });
  const { live, meter, before } = loaded;
  const viewTokens = meter.countView(before, live.applied).tokens;
  const known = { ...loaded, hints: loaded.request.hints ?? {}, workspace, tree, viewTokens };
  // Gathered once: the facts are the same for each strategy.
  const { known: gathered } = await gatherFacts(all, known);
  const free = (chosen: ChosenStrategies): Headroom["mechanical"] => {
    const after = Math.min(viewTokens, sizeAfter(loaded, chosen, gathered));
    return { frees: viewTokens - after, after };
  };
  const strategies = [...MECHANICAL, "auto"].map((name) => ({ strategy: name, ...free(choosePipelines([name])) }));
  // Together they protect the newest tokens; a single strategy that protects turns may reach further.
  const after = Math.min(free(all).after, ...strategies.map((one) => one.after));
  return { ...loaded, headroom: { strategies, mechanical: { frees: viewTokens - after, after } } };
}

/** Returns the tokens of the view after some strategies. */
function sizeAfter(loaded: LoadedForPlan, chosen: ChosenStrategies, known: StrategyFacts): number {
  const { config, live, meter, before, request } = loaded;
  const range = rangeOf({ range: {}, strategies: chosen }, config.conversation.compaction);
  const plan = planCompaction({ ...request, range, strategies: chosen, strategyFacts: known });
  if (isNothing(plan)) return meter.countView(before, live.applied).tokens;
  const compactions = [...live.applied, trialOf(plan.compaction, false)];
  return meter.countView(project({ ...request, compactions }), compactions).tokens;
}

// What strategies would still free of a view: each by itself, and all that need neither a model nor a person together, which is
// where mechanical compaction ends. Planned as `jpg compact --strategy NAME` plans, but for the least gain of a batch.
import { planCompaction, trialOf } from "../../core/compact/plan.ts";
import { type ChosenStrategies, choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { STRATEGIES } from "../../core/compact/strategies/strategy-list.ts";
import { type StrategyFacts, TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { isNothing } from "../../core/conversation/bound-resolution.ts";
import { project } from "../../core/conversation/projection.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { gatherFacts, type LoadedForPlan, loadForPlan, rangeOf } from "./plan.ts";

/** What a strategy would free. */
export interface StrategyHeadroom {
  readonly strategy: string;
  /** Tokens, 0 or more. */
  readonly frees: number;
  /** Tokens of the view afterwards. */
  readonly after: number;
}

/** What is left to be freed of a view. */
interface Headroom {
  /** Each by itself; those that take least first, `auto` at the end. */
  readonly strategies: readonly StrategyHeadroom[];
  /** All of them together. */
  readonly mechanical: Omit<StrategyHeadroom, "strategy">;
}

/** A branch with what is left to be freed of it. */
export interface HeadroomView extends LoadedForPlan {
  readonly headroom: Headroom;
}

/** Strategies that take out by rule: the others ask a model, or a person. */
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
  // Asked once: what obsoletes a call is the same for each of them.
  const { known: gathered } = await gatherFacts(all, known);
  const free = (chosen: ChosenStrategies): Headroom["mechanical"] => {
    const after = Math.min(viewTokens, sizeAfter(loaded, chosen, gathered));
    return { frees: viewTokens - after, after };
  };
  const strategies = [...MECHANICAL, "auto"].map((name) => ({ strategy: name, ...free(choosePipelines([name])) }));
  // Together they leave the newest tokens alone; one that leaves turns alone may reach further by itself.
  const after = Math.min(free(all).after, ...strategies.map((one) => one.after));
  return { ...loaded, headroom: { strategies, mechanical: { frees: viewTokens - after, after } } };
}

/** Tokens of the view once some strategies have run. */
function sizeAfter(loaded: LoadedForPlan, chosen: ChosenStrategies, known: StrategyFacts): number {
  const { config, live, meter, before, request } = loaded;
  const range = rangeOf({ range: {}, strategies: chosen }, config.conversation.compaction);
  const plan = planCompaction({ ...request, range, strategies: chosen, known });
  if (isNothing(plan)) return meter.countView(before, live.applied).tokens;
  const compactions = [...live.applied, trialOf(plan.compaction, false)];
  return meter.countView(project({ ...request, compactions }), compactions).tokens;
}

// Leaves turns out of the view by their positions, in as few compactions as can say it: one, unless what stands between them is
// shortened by older ones (core/tangents/tangent-plan.ts).
import { boundAt } from "../../core/range/range-bound.ts";
import type { TurnRange } from "../../core/range/turn-range.ts";
import { choosePipelines } from "../../core/strategies/pipelines.ts";
import { planOmissions } from "../../core/tangents/tangent-plan.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadCompactions, loadTurns } from "../branch/load-view.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CompactRequest } from "./compact-request.ts";
import { beginSeries } from "./compaction-series.ts";

export interface OmitRequest extends Pick<CompactRequest, "dryRun" | "fork" | "activate" | "force"> {
  /** Runs of turns, 0-based, inclusive, ascending and apart from each other; not empty. */
  readonly runs: readonly TurnRange[];
}

/** Leaves turns out: one report for each compaction, in order, one as a rule. Throws what `compact` throws. */
export async function omitTurns(
  workspace: Workspace,
  tree: BranchTree,
  { runs, ...request }: OmitRequest,
): Promise<readonly CompactReport[]> {
  const [first, last] = [runs[0]?.from ?? 0, runs.at(-1)?.to ?? 0];
  const between = tree.turnOids
    .map((_, turn) => turn)
    .filter((turn) => turn > first && turn < last && !runs.some(({ from, to }) => turn >= from && turn <= to));
  const turns = await loadTurns(workspace.store, tree, between);
  const { applied: compactions } = await loadCompactions(workspace.store, tree);
  const reports: CompactReport[] = [];
  const series = beginSeries(workspace, tree);
  for (const { from, to, keep } of planOmissions(runs, { turns, compactions })) {
    const { report } = await series.append({
      ...request,
      range: { from: boundAt(from), to: boundAt(to) },
      strategies: choosePipelines(["classify-tangents"]),
      ...(keep.length === 0 ? {} : { keep }),
    });
    reports.push(report);
  }
  return reports;
}

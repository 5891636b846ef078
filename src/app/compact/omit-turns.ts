// Leaves turns out of the view by their positions, in as few compactions as can say it: one, unless what stands between them is
// shortened by older ones (core/tangents/tangent-plan.ts).

import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { TANGENTS } from "../../core/compact/strategies/strategy-names.ts";
import { planOmissions } from "../../core/compact/tangents.ts";
import type { TurnRange } from "../../core/conversation/event.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { loadCompactions, loadTurns } from "../branch/load-view.ts";
import type { CompactReport } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CompactRequest } from "./compact-request.ts";
import type { CompactionSeries } from "./compaction-series.ts";

export interface OmitRequest extends Pick<CompactRequest, "dryRun" | "fork" | "activate" | "force"> {
  /** Runs of turns, 0-based, inclusive, ascending and apart from each other; not empty. */
  readonly runs: readonly TurnRange[];
}

/**
 * Leaves turns out, as the first compactions of a series: one report for each, in order, one as a rule. Throws `bad_turns` for
 * turns that there are not, and what `compact` throws.
 */
export async function omitTurns(
  { store }: Pick<Workspace, "store">,
  series: CompactionSeries,
  { runs, ...request }: OmitRequest,
): Promise<readonly CompactReport[]> {
  const tree = await series.tree();
  requireTurns(runs, tree.turnOids.length);
  const [first, last] = [runs[0]?.from ?? 0, runs.at(-1)?.to ?? 0];
  const between = tree.turnOids
    .map((_, turn) => turn)
    .filter((turn) => turn > first && turn < last && !runs.some(({ from, to }) => turn >= from && turn <= to));
  const turns = await loadTurns(store, tree, between);
  const { applied: compactions } = await loadCompactions(store, tree);
  const reports: CompactReport[] = [];
  for (const { from, to, keep } of planOmissions(runs, { turns, compactions })) {
    const { report } = await series.append({
      ...request,
      range: { from: boundAt(from), to: boundAt(to) },
      strategies: choosePipelines([TANGENTS]),
      ...(keep.length === 0 ? {} : { keep }),
    });
    reports.push(report);
  }
  return reports;
}

function requireTurns(runs: readonly TurnRange[], turnCount: number): void {
  const missing = runs.filter(({ to }) => to >= turnCount).map(({ from }) => Math.max(from, turnCount));
  const [first] = missing;
  if (first === undefined) return;
  throw userError("bad_turns", `There is no turn ${first}: the last of ${turnCount} turns is turn ${turnCount - 1}.`, {
    data: { turn: first, turns: turnCount },
    hints: ["Turns are counted from 0; `jpg print` shows them."],
  });
}

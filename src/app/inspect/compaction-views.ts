// The two views around a compaction, as they were when it was made: at its commit, without newer ones that came with that. What was
// made as one with it counts as one.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { type CompactionGroup, groupOf } from "../../core/conversation/group.ts";
import { project } from "../../core/conversation/projection.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { compactionIdOfPath } from "../branch/compaction-path.ts";
import { loadCountedHere } from "../branch/counted-view.ts";
import { loadCompactions, loadShown } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What a compaction changed. */
export interface CompactionViews {
  readonly group: CompactionGroup;
  /** At least those that either view shows, and those that the group covers. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  readonly after: View;
  /** Counts as `compact` did when it was made. */
  readonly meter: TokenMeter;
}

/** Loads both views of a compaction that a commit of the branch added as a file. */
export async function loadCompactionViews(
  { store }: Workspace,
  tree: Pick<BranchTree, "branch">,
  { commit, path, compaction }: { readonly commit: string; readonly path: string; readonly compaction: Compaction },
): Promise<CompactionViews> {
  const there = await loadBranchTree(store, tree.branch, commit);
  const group = groupOf(compaction, (await loadCompactions(store, there)).all);
  const own = new Set(group.map(({ id }) => id));
  // The time that a record was made begins its name.
  const isThen = (file: string): boolean => file <= path || own.has(compactionIdOfPath(file) ?? "");
  const then = { ...there, compactions: there.compactions.filter((file) => isThen(file.path)) };
  const { applied: withIt } = await loadCompactions(store, then);
  const without = withIt.filter(({ id }) => !own.has(id));
  const turnCount = then.turnOids.length;
  const positions = group.flatMap((one) => positionsIn(one, turnCount));
  const turns = await loadShown(store, then, { positions, views: [withIt, without] });
  const { meter } = await loadCountedHere(store, then);
  return {
    group,
    turns,
    meter,
    before: project({ turnCount, turns, compactions: without }),
    after: project({ turnCount, turns, compactions: withIt }),
  };
}

function positionsIn({ from_turn: from, to_turn: to }: Compaction, turnCount: number): number[] {
  return Array.from({ length: Math.max(0, Math.min(to, turnCount - 1) - from + 1) }, (_, index) => from + index);
}

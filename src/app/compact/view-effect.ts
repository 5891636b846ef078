// What a compaction that is ready does to the view of a branch, for the message of its commit: what it hides, and the changes that
// weigh most.
import { type CompactionGroup, groupRange } from "../../core/conversation/group.ts";
import { project } from "../../core/conversation/projection.ts";
import type { CompactionEffect } from "../../store/compaction-body.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadCounted } from "../branch/counted-view.ts";
import { type KnownTurns, loadShown } from "../branch/load-view.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { hiddenBy } from "../plan/hidden-by.ts";

/** Works out what compactions, made as one, change of a branch that has them not. Reads the turns of their ranges. */
export async function viewEffectOf(
  store: ConversationStore,
  tree: BranchTree,
  group: CompactionGroup,
): Promise<CompactionEffect> {
  const known: KnownTurns = new Map();
  const turnCount = tree.turnOids.length;
  const { view: before, live, meter } = await loadCounted(store, tree, [], known);
  const compactions = [...live.applied, ...group];
  const { from, to } = groupRange(group);
  const covered = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const turns = await loadShown(store, tree, { positions: covered, views: [live.applied, compactions], known });
  const after = project({ turnCount, turns, compactions });
  return {
    hidden: hiddenBy({ from_turn: from, to_turn: to }, { turns, before, after, meter }),
    changes: largestChanges({ before, after, meter }, new Set(group.map(({ id }) => id))),
  };
}

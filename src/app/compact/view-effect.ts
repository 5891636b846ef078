// What a compaction that is ready does to the view of a branch, for the message of its commit: what it hides, and the changes that
// weigh most.
import type { Compaction } from "../../core/compaction/compaction.ts";
import { planReading } from "../../core/projection/hidden-turns.ts";
import { project } from "../../core/projection/projection.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { CompactionEffect } from "../../store/messages/compaction-body.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type KnownTurns, loadTurns, loadView } from "../branch/load-view.ts";
import { largestChanges } from "../diff/largest-changes.ts";
import { hiddenBy } from "../plan/hidden-by.ts";

/** Works out what a compaction changes of a branch that has it not. Reads the turns of its range. */
export async function viewEffectOf(
  store: ConversationStore,
  tree: BranchTree,
  compaction: Compaction,
): Promise<CompactionEffect> {
  const known: KnownTurns = new Map();
  const turnCount = tree.turnOids.length;
  const { view: before, live } = await loadView(store, tree, { known });
  const compactions = [...live.applied, compaction];
  const { from_turn: from, to_turn: to } = compaction;
  const covered = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const wanted = new Set([...planReading(turnCount, live.applied), ...planReading(turnCount, compactions), ...covered]);
  const turns = await loadTurns(store, tree, [...wanted], known);
  const after = project({ turnCount, turns, compactions });
  return {
    hidden: hiddenBy(compaction, { turns, before, after }),
    changes: largestChanges(before, after, compaction.id),
  };
}

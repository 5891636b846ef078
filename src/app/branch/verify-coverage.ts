// The coverage invariant, checked before a compaction is committed: no event may be lost from the view, doubled or made up.
import type { Compaction } from "../../core/compaction/compaction.ts";
import { checkCoverage } from "../../core/coverage/coverage.ts";
import { JpgError } from "../../core/errors.ts";
import type { Turn } from "../../core/event/turn.ts";
import { project } from "../../core/projection/projection.ts";
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { BranchTree } from "./branch-tree.ts";
import { loadTurns } from "./load-view.ts";

/** Checks the view with these compactions over all turns of the branch. Throws `coverage_broken`: a bug, nothing may be written. */
export async function verifyCoverage(
  store: ConversationStore,
  tree: BranchTree,
  facts: { readonly turns: ReadonlyMap<number, Turn>; readonly compactions: readonly Compaction[] },
): Promise<void> {
  const missing = tree.turnOids.flatMap((_, index) => (facts.turns.has(index) ? [] : [index]));
  const turns = new Map([...facts.turns, ...(await loadTurns(store, tree, missing))]);
  const ordered = tree.turnOids.flatMap((_, index) => turns.get(index) ?? []);
  const view = project({ turnCount: tree.turnOids.length, turns, compactions: facts.compactions });
  const [violation, ...more] = checkCoverage(ordered, facts.compactions, view);
  if (violation === undefined) return;
  throw new JpgError(
    "internal",
    "coverage_broken",
    `The view would break the coverage invariant (${violation.rule}): ${violation.message}; ${more.length} more.`,
    {
      hints: ["Nothing was committed. Please report this with the conversation's event kinds."],
      data: { rule: violation.rule, id: violation.id },
    },
  );
}

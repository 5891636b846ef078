// Which model answered last in a conversation. The newest turns tell as a rule; older ones are read only where those name
// none, and no turn is read twice.
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadTurns } from "../branch/load-view.ts";
import { conversationModel } from "./models.ts";

/** Turns that are read first. */
const NEWEST_TURNS = 3;
/** Each time so many times more, so that a long conversation takes few reads. */
const GROWTH = 8;

/** The model that answered last on a branch, of those that count, as `provider/model`; null when none is named. */
export async function lastModel(
  store: ConversationStore,
  tree: BranchTree,
  counts: (name: string) => boolean = () => true,
): Promise<string | null> {
  const positions = tree.turnOids.map((_, turn) => turn);
  let end = positions.length;
  for (let count = NEWEST_TURNS; end > 0; count *= GROWTH) {
    const start = Math.max(0, end - count);
    const turns = await loadTurns(store, tree, positions.slice(start, end));
    const model = conversationModel(turns.values(), counts);
    if (model !== null) return model;
    end = start;
  }
  return null;
}

// What a list says of a conversation, worked out from its turns and records.
import { marksInForce } from "../../core/conversation-marks.ts";
import { previousTurn } from "../../core/event/turn.ts";
import type { BranchTip } from "../../store/conversation-store.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { type LoadedWhole, loadWhole } from "../branch/load-view.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { readMetas, titleIn } from "../branch/titles.ts";
import { meterOf, reportTokens } from "../branch/token-report.ts";
import { isBrokenLink } from "../branch/turn-links.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ConversationFacts } from "./facts-cache.ts";

/** Works facts out: every turn is read. Throws what a damaged conversation throws. */
export async function readFacts(workspace: Workspace, { name, commit }: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadWhole(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleIn(metas, tree.header),
    turns: loaded.turns.size,
    ...reportTokens(loaded, meterOf(loaded)),
    compactions: loaded.live.all.length,
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at: new Date(seconds * 1000).toISOString(),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

/** As `findBrokenLinks` says, of turns that are read already: nothing is read again, or kept for each conversation. */
function isSpliced({ turns }: LoadedWhole, { turnOids }: BranchTree): boolean {
  if (turnOids.length < 2) return false;
  return turnOids.some((_, turn) => isBrokenLink(previousTurn(turns.get(turn)?.events ?? []), turnOids[turn - 1]));
}

// What a list says of a conversation, worked out from its turns and records.
import { marksInForce } from "../../core/conversation/marks.ts";
import type { TurnFacts } from "../../core/model/usage.ts";
import type { BranchTip } from "../../store/store.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree, parentSession } from "../branch/branch-tree.ts";
import { type CountedView, loadCountedHere } from "../branch/counted-view.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { readMetas, titleIn } from "../branch/titles.ts";
import { reportTokens } from "../branch/token-report.ts";
import { isBrokenLink } from "../branch/turn-links.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ConversationFacts } from "./facts-cache.ts";

/** Works facts out, from the facts of the turns. Throws what a damaged conversation throws. */
export async function readFacts(workspace: Workspace, { name, commit }: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadCountedHere(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleIn(metas, tree.header),
    turns: tree.turnOids.length,
    ...(loaded.elsewhere === 0 ? {} : { turns_elsewhere: loaded.elsewhere }),
    ...reportTokens(loaded),
    compactions: loaded.live.all.length,
    ...compactedTo(loaded, tree),
    ...parentOf(tree.header),
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at: new Date(seconds * 1000).toISOString(),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

function parentOf(header: ConversationHeader): Pick<ConversationFacts, "parent"> {
  const parent = parentSession(header);
  return parent === null || header.source === null ? {} : { parent: { format: header.source.format, ...parent } };
}

function compactedTo({ live }: CountedView, { turnOids }: BranchTree): Pick<ConversationFacts, "compacted_to"> {
  if (live.applied.length === 0) return {};
  const last = live.applied.reduce((turn, { to_turn }) => Math.max(turn, to_turn), 0);
  return { compacted_to: Math.min(last, turnOids.length - 1) };
}

/** As `findBrokenLinks` says, of facts that are at hand: nothing is read again, or kept for each conversation. */
function isSpliced({ facts }: CountedView, { turnOids }: BranchTree): boolean {
  const isBroken = ({ previous, index, stretch }: TurnFacts): boolean =>
    stretch?.isSpliced === true || isBrokenLink(previous, turnOids[index - 1]);
  return turnOids.length > 1 && facts.some(isBroken);
}

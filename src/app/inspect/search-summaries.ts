// What summaries say, for `jpg search --in summary`: those of the compactions that a branch has, whether the view shows them or not.
import { conversationOf } from "../../core/conversation/name.ts";
import type { MatchedLine } from "../../core/look/search-words.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadCompactions, loadView } from "../branch/load-view.ts";
import type { SearchHit } from "./search-report.ts";

/** Searches the summaries of a branch that were not looked at yet; `seen` = null looks at all. */
export async function searchSummaries(
  store: ConversationStore,
  tree: BranchTree,
  {
    find,
    seen,
  }: { readonly find: (texts: readonly string[]) => MatchedLine | null; readonly seen: Set<string> | null },
): Promise<readonly SearchHit[]> {
  const { branch } = tree;
  const conversation = conversationOf(branch);
  const found: SearchHit[] = [];
  for (const { id, summary, to_turn: turn } of (await loadCompactions(store, tree)).all) {
    const key = `${conversation}:${id}`;
    if (summary === undefined || seen?.has(key) === true) continue;
    seen?.add(key);
    const line = find([summary.summary]);
    if (line !== null) found.push({ conversation, branch, turn, event: id, type: "summary", state: "shown", ...line });
  }
  if (found.length === 0) return found;
  const { view } = await loadView(store, tree);
  const shown = new Set(view.turns.flatMap(({ origin }) => (origin.kind === "summary" ? [origin.compaction] : [])));
  return found.map((hit) => (shown.has(hit.event) ? hit : { ...hit, state: "hidden" }));
}

// Two conversations of one name: ids are short, and a branch can be given any name. What tells them apart is the header, which the
// first commit wrote and nobody changes.
import { conversationOf } from "../../core/conversation/name.ts";
import type { BranchTip } from "../../store/store.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Whether two headers are of one conversation, whichever versions of jpg wrote them. */
export function isSameConversation(one: ConversationHeader, other: ConversationHeader): boolean {
  if (one.id !== other.id) return false;
  if (one.source === null || other.source === null)
    return one.source === other.source && one.created_at === other.created_at;
  return one.source.format === other.source.format && one.source.session === other.source.session;
}

/**
 * Why a branch of a remote is not taken in beside one's own of that conversation; null when both are of one. `own` = a branch here
 * whose name is of the same conversation; null when there is none.
 */
export async function whyAnother(
  { store }: Pick<Workspace, "store">,
  { tree, remote }: { readonly tree: BranchTree; readonly remote: string },
  own: BranchTip | null,
): Promise<string | null> {
  if (own === null) return null;
  const { header } = await loadBranchTree(store, own.name, own.commit);
  if (isSameConversation(header, tree.header)) return null;
  const forkPart = (branch: string): string => branch.slice(conversationOf(branch).length);
  const theirs = `\`jpg git branch NAME${forkPart(tree.branch)} refs/remotes/${remote}/${tree.branch}\` takes it in as NAME`;
  const ours = `\`jpg git branch -m ${own.name} NAME${forkPart(own.name)}\` gives yours another name`;
  return `it is another conversation than ${conversationOf(own.name)} here; ${theirs}, and ${ours}`;
}

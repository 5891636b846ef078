// Makes a branch the active one.
import type { BranchTree } from "./branch-tree.ts";
import { conversationOf } from "./conversations.ts";
import { refreshViews } from "./refresh-view.ts";
import type { Workspace } from "./workspace.ts";

export interface UseReport {
  readonly conversation: string;
  readonly branch: string;
  /** Branch that was active before; null when none was. */
  readonly previous: string | null;
}

/** Switches HEAD of the store and brings its view along. */
export async function useConversation(workspace: Workspace, tree: BranchTree): Promise<UseReport> {
  const previous = await workspace.store.readActiveBranch();
  if (previous !== tree.branch) await workspace.store.useBranch(tree.branch);
  await refreshViews(workspace, tree.branch);
  return { conversation: conversationOf(tree.branch), branch: tree.branch, previous };
}

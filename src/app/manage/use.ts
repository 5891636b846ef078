// Makes a branch the active one.
import { conversationOf } from "../../core/conversation/name.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { writeViews } from "../branch/refresh-view.ts";
import { makeActive, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface UseReport {
  readonly conversation: string;
  readonly branch: string;
  /** Branch that was active before; null when none was. */
  readonly previous: string | null;
}

/** Switches HEAD where one stands, of the store or of a worktree of it, and brings its view along. */
export async function useConversation(workspace: Workspace, tree: BranchTree): Promise<UseReport> {
  const previous = (await readStanding(workspace)).branch;
  if (previous !== tree.branch) await makeActive(workspace, tree.branch);
  await writeViews(workspace, tree.branch);
  return { conversation: conversationOf(tree.branch), branch: tree.branch, previous };
}

// What belongs to a conversation beside its own turns: its other forks, where it comes from, and the sub-agents that it began.
import { conversationOf } from "../../core/conversation/name.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { type LineageReport, readLineage } from "../inspect/lineage-report.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface Family extends LineageReport {
  /** Names of the other branches, in order. */
  readonly forks: readonly string[];
}

/** Reads it. */
export async function readFamily(workspace: Workspace, tree: BranchTree): Promise<Family> {
  const conversation = conversationOf(tree.branch);
  const branches = (await workspace.store.listBranches()).map(({ name }) => name);
  return {
    forks: branches.filter((name) => conversationOf(name) === conversation && name !== tree.branch).sort(),
    ...(await readLineage(workspace, tree)),
  };
}

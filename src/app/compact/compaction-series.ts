// Compactions that one command appends one after the other, each planned on what those before it left. The settings of the
// call are stored with the first that is not refused; only the first that is committed may make a fork.
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { type Workspace, withoutOverrides } from "../workspace/workspace.ts";
import { type AppendedCompaction, appendCompaction } from "./append-compaction.ts";
import type { CompactRequest } from "./compact-request.ts";

export interface CompactionSeries {
  /** What the next compaction is planned on: the branch as the one before left it; the fork, once there is one. */
  readonly tree: BranchTree;
  /** Appends the next one, or in a dry run plans it. Throws as `appendCompaction` does; the series can go on then. */
  append(request: CompactRequest): Promise<AppendedCompaction>;
}

/** Begins a series on a branch as it stands. */
export function beginSeries(workspace: Workspace, tree: BranchTree): CompactionSeries {
  let current = tree;
  let standing = workspace;
  let isCommitted = false;
  return {
    get tree() {
      return current;
    },
    async append(request) {
      const appended = await appendCompaction(standing, current, isCommitted ? { ...request, fork: false } : request);
      standing = withoutOverrides(workspace);
      const { branch, commit } = appended.report;
      if (commit !== null) {
        current = await loadBranchTree(workspace.store, branch, commit);
        isCommitted = true;
      }
      return appended;
    },
  };
}

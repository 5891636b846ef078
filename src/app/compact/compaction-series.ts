// Compactions that one command appends one after the other, each planned on what those before it left, in a dry run as in a
// run. The settings of the call are stored with the first that is committed; only that one may make a fork.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { withKeptTurnsOf } from "../../core/conversation/group.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { type Workspace, withoutOverrides } from "../workspace/workspace.ts";
import { type AppendedCompaction, appendCompaction } from "./append-compaction.ts";
import type { CompactRequest } from "./compact-request.ts";

export interface CompactionSeries {
  /** Where the next compaction is appended: the fork, once there is one. */
  readonly branch: string;
  /** What it is planned on: the branch as the one before left it. */
  tree(): Promise<BranchTree>;
  /** Appends the next one, or in a dry run plans it. Throws as `appendCompaction` does; the series can go on then. */
  append(request: CompactRequest): Promise<AppendedCompaction>;
}

/** Begins a series on a branch as it stands. */
export function beginSeries(workspace: Workspace, tree: BranchTree): CompactionSeries {
  let { branch } = tree;
  // After the last compaction nobody asks how it left the branch.
  let load = (): Promise<BranchTree> => Promise.resolve(tree);
  let standing = workspace;
  let isMade = false;
  return {
    get branch() {
      return branch;
    },
    tree: () => load(),
    async append(request) {
      const current = await load();
      const appended = await appendCompaction(standing, current, isMade ? { ...request, fork: false } : request);
      const { branch: made, commit, compaction, planned_summary: summary } = appended.report;
      if (compaction === null) return appended;
      branch = made;
      isMade = true;
      if (commit === null) {
        const assumed = [...(current.assumed ?? []), summary === null ? compaction : withText(compaction)];
        load = () => Promise.resolve({ ...current, branch: made, assumed });
      } else {
        standing = withoutOverrides(workspace);
        load = () => loadBranchTree(workspace.store, made, commit);
      }
      return appended;
    },
  };
}

/** A summary that only a model can write is empty in a dry run. */
function withText(compaction: Compaction): Compaction {
  return withKeptTurnsOf(compaction, { summary: { summary: "" }, ...compaction });
}

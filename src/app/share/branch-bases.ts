// What two tips of a branch have in common, as branches: a fork that one of them was told of is in its history, for git, but
// nothing of it is in its files. So "an ancestor" means "all of it is here" only along the branch's own commits.
import type { CommitPair } from "../../store/sharing.ts";
import { isForkMerge } from "../branch/record-log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { requireSharing } from "./remotes.ts";

/** The best common ancestors of each pair, in order, merged forks left aside; none of unrelated histories. */
export function branchBases(
  workspace: Workspace,
  pairs: readonly CommitPair[],
): Promise<readonly (readonly string[])[]> {
  return requireSharing(workspace).mergeBases(pairs, (merge) => isForkMerge(workspace.store, merge));
}

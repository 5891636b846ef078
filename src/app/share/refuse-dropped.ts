// What stock git takes for a push that only goes on: a branch that was told of the remote's as of a fork. The remote's commits are
// in its history, and the turns and records that they brought are not on it.
import { repositoryError } from "../../core/errors.ts";
import type { CommitPair } from "../../store/sharing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import { requireSharing } from "./remotes.ts";

/** A ref that is about to move. */
export interface MovingRef {
  /** What it is called on either side. */
  readonly name: string;
  readonly commit: string;
  /** Where it stands there; zeros for nothing. */
  readonly there: string;
}

/** Refuses what git would let pass and what would drop turns or records of the remote. Throws `push_behind`. */
export async function refuseDropped(workspace: Workspace, moving: readonly MovingRef[]): Promise<void> {
  const sharing = requireSharing(workspace);
  // What is not here cannot have been gone on with: git refuses that by itself.
  const here = await sharing.present(moving.flatMap(({ there, commit }) => [there, commit]));
  const known = moving.filter(({ there, commit }) => here.has(there) && here.has(commit));
  const apart = await notLedTo(known, (pairs) => branchBases(workspace, pairs));
  const forGit = await notLedTo(apart, (pairs) => sharing.mergeBases(pairs));
  const dropped = apart.filter((ref) => !forGit.includes(ref));
  if (dropped.length === 0) return;
  const names = dropped.map(({ name }) => name).join(", ");
  throw repositoryError(
    "push_behind",
    `${names} is not sent: the remote's branch has turns, compactions or settings that this one knows only from a merge, and would lose them.`,
    { hints: ["`jpg pull` brings them in and makes a fork where both have turns; then push again."] },
  );
}

/** Refs that do not go on with what stands there. */
async function notLedTo(
  refs: readonly MovingRef[],
  basesOf: (pairs: readonly CommitPair[]) => Promise<readonly (readonly string[])[]>,
): Promise<readonly MovingRef[]> {
  const bases = await basesOf(refs.map(({ there, commit }) => ({ one: there, other: commit })));
  return refs.filter(({ there }, at) => bases[at]?.includes(there) !== true);
}

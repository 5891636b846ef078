// What somebody pushed to a branch between the look at a remote and the push, and what was sent has not. Git lets it pass where it
// is in the history of what was sent as a fork that was told of; it stands on no branch there any more.
import { sharedTurns } from "../../core/conversation/merge-sides.ts";
import type { PushedBranch } from "../../store/sharing.ts";
import { listTurnOids } from "../branch/turn-list.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";
import type { PlannedPush } from "./push-plan.ts";

/** A commit that a push went over, and how many of its turns what was sent has not; >= 0. */
export interface PassedOver {
  readonly commit: string;
  readonly turns: number;
}

/** Finds it by branch. It is here: without it, git would have refused. */
export async function findPassedOver(
  workspace: Workspace,
  planned: readonly PlannedPush[],
  pushed: readonly PushedBranch[],
): Promise<ReadonlyMap<string, PassedOver>> {
  const plans = new Map(planned.map((branch) => [branch.name, branch]));
  const moved = pushed.flatMap(({ name, over }) => {
    const { commit, at } = plans.get(name) ?? {};
    return commit === undefined || over === undefined || over === at ? [] : [{ name, one: commit, other: over }];
  });
  const bases = await branchBases(workspace, moved);
  const found = new Map<string, PassedOver>();
  for (const [index, { name, one, other }] of moved.entries()) {
    if (bases[index]?.includes(other) === true) continue;
    const [ours, theirs] = [await turnsOf(workspace, one), await turnsOf(workspace, other)];
    found.set(name, { commit: other, turns: theirs.length - sharedTurns(theirs, ours) });
  }
  return found;
}

async function turnsOf({ store }: Workspace, commit: string): Promise<readonly string[]> {
  return (await listTurnOids(store, commit)).map((oid) => oid ?? "");
}

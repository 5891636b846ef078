// What a review compares: a fork, what it would be merged into, and the commit at which the two parted.
import { conversationOf, forkOf } from "../../core/conversation-name.ts";
import { userError } from "../../core/errors.ts";
import type { Sharing } from "../../store/sharing.ts";
import { type BranchTree, loadBranchTree, loadTip } from "../branch/branch-tree.ts";
import { resolveForkRevision } from "../names/resolve-fork.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** The fork that things are merged into. */
const MAIN = "main";

export interface ReviewedPair {
  readonly fork: BranchTree;
  readonly against: BranchTree;
  /** Null = their histories share nothing, or only git could tell. */
  readonly base: string | null;
}

/**
 * Finds both: a fork goes against `main` of its conversation, `main` against what was last fetched of it. Throws `not_a_fork`
 * where there is nothing to go against, and as `resolveId` does.
 */
export async function reviewedPair(workspace: Workspace, word: string | undefined): Promise<ReviewedPair> {
  const fork = await resolveForkRevision(workspace, word);
  const against = await findAgainst(workspace, fork);
  const pair = { one: fork.commit, other: against.commit };
  const [bases = []] = (await workspace.store.sharing?.mergeBases([pair])) ?? [];
  return { fork, against, base: bases[0] ?? null };
}

async function findAgainst(workspace: Workspace, { branch }: BranchTree): Promise<BranchTree> {
  const main = `${conversationOf(branch)}/${MAIN}`;
  const here = forkOf(branch) === MAIN ? null : await loadTip(workspace.store, main);
  const there = here === null ? await findFetched(workspace, main) : null;
  const against = here ?? there;
  if (against !== null) return against;
  const reason =
    forkOf(branch) === MAIN ? "is no fork, and no remote was seen to have it" : `has no ${MAIN} to go against`;
  throw userError("not_a_fork", `${branch} ${reason}: there is nothing to review it against.`, {
    hints: [
      "`jpg review FORK` reviews a fork of the conversation, which `jpg ls --all` lists.",
      "`jpg fetch` brings what a remote has of it.",
    ],
  });
}

async function findFetched({ store }: Workspace, branch: string): Promise<BranchTree | null> {
  const { sharing } = store;
  if (sharing === null) return null;
  for (const { name } of await sharing.remotes()) {
    const tip = await trackedTip(sharing, name, branch);
    if (tip !== null) return { ...(await loadBranchTree(store, branch, tip)), branch: `${name}/${branch}` };
  }
  return null;
}

async function trackedTip(sharing: Sharing, remote: string, branch: string): Promise<string | null> {
  const tips = await sharing.tracked(remote);
  return tips.find(({ name }) => name === branch)?.commit ?? null;
}

// What a review compares: a fork, what it would be merged into, and the commit at which the two parted. Where one was told of the
// other since (`jpg merge`), that is where the telling ended, as for git and every host.
import { conversationOf, forkOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { CommitPair, Sharing } from "../../store/sharing.ts";
import { type BranchTree, loadBranchTree, loadTip } from "../branch/branch-tree.ts";
import { resolveForkRevision } from "../names/resolve-fork.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { branchBases } from "./branch-bases.ts";

/** The fork that things are merged into. */
const MAIN = "main";

export interface ReviewedPair {
  readonly fork: BranchTree;
  readonly against: BranchTree;
  /** Null = their histories share nothing, or only git could tell. */
  readonly base: string | null;
  /** Which of the two was told of the other up to the base, and has nothing of that in its files but what it was told; null = neither. */
  readonly told: "fork" | "against" | null;
}

/**
 * Finds both: a fork goes against `main` of its conversation, `main` against what was last fetched of it. Throws `not_a_fork`
 * where there is nothing to go against, and as `resolveId` does.
 */
export async function reviewedPair(workspace: Workspace, word: string | undefined): Promise<ReviewedPair> {
  const fork = await resolveForkRevision(workspace, word);
  const against = await findAgainst(workspace, fork);
  return { fork, against, ...(await partingOf(workspace, { one: fork.commit, other: against.commit })) };
}

async function partingOf(
  workspace: Workspace,
  { one, other }: CommitPair,
): Promise<Pick<ReviewedPair, "base" | "told">> {
  const { sharing } = workspace.store;
  if (sharing === null) return { base: null, told: null };
  const [[bases = []], [own = []]] = await Promise.all([
    sharing.mergeBases([{ one, other }]),
    branchBases(workspace, [{ one, other }]),
  ]);
  const [base = null] = bases;
  if (base === null || own.includes(base)) return { base, told: null };
  const [onFork = [], onAgainst = []] = await branchBases(workspace, [
    { one: base, other: one },
    { one: base, other },
  ]);
  if (onFork.includes(base)) return { base, told: "against" };
  if (onAgainst.includes(base)) return { base, told: "fork" };
  // Both were told of a third.
  return { base: own[0] ?? null, told: null };
}

async function findAgainst(workspace: Workspace, { branch }: BranchTree): Promise<BranchTree> {
  const main = `${conversationOf(branch)}/${MAIN}`;
  const here = forkOf(branch) === MAIN ? null : await loadTip(workspace.store, main);
  const there = here === null ? await findFetched(workspace, main) : null;
  const against = here ?? there;
  if (against !== null) return against;
  const reason =
    forkOf(branch) === MAIN ? "is not a fork, and no remote is known to have it" : `has no ${MAIN} to compare with`;
  throw userError("not_a_fork", `${branch} ${reason}, so there is nothing to compare it with.`, {
    hints: [
      "`jpg review FORK` reviews a fork of the conversation, which `jpg ls --all` lists.",
      "`jpg fetch` downloads what a remote has of it.",
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

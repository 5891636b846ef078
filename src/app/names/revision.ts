// What a person writes for a commit: HEAD and @ are those of where one stands, branches and forks go by their names here
// (`main~2`, `try-b@{1}`), and all else is as git reads it. Only git resolves; nothing is ever taken for an option.
import { conversationOf, isTurnNumber } from "../../core/conversation/name.ts";
import type { BranchTip, Worktree } from "../../store/store.ts";
import { loadBranchTree } from "../branch/branch-tree.ts";
import { branchOfOperation, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isVariableSet, mainBranch, preferredBranch } from "./conversations.ts";

export interface Revision {
  readonly commit: string;
  /** The branch that it was named by, else one that holds the commit. */
  readonly branch: string;
  /** Whether the branch was named, with a way from it or without. */
  readonly byName: boolean;
}

/** A name, and the way from it: `~1`, `^2`, `@{1}`. */
const PARTS = /^(.*?)((?:[~^]|@\{).*)?$/su;

/**
 * Resolves a revision; null when it names no commit. `conversation` = the one whose forks go by their own name, with a way
 * from it or (`bareForks`) without one.
 */
export async function resolveBranchRevision(
  workspace: Workspace,
  word: string,
  options: { readonly conversation?: string; readonly bareForks?: boolean } = {},
): Promise<Revision | null> {
  // A colon is a path's or a search's, not a commit's; digits alone are a turn's.
  if (word === "" || isTurnNumber(word) || /^-|[:\p{Cc}]/u.test(word)) return null;
  const [, base = "", way = ""] = PARTS.exec(word) ?? [];
  const active = await preferredBranch(workspace);
  const worktree = (await readStanding(workspace)).worktree ?? undefined;
  const isHere = base === "" || base === "@" || base === "HEAD";
  const conversation = options.conversation ?? (active === null ? undefined : conversationOf(active));
  const fork = way === "" && options.bareForks !== true ? undefined : conversation;
  const named = isHere
    ? activeByVariable(workspace, active, way)
    : branchNamed(await workspace.store.listBranches(), base, { active, fork });
  const own = base === "@" ? "HEAD" : base;
  const commit = await workspace.store.resolveCommit(`${named === null ? own : `refs/heads/${named}`}${way}`, worktree);
  if (commit === null) return null;
  const branch = named ?? (isHere ? active : null) ?? (await branchHolding(workspace, commit, worktree));
  return { commit, branch, byName: named !== null };
}

/** The branch that HEAD stands for where a variable says so; null = git's HEAD. What was checked out before is git's to know. */
function activeByVariable(workspace: Workspace, active: string | null, way: string): string | null {
  return isVariableSet(workspace) && !way.startsWith("@{-") ? active : null;
}

function branchNamed(
  branches: readonly BranchTip[],
  name: string,
  { active, fork }: { readonly active: string | null; readonly fork: string | undefined },
): string | null {
  const own = fork === undefined ? undefined : `${fork}/${name}`;
  const exact = [name, own].map((wanted) => branches.find((branch) => branch.name === wanted)).find(Boolean);
  return (exact ?? mainBranch(branches, name, active))?.name ?? null;
}

/**
 * The branch that a commit is read as one of: what a bisect or rebase began on, the active one, `main`, or the first that
 * holds it. Of a commit that no branch holds, `main` of its conversation.
 */
export async function branchHolding(workspace: Workspace, commit: string, worktree?: Worktree): Promise<string> {
  const { store } = workspace;
  const holding = await store.listBranchesWith(commit);
  const standing = { worktree: worktree ?? null, branch: null, commit };
  const preferred = [await branchOfOperation(workspace, standing), await preferredBranch(workspace)];
  const found = preferred.map((name) => holding.find((branch) => branch.name === name)).find(Boolean);
  const [first] = holding;
  if (first === undefined) return `${(await loadBranchTree(store, commit.slice(0, 9), commit)).header.id}/main`;
  return (found ?? mainBranch(holding, conversationOf(first.name), null) ?? first).name;
}

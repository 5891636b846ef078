// Resolves a commit as a person writes it. HEAD and @ are those checked out here, branches and forks go by their names (`main~2`,
// `try-b@{1}`), and anything else is read as git reads it. Only git resolves; no word is ever passed as an option.
import { conversationOf, isTurnNumber } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore, Worktree } from "../../store/store.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { branchOfOperation, readCheckedOut } from "../conversation/checked-out.ts";
import { planFirstTurns } from "../conversation/fork-start.ts";
import { refuseSplice } from "../conversation/spliced-turns.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { isVariableSet, mainBranch, preferredBranch } from "./conversations.ts";

export interface Revision {
  readonly commit: string;
  /** The branch in the word, else one that holds the commit. */
  readonly branch: string;
  /** Whether the word names the branch, with or without a suffix. */
  readonly byName: boolean;
}

/** A name and its suffix: `~1`, `^2`, `@{1}`. */
const PARTS = /^(.*?)((?:[~^]|@\{).*)?$/su;

/**
 * Resolves a revision; null when it names no commit. `conversation` = the one whose forks go by their own name, with a suffix or
 * (`bareForks`) without one.
 */
export async function resolveBranchRevision(
  workspace: Workspace,
  word: string,
  options: { readonly conversation?: string; readonly bareForks?: boolean } = {},
): Promise<Revision | null> {
  // A colon means a path or a search, and digits alone a turn; neither is a commit.
  if (word === "" || isTurnNumber(word) || /^-|[:\p{Cc}]/u.test(word)) return null;
  const [, base = "", way = ""] = PARTS.exec(word) ?? [];
  const active = await preferredBranch(workspace);
  const worktree = (await readCheckedOut(workspace)).worktree ?? undefined;
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

/**
 * Returns the branch that JPG_CONVERSATION makes HEAD mean; null = git's HEAD. Only git knows what was checked out before
 * (`@{-1}`).
 */
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
 * Chooses the branch for a commit: the one to which a bisect or rebase returns, the active one, `main`, or the first that holds it.
 * If no branch holds it, `main` of its conversation.
 */
export async function branchHolding(workspace: Workspace, commit: string, worktree?: Worktree): Promise<string> {
  const { store } = workspace;
  const holding = await store.listBranchesWith(commit);
  const checkedOut = { worktree: worktree ?? null, branch: null, commit };
  const preferred = [await branchOfOperation(workspace, checkedOut), await preferredBranch(workspace)];
  const found = preferred.map((name) => holding.find((branch) => branch.name === name)).find(Boolean);
  const [first] = holding;
  if (first === undefined) return `${(await loadBranchTree(store, commit.slice(0, 9), commit)).header.id}/main`;
  return (found ?? mainBranch(holding, conversationOf(first.name), null) ?? first).name;
}

/** Loads the tree at a commit, or with the turns up to one (`--at COMMIT|TURN`). Throws `unknown_revision`, `spliced_turns`. */
export async function treeAt(workspace: Workspace, tree: BranchTree, at: string): Promise<BranchTree> {
  const there = await findTree(workspace, tree, at);
  await refuseSplice(workspace, there);
  return there;
}

async function findTree(workspace: Workspace, tree: BranchTree, at: string): Promise<BranchTree> {
  // Digits alone are a turn, never the beginning of a commit; `resolveBranchRevision` returns null for them.
  if (isTurnNumber(at) && Number(at) < tree.turnOids.length) return treeAtTurn(workspace.store, tree, Number(at));
  const found = await resolveBranchRevision(workspace, at, {
    conversation: conversationOf(tree.branch),
    bareForks: true,
  });
  const there = found === null ? null : await loadBranchTree(workspace.store, tree.branch, found.commit);
  if (there === null || there.header.id !== tree.header.id) {
    throw userError(
      "unknown_revision",
      `${at} is neither a turn (0..${tree.turnOids.length - 1}) nor a commit of ${tree.branch}.`,
      { hints: ["`jpg log` lists the commits of compactions, `jpg git log` all commits."] },
    );
  }
  return { ...there, revision: at };
}

/** Returns the first turns of a tree as a fork there would read them: projection clamps a compaction that reaches further. */
export async function treeAtTurn(store: ConversationStore, tree: BranchTree, turn: number): Promise<BranchTree> {
  if (turn >= tree.turnOids.length - 1) return tree;
  const { compactions, clamped } = await planFirstTurns(store, tree, turn + 1);
  const stay = [...compactions, ...clamped.map(({ id }) => id)];
  return {
    ...tree,
    turnOids: tree.turnOids.slice(0, turn + 1),
    compactions: tree.compactions.filter((file) => stay.includes(compactionIdOfPath(file.path) ?? "")),
    atTurn: turn,
  };
}

// Where one stands: the worktree of the store that the current folder is in, else the store's own, and what is checked out
// there. `@` is its branch. On a commit without a branch one may read; what writes is told how to go on.
import { type JpgError, userError } from "../../core/errors.ts";
import type { UnfinishedOperation, Worktree } from "../../store/store.ts";
import type { Workspace } from "./workspace.ts";

/** What is checked out where one stands. */
interface CheckedOut {
  /** Null in a store that has no worktree. */
  readonly worktree: Worktree | null;
  /** Null when HEAD is detached. */
  readonly branch: string | null;
  /** The commit of a detached HEAD; null on a branch. */
  readonly commit: string | null;
}

/** Reads what is checked out in the current folder, or else in the store's own worktree. */
export async function readCheckedOut({ store, runtime }: Workspace): Promise<CheckedOut> {
  const { worktrees } = store;
  const worktree = (await worktrees?.at(runtime.cwd)) ?? (await worktrees?.at(store.root)) ?? null;
  if (worktree !== null) return { worktree, branch: worktree.branch, commit: worktree.commit };
  return { worktree, branch: await store.readActiveBranch(), commit: null };
}

/** The workspace with `@` standing for a branch: what JPG_CONVERSATION does for a terminal. */
export function withActiveBranch(workspace: Workspace, branch: string): Workspace {
  const { runtime } = workspace;
  return { ...workspace, runtime: { ...runtime, env: { ...runtime.env, JPG_CONVERSATION: branch } } };
}

/** Checks a branch out where one stands: from then on it is `@` there. Throws `operation_unfinished`. */
export async function makeActive(workspace: Workspace, branch: string): Promise<void> {
  const { worktree } = await requireSwitchable(workspace);
  await workspace.store.useBranch(branch, worktree ?? undefined);
}

/** Refuses where git would not switch to another branch. Throws `operation_unfinished`. */
export async function requireSwitchable(workspace: Workspace): Promise<CheckedOut> {
  const checkedOut = await readCheckedOut(workspace);
  const operation = await operationOf(workspace, checkedOut);
  if (operation === null) return checkedOut;
  const { path } = checkedOut.worktree ?? { path: workspace.store.root };
  throw userError(
    "operation_unfinished",
    `A ${operation.name} is under way in ${path}: no other conversation can be checked out there until it ends.`,
    { hints: hintsToEnd(operation) },
  );
}

/** The branch that a bisect or rebase began on, and will go back to; null when there is none under way. */
export async function branchOfOperation(workspace: Workspace, checkedOut: CheckedOut): Promise<string | null> {
  return (await operationOf(workspace, checkedOut))?.branch ?? null;
}

/** The error of what writes where no branch is checked out. `holder` = a branch that holds the commit. */
export async function detachedHeadError(
  workspace: Workspace,
  checkedOut: CheckedOut,
  holder: string,
): Promise<JpgError> {
  const operation = await operationOf(workspace, checkedOut);
  const state = operation === null ? "" : `, a ${operation.name} is under way`;
  const message = `No conversation is checked out here: HEAD is detached at ${checkedOut.commit?.slice(0, 9)}${state}. It can be read, not written to.`;
  const back = operation === null ? [`\`jpg use ${holder}\` checks ${holder} out again.`] : hintsToEnd(operation);
  const stay = operation === null ? "" : " --no-activate";
  const fork = `\`jpg fork @ NAME${stay}\` starts a fork at this commit; \`jpg ls\` lists the conversations that you may name instead.`;
  return userError("detached_head", message, { hints: [...back, fork] });
}

async function operationOf(
  { store }: Workspace,
  { worktree, commit }: CheckedOut,
): Promise<UnfinishedOperation | null> {
  return worktree === null || commit === null ? null : ((await store.worktrees?.unfinished(worktree)) ?? null);
}

function hintsToEnd({ name, branch, ends }: UnfinishedOperation): string[] {
  const to = branch === null ? "" : ` and goes back to ${branch}`;
  return [`${ends.map((words) => `\`jpg git ${words}\``).join(" or ")} ends the ${name}${to}.`];
}

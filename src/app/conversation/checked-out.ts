// Reads what is checked out: in the store's worktree around the current folder, else in the store's main one. `@` is its branch.
// With HEAD detached, reading works, and commands that write get an error with what to do.
import { type JpgError, userError } from "../../core/errors.ts";
import type { UnfinishedOperation, Worktree } from "../../store/store.ts";
import type { Workspace } from "./workspace.ts";

interface CheckedOut {
  /** Null in a store that has no worktree. */
  readonly worktree: Worktree | null;
  /** Null with a detached HEAD. */
  readonly branch: string | null;
  /** Commit of a detached HEAD; null on a branch. */
  readonly commit: string | null;
}

/** Reads what is checked out in the current folder's worktree, else in the store's main one. */
export async function readCheckedOut({ store, runtime }: Workspace): Promise<CheckedOut> {
  const { worktrees } = store;
  const worktree = (await worktrees?.at(runtime.cwd)) ?? (await worktrees?.at(store.root)) ?? null;
  if (worktree !== null) return { worktree, branch: worktree.branch, commit: worktree.commit };
  return { worktree, branch: await store.readActiveBranch(), commit: null };
}

/** Makes `@` mean a branch, as JPG_CONVERSATION does for a terminal. */
export function withActiveBranch(workspace: Workspace, branch: string): Workspace {
  const { runtime } = workspace;
  return { ...workspace, runtime: { ...runtime, env: { ...runtime.env, JPG_CONVERSATION: branch } } };
}

/** Checks a branch out here, so that it becomes `@`. Throws `operation_unfinished`. */
export async function makeActive(workspace: Workspace, branch: string): Promise<void> {
  const { worktree } = await requireSwitchable(workspace);
  await workspace.store.useBranch(branch, worktree ?? undefined);
}

/** Makes a conversation active if none is. */
export async function activateIfNoneIs(workspace: Workspace, branch: string): Promise<void> {
  const { branch: active, commit } = await readCheckedOut(workspace);
  const hasNone = commit === null && (active === null || (await workspace.store.readBranch(active)) === null);
  if (hasNone) await makeActive(workspace, branch);
}

/** Refuses to switch branches during an unfinished operation of git, as git does. Throws `operation_unfinished`. */
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

/** Returns the branch to which an unfinished bisect or rebase will return; null when there is none. */
export async function branchOfOperation(workspace: Workspace, checkedOut: CheckedOut): Promise<string | null> {
  return (await operationOf(workspace, checkedOut))?.branch ?? null;
}

/** Creates the error of a command that writes while HEAD is detached. `holder` = a branch that holds the commit. */
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

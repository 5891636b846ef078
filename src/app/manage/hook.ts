// Runs the store's git hooks. After stock git moved a branch, they update its other worktrees and all views. Before a push they
// record it and refuse what must not be pushed; before a commit they refuse one that would drop what jpg wrote without git. A hook
// never fails a git command that has already happened: the next jpg command reports the trouble.
import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { JpgError, messageOf, userError } from "../../core/errors.ts";
import { isSameFolder } from "../../core/folder-path.ts";
import { type PushedRef, parsePushedRefs, readBehindMark } from "../../store/git-dir.ts";
import { type Worktree, ZERO_ID } from "../../store/store.ts";
import { recordedCommit, refreshWorktree } from "../conversation/refresh-view.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { warnOfSplice } from "../conversation/spliced-turns.ts";
import { loadBranchTree } from "../conversation/tree.ts";
import { openWorkspace, type Workspace } from "../conversation/workspace.ts";
import { checkOutgoing } from "../share/outgoing.ts";
import { type MovingRef, refuseDropped } from "../share/push.ts";

/**
 * Runs a hook. `warn` receives warnings for the user. Throws to refuse a push: `push_behind`, `local_conversation`,
 * `damaged_conversation`, `secrets_found`; or a commit: `commit_behind`.
 */
export async function runHook(runtime: Runtime, name: string, warn: (message: string) => void): Promise<void> {
  if (name === "pre-commit") return refuseWithoutIndex(runtime);
  const isPush = name === "pre-push";
  // Git runs a hook in its own repository, even if JPG_STORE names another store.
  const here: Runtime = { ...runtime, env: { ...runtime.env, JPG_STORE: undefined } };
  const opened = openWorkspace(here, { ...(isPush ? pushedStore(runtime) : {}), info: warn, warn });
  // If the store cannot be opened, the push is refused.
  const workspace = await (isPush ? opened : opened.catch(ignoreJpgErrors));
  if (workspace === null) return;
  try {
    if (isPush) await beforePush(workspace, new TextDecoder().decode(await runtime.readStdin()));
    else await refreshAllWorktrees(workspace);
  } finally {
    await workspace.close();
  }
}

/**
 * Refuses a commit in a worktree that has no index yet, since it would hold no file of the branch. Git names the index, which is in
 * the worktree's git dir.
 */
function refuseWithoutIndex({ env, cwd }: Runtime): void {
  const { GIT_INDEX_FILE: index } = env;
  if (index === undefined || readBehindMark(dirname(resolve(cwd, index))) === null) return;
  throw userError(
    "commit_behind",
    "Nothing was committed: a jpg without git wrote this branch, and git has not checked it out yet.",
    {
      hints: ["`jpg ls` checks it out; then commit again."],
    },
  );
}

/** Returns the store that `--git-dir` names: git pushes from that one. */
function pushedStore({ env, cwd }: Runtime): { readonly store?: string } {
  const { GIT_DIR: named = "" } = env;
  if (named === "") return {};
  const gitDir = resolve(cwd, named).replace(/[/\\]worktrees[/\\][^/\\]+$/, "");
  return { store: basename(gitDir) === ".git" ? dirname(gitDir) : gitDir };
}

/** Checks what stock git is about to push. Git passes lines of local ref, commit, remote ref, remote commit. */
async function beforePush(workspace: Workspace, lines: string): Promise<void> {
  const pushed = parsePushedRefs(lines);
  const sent = pushed.filter(({ commit }) => commit !== ZERO_ID);
  // Any revision may name what is pushed (`HEAD`), so the remote ref gives its name, too.
  const tips = sent.flatMap(({ localRef, commit, remoteRef }) =>
    [...(localRef.startsWith("refs/heads/") ? [localRef] : []), remoteRef].map((ref) => ({
      name: nameOf(ref),
      commit,
    })),
  );
  const there = pushed.map((ref) => ref.remoteCommit);
  await refuseDropped(workspace, sent.filter(({ remoteRef }) => BRANCH.test(remoteRef)).map(movingRef));
  await checkOutgoing(workspace, { tips, known: [...((await workspace.store.sharing?.present(there)) ?? [])] });
  // A failure to record it (such as a full disk) must not stop the push.
  const commits = sent.map(({ commit }) => commit);
  await workspace.store.recordPublished(commits).catch((error: unknown) => workspace.warn(messageOf(error)));
}

const BRANCH = /^refs\/(heads|jpg\/conversations)\//;

function nameOf(ref: string): string {
  return ref.replace(BRANCH, "");
}

function movingRef({ remoteRef: to, commit, remoteCommit: there }: PushedRef): MovingRef {
  return { name: nameOf(to), commit, there };
}

/** Refreshes every worktree of the store; warns about spliced turns in the one where git ran. */
async function refreshAllWorktrees(workspace: Workspace): Promise<void> {
  const { cwd, platform } = workspace.runtime;
  const here = await realpath(cwd);
  for (const worktree of (await workspace.store.worktrees?.list()) ?? []) {
    await refreshBranchWorktree(workspace, worktree, isSameFolder(worktree.path, here, platform)).catch(
      ignoreJpgErrors,
    );
  }
}

/** Refreshes one worktree. Where git ran, index and files are right already; elsewhere they are still at the commit of the view. */
async function refreshBranchWorktree(workspace: Workspace, worktree: Worktree, isHere: boolean): Promise<void> {
  if (worktree.branch === null) return refreshDetached(workspace, worktree);
  const commit = await workspace.store.readBranch(worktree.branch);
  if (commit === null) return;
  // A branch that stock git created has no merge options yet.
  await workspace.store.configureBranches([worktree.branch]);
  const from = isHere ? null : recordedCommit(workspace.store, worktree);
  if (from !== null && from !== commit) await workspace.store.worktrees?.advance(worktree, from, commit);
  await refreshWorktree(workspace, worktree, commit);
  if (isHere) await warnOfSplice(workspace, await loadBranchTree(workspace.store, worktree.branch, commit));
}

/** Only refreshes the view: git has moved a detached HEAD together with its files. */
async function refreshDetached(workspace: Workspace, worktree: Worktree): Promise<void> {
  if (worktree.commit !== null) await refreshWorktree(workspace, worktree, worktree.commit);
}

function ignoreJpgErrors(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

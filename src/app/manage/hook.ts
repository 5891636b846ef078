// What the store's git hooks do: bring the other worktrees of a branch along that stock git moved, and all views up to date;
// record what is pushed, and refuse what must not leave, and a commit that would take out what jpg wrote without git.
// A hook never fails a git command that has already happened: trouble is left for the next jpg command to report.
import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { JpgError, messageOf, userError } from "../../core/errors.ts";
import { type PushedRef, parsePushedRefs, readBehindMark } from "../../store/git-dir.ts";
import { type Worktree, ZERO_ID } from "../../store/store.ts";
import { recordedCommit, refreshWorktree } from "../conversation/refresh-view.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { warnOfSplice } from "../conversation/spliced-turns.ts";
import { loadBranchTree } from "../conversation/tree.ts";
import { openWorkspace, type Workspace } from "../conversation/workspace.ts";
import { checkOutgoing } from "../share/outgoing.ts";
import { type MovingRef, refuseDropped } from "../share/push.ts";

/** Runs what a hook does. `warn` is told what the user should know. Throws what a push must be refused for: `push_behind`, `local_conversation`, `damaged_conversation`, `secrets_found`; `commit_behind` where a commit must be. */
export async function runHook(runtime: Runtime, name: string, warn: (message: string) => void): Promise<void> {
  if (name === "pre-commit") return refuseWithoutIndex(runtime);
  const isPush = name === "pre-push";
  // Git runs a hook in its repository, whatever store the user named for jpg.
  const here: Runtime = { ...runtime, env: { ...runtime.env, JPG_STORE: undefined } };
  const opened = openWorkspace(here, { ...(isPush ? pushedStore(runtime) : {}), info: warn, warn });
  // What cannot be looked at is not sent.
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
 * Refuses a commit in a worktree that has no index yet: it would hold no file of the branch. Git names the index that it commits,
 * which stands in the worktree's git dir.
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

/** The store that git was told of by `--git-dir`, wherever it runs: that is the one it pushes from. */
function pushedStore({ env, cwd }: Runtime): { readonly store?: string } {
  const { GIT_DIR: named = "" } = env;
  if (named === "") return {};
  const gitDir = resolve(cwd, named).replace(/[/\\]worktrees[/\\][^/\\]+$/, "");
  return { store: basename(gitDir) === ".git" ? dirname(gitDir) : gitDir };
}

/** Looks at what stock git is about to push, as it tells its hook: local ref, commit, ref there, commit there. */
async function beforePush(workspace: Workspace, lines: string): Promise<void> {
  const pushed = parsePushedRefs(lines);
  const sent = pushed.filter(({ commit }) => commit !== ZERO_ID);
  // What is pushed may be named by any revision (`HEAD`); what it becomes there is a branch of somebody.
  const tips = sent.flatMap(({ from, commit, to }) =>
    [...(from.startsWith("refs/heads/") ? [from] : []), to].map((ref) => ({ name: nameOf(ref), commit })),
  );
  const there = pushed.map((ref) => ref.there);
  await refuseDropped(workspace, sent.filter(({ to }) => BRANCH.test(to)).map(movingRef));
  await checkOutgoing(workspace, { tips, known: [...((await workspace.store.sharing?.present(there)) ?? [])] });
  // What cannot be recorded (a full disk, something in the way) is no reason not to push.
  const commits = sent.map(({ commit }) => commit);
  await workspace.store.recordPublished(commits).catch((error: unknown) => workspace.warn(messageOf(error)));
}

const BRANCH = /^refs\/(heads|jpg\/conversations)\//;

function nameOf(ref: string): string {
  return ref.replace(BRANCH, "");
}

function movingRef({ to, commit, there }: PushedRef): MovingRef {
  return { name: nameOf(to), commit, there };
}

/** Refreshes every worktree of the store; says what stock git put together wrongly in the one where it ran. */
async function refreshAllWorktrees(workspace: Workspace): Promise<void> {
  const here = await realpath(workspace.runtime.cwd);
  for (const worktree of (await workspace.store.worktrees?.list()) ?? []) {
    await refreshBranchWorktree(workspace, worktree, worktree.path === here).catch(ignoreJpgErrors);
  }
}

/** In the worktree where git ran, index and files are right already; elsewhere they stand where the view was made. */
async function refreshBranchWorktree(workspace: Workspace, worktree: Worktree, isHere: boolean): Promise<void> {
  if (worktree.branch === null) return refreshDetached(workspace, worktree);
  const commit = await workspace.store.readBranch(worktree.branch);
  if (commit === null) return;
  // A branch that stock git made has no merge options yet.
  await workspace.store.configureBranches([worktree.branch]);
  const from = isHere ? null : recordedCommit(workspace.store, worktree);
  if (from !== null && from !== commit) await workspace.store.worktrees?.advance(worktree, from, commit);
  await refreshWorktree(workspace, worktree, commit);
  if (isHere) await warnOfSplice(workspace, await loadBranchTree(workspace.store, worktree.branch, commit));
}

/** A detached HEAD moves with the git command that runs in its worktree, files and all. */
async function refreshDetached(workspace: Workspace, worktree: Worktree): Promise<void> {
  if (worktree.commit !== null) await refreshWorktree(workspace, worktree, worktree.commit);
}

function ignoreJpgErrors(error: unknown): null {
  if (error instanceof JpgError) return null;
  throw error;
}

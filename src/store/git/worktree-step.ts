// One writer at a time changes what a worktree shows: the lock in the worktree's git dir covers the check, the move of the
// branch or of HEAD, and the worktree's step. The step is recorded while it runs: the next writer with the lock, after one that
// was killed or hit a full disk, finishes it or rolls it back.
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod/mini";
import { parseJson } from "../../core/json.ts";
import { readFileIfExists, replaceFile } from "../files.ts";
import { clearBehindMark, readBehindMark, STEP_RECORD, WORKTREE_LOCK } from "../git-dir.ts";
import { isAbandoned, isLocked, withLock } from "../locks.ts";
import { branchOfRef, isBranchName, refOfBranch } from "../ref-files.ts";
import { markThisProcess, type ProcessMark, processMark, stateOfProcess } from "../running-process.ts";
import { EMPTY_TREE, type SettledStep, type UnfinishedOperation, type Worktree } from "../store.ts";
import { type Repository, tryCommand } from "./porcelain.ts";
import { readHead, readRef } from "./refs.ts";
import { listGitDirs, listWorktrees } from "./repository.ts";
import { applyAdvance, checkAdvance, placeIn, rollBack, undoAdvance } from "./worktree-advance.ts";

/** A step of a worktree: its branch moves, or HEAD switches to another one. */
interface WorktreeStep {
  readonly kind: "advance" | "use";
  /** The branch that moves, or that HEAD switches to. */
  readonly branch: string;
  readonly from: string | null;
  readonly to: string;
}

const commitId = z.string().check(z.regex(/^[0-9a-f]{40}$/));
/** A recorded step, with its writer. */
interface RecordedStep extends WorktreeStep {
  readonly writer?: ProcessMark | undefined;
}

const recordedStep: z.ZodMiniType<RecordedStep> = z.object({
  kind: z.enum(["advance", "use"]),
  branch: z.string().check(z.refine(isBranchName)),
  from: z.nullable(commitId),
  to: commitId,
  writer: z.optional(processMark),
});

/** How long a dead writer's lock counts as in use, in case its git is not seen; others hold theirs for a moment. */
const FRESH_MS = 1000;

/** A killed jpg's git may still work: the interval between checks, and their number. */
const WAIT_MS = 100;
const ATTEMPTS = 150;

/** Runs `work` while holding the worktree's lock, after settling an unfinished step. Throws `lock_held`, `worktree_in_the_way`. */
export function withWorktreeLock<T>(repository: Repository, worktree: Worktree, work: () => Promise<T>): Promise<T> {
  return withLock(lockOf(worktree), async () => {
    await settleStep(repository, worktree, ATTEMPTS);
    await advanceIfBehind(repository, worktree);
    return await work();
  });
}

/** Records a step, under the lock; if this fails nothing has begun. */
export async function recordStep(worktree: Worktree, step: WorktreeStep): Promise<void> {
  const record: RecordedStep = { ...step, writer: await markThisProcess() };
  await replaceFile(recordOf(worktree), JSON.stringify(record));
}

/** Removes the record of a step that is done or rolled back. */
export async function forgetStep(worktree: Worktree): Promise<void> {
  await rm(recordOf(worktree), { force: true });
}

/** Settles what dead writers left unfinished, in all worktrees; skips a worktree in use. */
export async function settleSteps(repository: Repository, root: string | null): Promise<readonly SettledStep[]> {
  const gitDirs = await listGitDirs(repository.gitDir);
  if (!gitDirs.some((gitDir) => existsSync(join(gitDir, STEP_RECORD)))) return [];
  const settled: SettledStep[] = [];
  for (const worktree of await listWorktrees(repository, root)) {
    if (!existsSync(recordOf(worktree)) || (await isLocked(lockOf(worktree)))) continue;
    const step = await withLock(lockOf(worktree), () => settleStep(repository, worktree, 0));
    if (step !== null) settled.push(step);
  }
  return settled;
}

/** Null when nothing had to be done, or nothing can be done for now. */
async function settleStep(repository: Repository, worktree: Worktree, attempts: number): Promise<SettledStep | null> {
  // An unreadable record was cut by a power failure: nothing had begun.
  const step = parseJson((await readFileIfExists(recordOf(worktree))) ?? "", recordedStep);
  if (step === null) return null;
  const freshMs = await freshMsFor(step);
  const locks = [join(worktree.gitDir, "index.lock"), join(worktree.gitDir, "HEAD.lock"), refLockOf(repository, step)];
  if (!(await isFree(repository, locks, { attempts, freshMs })) && attempts === 0) return null;
  const advance = { worktree, from: step.from, to: step.to };
  const wasHalf = await rollBack(repository, advance);
  const head = await readHead(repository, worktree.gitDir);
  const active = head !== null && "ref" in head ? branchOfRef(head.ref) : null;
  const isFollowed = (await indexMatches(repository, worktree, step.to)) && !wasHalf;
  let isSettled = wasHalf;
  const tip = await readRef(repository, refOfBranch(step.branch));
  // Files and index had switched; HEAD, or the branch, had not.
  const isAhead = step.kind === "use" ? active !== step.branch : active === step.branch && tip === step.from;
  if (step.kind === "advance" && active === step.branch && tip === step.to) {
    await applyAdvance(repository, advance);
    isSettled = !isFollowed;
  } else if (isAhead && isFollowed && step.from !== step.to) {
    await undoAdvance(repository, advance);
    isSettled = true;
  }
  await forgetStep(worktree);
  return isSettled ? { kind: step.kind, branch: step.branch, active, path: worktree.path } : null;
}

/** The age from which a lock is abandoned if the writer has ended and its gits would be seen; else undefined. */
async function freshMsFor({ writer }: RecordedStep): Promise<number | undefined> {
  return writer !== undefined && (await stateOfProcess(writer)) === "ended" ? FRESH_MS : undefined;
}

/** How often to wait for a git, and the age from which a lock is abandoned; undefined = the default. */
interface Patience {
  readonly attempts: number;
  readonly freshMs: number | undefined;
}

/** The lock under which the step's branch moves. */
function refLockOf({ gitDir }: Repository, { branch }: RecordedStep): string {
  return join(gitDir, `${refOfBranch(branch)}.lock`);
}

/** Whether nobody works in the worktree or moves its branch any more; removes the locks of killed processes. */
async function isFree(
  repository: Repository,
  locks: readonly string[],
  { attempts, freshMs }: Patience,
): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const held = await Promise.all(locks.map((lock) => isHeld(repository, lock, freshMs)));
    if (!held.includes(true)) return true;
    if (attempt >= attempts) return false;
    await sleep(WAIT_MS);
  }
}

async function isHeld(repository: Repository, lock: string, freshMs: number | undefined): Promise<boolean> {
  if (!existsSync(lock)) return false;
  if (!(await isAbandoned(repository, lock, freshMs))) return true;
  await rm(lock, { force: true });
  return false;
}

/**
 * Advances a worktree whose branch moved while it was switching to it, so that the mover did not see it there. Call under its
 * lock; does nothing unless the index matches the commit that it switched to.
 */
export async function catchUp(repository: Repository, worktree: Worktree, { branch, at }: MovedBranch): Promise<void> {
  const tip = await readRef(repository, refOfBranch(branch));
  if (tip === null || tip === at || !(await indexMatches(repository, worktree, at ?? EMPTY_TREE))) return;
  await applyAdvance(repository, { worktree, from: at, to: tip });
}

/** A branch that a worktree shows, and the commit at which it may still show it; null = none. */
interface MovedBranch {
  readonly branch: string;
  readonly at: string | null;
}

/** Whether the index matches a commit. */
async function indexMatches(repository: Repository, worktree: Worktree, commit: string): Promise<boolean> {
  const command = { args: ["diff-index", "--cached", "--quiet", commit] };
  return (await tryCommand(placeIn(repository, worktree), command)).code === 0;
}

function lockOf({ gitDir }: Worktree): string {
  return join(gitDir, WORKTREE_LOCK);
}

function recordOf({ gitDir }: Worktree): string {
  return join(gitDir, STEP_RECORD);
}

/** Advances a worktree that is marked as behind to its HEAD, under its lock. Throws `worktree_in_the_way`, and keeps the mark. */
async function advanceIfBehind(repository: Repository, worktree: Worktree): Promise<void> {
  const mark = readBehindMark(worktree.gitDir);
  if (mark === null) return;
  const head = await readHead(repository, worktree.gitDir);
  const commit = head === null || "commit" in head ? head?.commit : await readRef(repository, head.ref);
  const advance = { worktree, from: mark.at, to: commit ?? EMPTY_TREE };
  await checkAdvance(repository, advance);
  await applyAdvance(repository, advance);
  await clearBehindMark(worktree.gitDir);
}

// A git operation in progress while HEAD is detached: a bisect or a rebase. Both record the branch that they began on, and
// return to it.

/** Finds the operation in the git dir of a worktree; null when there is none. */
export async function findUnfinishedOperation(worktreeGitDir: string): Promise<UnfinishedOperation | null> {
  const read = async (...names: string[]): Promise<string | null> =>
    (await readFileIfExists(join(worktreeGitDir, ...names)))?.trim() ?? null;
  if ((await read("BISECT_LOG")) !== null) {
    const start = await read("BISECT_START");
    const branch = start === null || /^[0-9a-f]{40,64}$/.test(start) ? null : start;
    return { name: "bisect", branch, ends: ["bisect reset"] };
  }
  const head = (await read("rebase-merge", "head-name")) ?? (await read("rebase-apply", "head-name"));
  if (head === null) return null;
  return { name: "rebase", branch: branchOfRef(head), ends: ["rebase --continue", "rebase --abort"] };
}

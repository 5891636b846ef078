// One writer at a time moves what a worktree shows: the lock in the worktree's git dir covers the check, the move of the
// branch or of HEAD, and the worktree's step. The step is on record while it is taken: whoever takes the lock after a writer
// that was killed, or that could not finish on a full disk, finishes it or takes it back.
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

/** A step of a worktree: the branch that it holds moves, or HEAD goes over to another one. */
interface WorktreeStep {
  readonly kind: "advance" | "use";
  /** The branch that moves, or that HEAD goes over to. */
  readonly branch: string;
  readonly from: string | null;
  readonly to: string;
}

const commitId = z.string().check(z.regex(/^[0-9a-f]{40}$/));
/** A step on record, with who takes it. */
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

/** A lock counts as being worked with for so long although the writer's git is not seen any more: others hold theirs for a moment. */
const FRESH_MS = 1000;

/** A killed jpg's git may still work; how often it is looked for, and how often in all. */
const WAIT_MS = 100;
const ATTEMPTS = 150;

/** Runs `work` while holding the worktree's lock, after a step that was left half done was settled. Throws `lock_held`, `worktree_in_the_way`. */
export function withWorktreeLock<T>(repository: Repository, worktree: Worktree, work: () => Promise<T>): Promise<T> {
  return withLock(lockOf(worktree), async () => {
    await settleStep(repository, worktree, ATTEMPTS);
    await advanceIfBehind(repository, worktree);
    return await work();
  });
}

/** Puts a step on record, under the lock; while this fails nothing has begun. */
export async function recordStep(worktree: Worktree, step: WorktreeStep): Promise<void> {
  const record: RecordedStep = { ...step, writer: await markThisProcess() };
  await replaceFile(recordOf(worktree), JSON.stringify(record));
}

/** The step is taken, or taken back. */
export async function forgetStep(worktree: Worktree): Promise<void> {
  await rm(recordOf(worktree), { force: true });
}

/** Settles what writers that are gone left half done, in all worktrees; one that somebody works in is passed over. */
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

/** Null when nothing had to be done, or nothing can be for now. */
async function settleStep(repository: Repository, worktree: Worktree, attempts: number): Promise<SettledStep | null> {
  // Of one that was cut short with the power nothing had begun.
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
  // Files and index had gone over; HEAD had not, or the branch.
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

/** How old a lock must be to be nobody's, where the gits of who took the step would be seen; else undefined. */
async function freshMsFor({ writer }: RecordedStep): Promise<number | undefined> {
  return writer !== undefined && (await stateOfProcess(writer)) === "ended" ? FRESH_MS : undefined;
}

/** How long a git is waited for, and how old a lock must be to be nobody's; without `freshMs` as everywhere. */
interface Patience {
  readonly attempts: number;
  readonly freshMs: number | undefined;
}

/** The lock under which the step's branch moves. */
function refLockOf({ gitDir }: Repository, { branch }: RecordedStep): string {
  return join(gitDir, `${refOfBranch(branch)}.lock`);
}

/** Whether nobody works in the worktree or moves its branch any more; the locks of those who were killed are removed. */
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
 * Brings a worktree along whose branch moved while it went over to it, so that whoever moved it did not see it there. Under its
 * lock; nothing is done where the index does not hold just what the commit does that it went over to.
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

/** Whether the index holds just what a commit does. */
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

/** Brings a worktree that is marked as behind to what its HEAD names, under its lock. Throws `worktree_in_the_way`, and leaves the mark. */
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

// What git has begun in a worktree and not ended while HEAD is detached: a bisect or a rebase. Both know the branch that
// they began on, and go back to it.

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

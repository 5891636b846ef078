// Moves branches that are checked out: each worktree that holds one is checked before any branch moves and brought along
// afterwards, all under the worktrees' locks.
import { asSentence, type JpgError, reasonOf, repositoryError } from "../../../core/errors.ts";
import { refOfBranch } from "../../refs/ref-name.ts";
import type { Worktree } from "../../worktrees.ts";
import type { Repository } from "../git/git-command.ts";
import { readRef } from "../refs/ref-reader.ts";
import { type BranchMove, moveBranches } from "../refs/ref-update.ts";
import { takeBack } from "./half-step.ts";
import { readActiveBranch } from "./use-branch.ts";
import { type Advance, applyAdvance, checkAdvance } from "./worktree-advance.ts";
import { catchUp, forgetStep, recordStep, withWorktreeLock } from "./worktree-step.ts";

/** Moves branches by compare-and-swap and brings the worktrees along that hold them. Throws `worktree_in_the_way` with nothing moved. */
export async function moveWithWorktrees(
  repository: Repository,
  moves: readonly BranchMove[],
  worktrees: readonly Worktree[],
): Promise<readonly boolean[]> {
  const held = worktrees.flatMap((worktree) =>
    moves.filter(({ branch }) => branch === worktree.branch).map((move) => ({ ...move, worktree })),
  );
  const moved = held.length === 0 ? await moveBranches(repository, moves) : await moveHeld(repository, moves, held);
  await followLate(
    repository,
    moves.filter((_, i) => moved[i]),
    worktrees,
  );
  return moved;
}

/** A worktree that went over to a branch after it was listed, and before the branch moved, is brought along as well. */
async function followLate(
  repository: Repository,
  moved: readonly BranchMove[],
  worktrees: readonly Worktree[],
): Promise<void> {
  for (const worktree of worktrees) {
    const branch = await readActiveBranch(repository, worktree.gitDir);
    const move = branch === worktree.branch ? undefined : moved.find((one) => one.branch === branch);
    if (move === undefined) continue;
    await withWorktreeLock(repository, worktree, async () => {
      if ((await readActiveBranch(repository, worktree.gitDir)) !== move.branch) return;
      await catchUp(repository, worktree, { branch: move.branch, at: move.expected });
    });
  }
}

/** The move of a branch, and a worktree that holds it. */
interface HeldMove extends BranchMove {
  readonly worktree: Worktree;
}

/** Moves branches under the locks of the worktrees that hold some of them, once nothing stands in the way of those that follow. */
async function moveHeld(
  repository: Repository,
  moves: readonly BranchMove[],
  held: readonly HeldMove[],
): Promise<readonly boolean[]> {
  return await withLocks(repository, held, async () => {
    const current = await Promise.all(moves.map(({ branch }) => readRef(repository, refOfBranch(branch))));
    const isStale = (branch: string): boolean =>
      moves.some((move, i) => move.branch === branch && current[i] !== move.expected);
    const fresh = held.filter(({ branch }) => !isStale(branch));
    for (const move of fresh) await checkAdvance(repository, toAdvance(move));
    const moved = await moveOnRecord(repository, moves, fresh);
    const movedBranches = new Set(moves.filter((_, i) => moved[i]).map(({ branch }) => branch));
    await follow(
      repository,
      fresh.filter(({ branch }) => movedBranches.has(branch)),
    );
    return moved;
  });
}

/** Moves the branches; the steps of worktrees whose branch has moved stay on record. */
async function moveOnRecord(
  repository: Repository,
  moves: readonly BranchMove[],
  held: readonly HeldMove[],
): Promise<readonly boolean[]> {
  let moved: readonly boolean[] = moves.map(() => false);
  try {
    for (const { worktree, branch, expected, to } of held)
      await recordStep(worktree, { kind: "advance", branch, from: expected, to });
    moved = await moveBranches(repository, moves);
    return moved;
  } finally {
    const left = new Set(moves.filter((_, i) => moved[i] !== true).map(({ branch }) => branch));
    for (const { worktree, branch } of held) if (left.has(branch)) await forgetStep(worktree);
  }
}

/** Brings worktrees along. One that cannot follow, on a full disk for one, keeps its step on record for the next command. */
async function follow(repository: Repository, held: readonly HeldMove[]): Promise<void> {
  const failures: JpgError[] = [];
  for (const move of held) {
    try {
      await applyAdvance(repository, toAdvance(move));
      await forgetStep(move.worktree);
    } catch (error) {
      failures.push(await leaveBehind(repository, move, error));
    }
  }
  if (failures[0] !== undefined) throw failures[0];
}

/** The error for files that could not follow their branch; what was begun of them is undone, where that can be done. */
async function leaveBehind(repository: Repository, move: HeldMove, cause: unknown): Promise<JpgError> {
  await takeBack(repository, toAdvance(move)).catch(() => undefined);
  const { worktree, branch } = move;
  const message = `What was written is committed on ${branch}, but its files in ${worktree.path} could not follow: ${asSentence(reasonOf(cause))}`;
  return repositoryError("worktree_behind", message, {
    hints: [`Make room in ${worktree.path}, or make it writable: the next jpg command brings its files along.`],
    data: { worktree: worktree.path },
    cause,
  });
}

function toAdvance({ worktree, expected, to }: HeldMove): Advance {
  return { worktree, from: expected, to };
}

/** Takes the locks in one order for everybody, so that two writers cannot wait for each other. */
async function withLocks<T>(repository: Repository, held: readonly HeldMove[], work: () => Promise<T>): Promise<T> {
  const sorted = [...held].sort((a, b) => (a.worktree.gitDir < b.worktree.gitDir ? -1 : 1));
  const run = (index: number): Promise<T> => {
    const move = sorted[index];
    if (move === undefined) return work();
    return withWorktreeLock(repository, move.worktree, () => run(index + 1));
  };
  return await run(0);
}

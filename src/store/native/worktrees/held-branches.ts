// Moves branches that are checked out: each worktree that holds one is checked before any branch moves and brought along
// afterwards, all under the worktrees' locks.
import type { Worktree } from "../../conversation-store.ts";
import type { Repository } from "../git/git-command.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import { readRef } from "../refs/ref-reader.ts";
import { type BranchMove, moveBranches } from "../refs/ref-update.ts";
import { type Advance, applyAdvance, checkAdvance } from "./worktree-advance.ts";
import { withWorktreeLock } from "./worktree-step.ts";

interface HeldMove extends BranchMove {
  readonly worktree: Worktree;
}

/** Moves branches by compare-and-swap and brings the worktrees along that hold them. Throws `worktree_in_the_way` with nothing moved. */
export async function moveWithWorktrees(
  repository: Repository,
  moves: readonly BranchMove[],
  worktrees: readonly Worktree[],
): Promise<readonly boolean[]> {
  const held = worktrees.flatMap((worktree) =>
    moves.filter(({ branch }) => branch === worktree.branch).map((move) => ({ ...move, worktree })),
  );
  if (held.length === 0) return await moveBranches(repository, moves);
  return await withLocks(repository, held, async () => {
    const current = await Promise.all(moves.map(({ branch }) => readRef(repository, refOfBranch(branch))));
    const isStale = (branch: string): boolean =>
      moves.some((move, i) => move.branch === branch && current[i] !== move.expected);
    const fresh = held.filter(({ branch }) => !isStale(branch));
    for (const move of fresh) await checkAdvance(repository, toAdvance(move));
    const moved = await moveBranches(repository, moves);
    const movedBranches = new Set(moves.filter((_, i) => moved[i]).map(({ branch }) => branch));
    for (const move of fresh) if (movedBranches.has(move.branch)) await applyAdvance(repository, toAdvance(move));
    return moved;
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
    const { worktree, branch, expected, to } = move;
    return withWorktreeLock(repository, worktree, { branch, from: expected, to }, () => run(index + 1));
  };
  return await run(0);
}

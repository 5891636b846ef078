// Moves a branch that a worktree holds by a step which only adds files. These come first, while the branch is locked: what stands
// in their way changes nothing, so that git need not be asked beforehand.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../core/errors.ts";
import { refOfBranch } from "../../refs/ref-name.ts";
import type { Worktree } from "../../worktrees.ts";
import type { Repository } from "../git/git-command.ts";
import { changeFewRefs } from "../refs/few-refs.ts";
import { type BranchMove, MOVE_MESSAGE } from "../refs/ref-update.ts";
import { takeBack } from "./half-step.ts";
import { type Advance, applyAdvance, checkUnfinished, undoAdvance } from "./worktree-advance.ts";
import { forgetStep, recordStep } from "./worktree-step.ts";

/** The move of a branch, and a worktree that holds it. */
export interface HeldMove extends BranchMove {
  readonly worktree: Worktree;
}

/** What came of it. */
interface FollowedMove {
  readonly moved: boolean;
  /** Why the files could not follow a branch that has moved; their step is on record. Null = they have. */
  readonly failure: { readonly cause: unknown } | null;
}

/**
 * Moves the branch and brings its worktree along, under the worktree's lock. Null, with nothing changed, where git has to be asked
 * beforehand, or has to say what is wrong. Throws `worktree_in_the_way` with nothing changed.
 */
export async function moveFollowed(
  repository: Repository,
  { worktree, branch, expected, to, added }: HeldMove,
): Promise<FollowedMove | null> {
  if (expected === null || added?.every((path) => isVacant(worktree.path, path)) !== true) return null;
  const advance: Advance = { worktree, from: expected, to };
  checkUnfinished(advance);
  let isTaken = false;
  let failure: FollowedMove["failure"] = null;
  const follow = async (): Promise<void> => {
    await recordStep(worktree, { kind: "advance", branch, from: expected, to });
    try {
      await applyAdvance(repository, advance);
      isTaken = true;
    } catch (cause) {
      if (codeOf(cause) === "worktree_in_the_way") throw cause;
      failure = { cause };
    }
  };
  let isLeft = false;
  try {
    const moved = await changeFewRefs(repository, [{ ref: refOfBranch(branch), expected, to }], MOVE_MESSAGE, follow);
    isLeft = moved === true && failure !== null;
    if (moved !== null) return { moved, failure };
    if (isTaken) await undoAdvance(repository, advance);
    else if (failure !== null) await takeBack(repository, advance);
    return null;
  } finally {
    if (!isLeft) await forgetStep(worktree);
  }
}

/** Whether nothing stands at a path of a worktree, and only folders on the way to it. */
function isVacant(root: string, path: string): boolean {
  const parts = path.split("/");
  for (let count = 1; count <= parts.length; count++) {
    const found = lstatSync(join(root, ...parts.slice(0, count)), { throwIfNoEntry: false });
    if (found === undefined) return true;
    if (!found.isDirectory()) return false;
  }
  return false;
}

// Makes a branch the one that a worktree shows, while no other writer moves that worktree.
import { userError } from "../../../core/errors.ts";
import type { Worktree } from "../../conversation-store.ts";
import { type Repository, tryCommand } from "../git/git-command.ts";
import { branchOfRef, refOfBranch } from "../refs/ref-name.ts";
import { readHead, readRef } from "../refs/ref-reader.ts";
import { checkAdvance, refusal, undoAdvance } from "./worktree-advance.ts";
import { withWorktreeLock } from "./worktree-step.ts";

/** The branch that HEAD of a store, or of one of its worktrees, names, born or not; null when it names none. */
export async function readActiveBranch(
  repository: Repository,
  gitDir: string = repository.gitDir,
): Promise<string | null> {
  const head = await readHead(repository, gitDir);
  return head !== null && "ref" in head ? branchOfRef(head.ref) : null;
}

/** Switches a worktree, the store's own unless said otherwise. Throws `branch_missing`, `worktree_in_the_way`, `lock_held`. */
export async function useBranch(repository: Repository, name: string, where?: Worktree): Promise<void> {
  while (!(await tryUse(repository, name, where)));
}

/** False when another writer moved the worktree meanwhile. */
async function tryUse(repository: Repository, name: string, where: Worktree | undefined): Promise<boolean> {
  const to = await readRef(repository, refOfBranch(name));
  if (to === null) {
    throw userError("branch_missing", `there is no branch ${name} in ${repository.cwd}`, { hints: ["jpg ls"] });
  }
  const { path, gitDir } = where ?? { path: repository.cwd, gitDir: repository.gitDir };
  const active = await readActiveBranch(repository, gitDir);
  if (active === name) return true;
  const from = active === null ? "HEAD" : await readRef(repository, refOfBranch(active));
  const worktree = { path, gitDir, branch: active, commit: where?.commit ?? null };
  return await withWorktreeLock(repository, worktree, { branch: null, from, to }, async () => {
    const isMoved = (await readActiveBranch(repository, gitDir)) !== active;
    if (isMoved || (active !== null && (await readRef(repository, refOfBranch(active))) !== from)) return false;
    await checkAdvance(repository, { worktree, from, to });
    const command = { args: ["switch", "--quiet", "--no-guess", "--ignore-other-worktrees", name] };
    const place = { ...repository, gitDir, cwd: path };
    const result = await tryCommand(place, command);
    if (result.code !== 0) {
      const isSwitched = (await readActiveBranch(repository, gitDir)) === name;
      // What cannot be put back now stays as it is; what failed first is what is said.
      if (!isSwitched) await undoAdvance(repository, { worktree, from, to }).catch(() => undefined);
      throw await refusal(place, { worktree }, command, result);
    }
    return true;
  });
}

// Makes a branch the one that a worktree shows, while no other writer moves that worktree.
import { userError } from "../../../core/errors.ts";
import { branchOfRef, refOfBranch } from "../../refs/ref-name.ts";
import type { Worktree } from "../../worktrees.ts";
import { type Repository, tryCommand } from "../git/git-command.ts";
import { runPorcelain } from "../porcelain/run-porcelain.ts";
import { readHead, readRef } from "../refs/ref-reader.ts";
import { takeBack } from "./half-step.ts";
import { checkAdvance, refusalOfSwitch } from "./worktree-advance.ts";
import { catchUp, forgetStep, recordStep, withWorktreeLock } from "./worktree-step.ts";

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
    throw userError("branch_missing", `There is no branch ${name} in ${repository.cwd}.`, {
      hints: ["`jpg ls` lists the conversations."],
    });
  }
  const { path, gitDir } = where ?? { path: repository.cwd, gitDir: repository.gitDir };
  const active = await readActiveBranch(repository, gitDir);
  if (active === name) return true;
  const head = await readHead(repository, gitDir);
  const commit = head !== null && "commit" in head ? head.commit : null;
  const from = active === null ? commit : await readRef(repository, refOfBranch(active));
  const worktree = { path, gitDir, branch: active, commit };
  return await withWorktreeLock(repository, worktree, async () => {
    const isMoved = (await readActiveBranch(repository, gitDir)) !== active;
    if (isMoved || (active !== null && (await readRef(repository, refOfBranch(active))) !== from)) return false;
    await checkAdvance(repository, { worktree, from, to });
    await recordStep(worktree, { kind: "use", branch: name, from, to });
    await switchTo(repository, worktree, { name, from, to });
    await catchUp(repository, worktree, { branch: name, at: to });
    await forgetStep(worktree);
    return true;
  });
}

async function switchTo(
  repository: Repository,
  worktree: Worktree,
  { name, from, to }: { readonly name: string; readonly from: string | null; readonly to: string },
): Promise<void> {
  const command = { args: ["switch", "--quiet", "--no-guess", "--ignore-other-worktrees", name] };
  const place = { ...repository, gitDir: worktree.gitDir, cwd: worktree.path };
  const result = await tryCommand(place, command, runPorcelain);
  if (result.code === 0) return;
  const isSwitched = (await readActiveBranch(repository, worktree.gitDir)) === name;
  // What cannot be put back now is put back by the next command; what failed first is what is said.
  const isBack =
    isSwitched ||
    (await takeBack(repository, { worktree, from, to }).then(
      () => true,
      () => false,
    ));
  if (isBack) await forgetStep(worktree);
  throw await refusalOfSwitch(place, { worktree }, command, result);
}

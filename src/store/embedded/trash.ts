// The trash of the embedded engine: refs move there and back in one change. What nothing reaches any more only git can tell.

import { repositoryError } from "../../core/errors.ts";
import type { BranchTip, Trash, TrashedBranch } from "../conversation-store.ts";
import { needsGit } from "../files/needs-git.ts";
import { parseTrashRef, refInTrash, TRASH } from "../native/refs/trash-name.ts";
import { changeRefs, type RefChange } from "../refs/ref-changes.ts";
import { listRefs } from "../refs/ref-files.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { leaveEmpty, readActiveBranch } from "./use-branch.ts";

/** The trash of a repository; `configure` gives branches that come back what every branch has. */
export function createTrash(
  repository: EmbeddedRepository,
  configure: (branches: readonly string[]) => Promise<void>,
): Trash {
  const change = async (changes: readonly RefChange[]): Promise<void> => {
    if (await changeRefs(repository, changes, "jpg: trash")) return;
    throw repositoryError("ref_moved", `A branch of ${repository.root} stands elsewhere by now: nothing was changed.`, {
      hints: ["Run the command again."],
    });
  };
  return {
    async list() {
      const refs = await listRefs(repository, TRASH);
      return refs.flatMap(({ ref, commit }) => (commit === null ? [] : (parseTrashRef(ref, commit) ?? [])));
    },
    async put(branches: readonly BranchTip[], removedAt: string) {
      const active = await readActiveBranch(repository);
      if (branches.some(({ name }) => name === active)) await leaveEmpty(repository);
      await change(
        branches.flatMap(({ name, commit }) => [
          { ref: refInTrash(removedAt, name), expected: null, to: commit },
          { ref: refOfBranch(name), expected: commit, to: null },
        ]),
      );
    },
    async restore(branches: readonly TrashedBranch[]) {
      await change(
        branches.flatMap(({ branch, commit, removedAt }) => [
          { ref: refOfBranch(branch), expected: null, to: commit },
          { ref: refInTrash(removedAt, branch), expected: commit, to: null },
        ]),
      );
      await configure(branches.map(({ branch }) => branch));
    },
    purge: () => Promise.reject(needsGit("Removing for good", repository.env)),
  };
}

// Looking after a store, with the git program.
import type { Upkeep } from "../store.ts";
import { readStoreHealth } from "./maintain.ts";
import { type Repository, runCommand, runPorcelain } from "./porcelain.ts";
import { readProjectRemotes } from "./remote.ts";
import { isProjectDir, projectOfStore } from "./repository.ts";

/** The upkeep of a repository. */
export function createUpkeep(repository: Repository): Upkeep {
  return {
    look: (programs, version) => readStoreHealth(repository, { programs, version }),
    async forgetGoneWorktrees() {
      await runCommand(repository, { args: ["worktree", "prune"] }, runPorcelain);
    },
    async pack() {
      await runCommand(repository, { args: ["gc", "--quiet"] });
    },
    async mirrors() {
      const project = projectOfStore(repository.cwd, repository.gitDir);
      if (!(await isProjectDir(project))) return [];
      return (await readProjectRemotes(project, repository.env)).filter(({ isMirror }) => isMirror);
    },
  };
}

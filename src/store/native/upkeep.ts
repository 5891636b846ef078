// Looking after a store, with the git program.
import type { Upkeep } from "../upkeep.ts";
import { type Repository, runCommand } from "./git/git-command.ts";
import { runPorcelain } from "./porcelain/run-porcelain.ts";
import { isProjectDir, projectOfStore } from "./refs/project-of-store.ts";
import { readProjectRemotes } from "./remotes/project-remotes.ts";
import { readStoreHealth } from "./store-health.ts";

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

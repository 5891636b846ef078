// What belongs to a store on disk beside its branches, with the git program.
import { dropCaches, openCache } from "../files/cache-folder.ts";
import { journalFolder, keepText } from "../files/kept-files.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import type { StoreSurroundings } from "../store-surroundings.ts";
import type { Repository } from "./git/git-command.ts";
import { ignoredSettings } from "./git/store-guard.ts";
import { readIdentity } from "./identity.ts";
import { startMaintenance } from "./maintenance.ts";
import { configureBranches } from "./refs/branch-config.ts";
import { excludeViews } from "./refs/exclude-views.ts";
import { openMaskedCopies } from "./refs/masked-copies.ts";
import { isPublished, recordPublished } from "./refs/published.ts";
import { readShallowCommits } from "./refs/ref-reader.ts";
import { formerTipsIn, previousBranchIn, readReflog } from "./refs/reflog-reader.ts";
import { readEditor } from "./user-editor.ts";
import { readActiveBranch } from "./worktrees/use-branch.ts";

/** Gives the surroundings of a repository; `directory` = where jpg was started. */
export function createSurroundings(repository: Repository, directory?: string): StoreSurroundings {
  const { gitDir, cwd, env } = repository;
  return {
    cache: (name, worktree) => openCache(worktree?.gitDir ?? gitDir, name),
    dropCaches: () => dropCaches(gitDir),
    journal: () => journalFolder(gitDir),
    keepText: (name, text) => keepText(gitDir, name, text),
    editor: () => readEditor(repository),
    identity: () => readIdentity(cwd, env, directory),
    async previousBranch(worktree) {
      const place = worktree?.gitDir ?? gitDir;
      return previousBranchIn(await readReflog(place, "HEAD"), await readActiveBranch(repository, place));
    },
    formerTips: async (branch) => formerTipsIn(await readReflog(gitDir, refOfBranch(branch))),
    cutOffCommits: () => readShallowCommits(gitDir),
    isPublished: () => isPublished(gitDir),
    recordPublished: (commits) => recordPublished(gitDir, commits),
    maskedCopies: () => openMaskedCopies(gitDir),
    excludeViews: () => excludeViews(gitDir),
    configureBranches: (names) => configureBranches(repository, names),
    ignoredSettings: () => ignoredSettings(repository),
    maintain: () => startMaintenance(repository),
    // Loaded where it is asked for: no other command than `doctor` does.
    upkeep: async () => (await import("./upkeep.ts")).createUpkeep(repository),
  };
}

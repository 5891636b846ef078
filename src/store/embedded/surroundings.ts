// What belongs to a store beside its branches, without the git program.

import { join } from "node:path";
import { NO_CACHE } from "../cache.ts";
import { dropCaches, openCache } from "../files/cache-folder.ts";
import { journalFolder, keepText } from "../files/kept-files.ts";
import { configureBranches } from "../native/refs/branch-config.ts";
import { excludeViews } from "../native/refs/exclude-views.ts";
import { openMaskedCopies } from "../native/refs/masked-copies.ts";
import { isPublished, recordPublished } from "../native/refs/published.ts";
import { formerTipsIn, previousBranchIn } from "../native/refs/reflog-reader.ts";
import { refOfBranch } from "../refs/ref-name.ts";
import { readText } from "../refs/ref-place.ts";
import type { StoreSurroundings } from "../store-surroundings.ts";
import type { EmbeddedRepository } from "./repository.ts";
import { readActiveBranch } from "./use-branch.ts";

/** Gives the surroundings of a repository; one in memory keeps nothing. */
export function createSurroundings(repository: EmbeddedRepository): StoreSurroundings {
  const { gitDir, isOnDisk } = repository;
  return {
    cache: (name, worktree) => (isOnDisk ? openCache(worktree?.gitDir ?? gitDir, name) : NO_CACHE),
    dropCaches: async () => (isOnDisk ? await dropCaches(gitDir) : undefined),
    journal: () => journalFolder(gitDir),
    keepText: async (name, text) => (isOnDisk ? await keepText(gitDir, name, text) : null),
    // Git's settings outside the store are git's to read.
    editor: () => Promise.resolve(null),
    identity: async () => ({
      ...(await repository.identity("author")),
      committer: await repository.identity("committer"),
      maySign: await repository.signs(),
    }),
    async previousBranch(worktree) {
      const place = worktree?.gitDir ?? gitDir;
      const reflog = await readText(repository, join(place, "logs", "HEAD"));
      return previousBranchIn(reflog, await readActiveBranch(repository, place));
    },
    formerTips: async (branch) => formerTipsIn(await readText(repository, join(gitDir, "logs", refOfBranch(branch)))),
    cutOffCommits: () => readCutOffCommits(repository),
    isPublished: async () => isOnDisk && (await isPublished(gitDir)),
    recordPublished: async (commits) => (isOnDisk ? await recordPublished(gitDir, commits) : undefined),
    maskedCopies: () => (isOnDisk ? openMaskedCopies(gitDir) : null),
    excludeViews: async () => (isOnDisk ? await excludeViews(gitDir) : undefined),
    configureBranches: (names) => configure(repository, names),
    // No program is ever started.
    ignoredSettings: () => [],
    // Git packs objects; the next jpg that has it does.
    maintain: () => Promise.resolve(),
    // What there is to look after is git's.
    upkeep: () => Promise.resolve(null),
  };
}

/** Stock git must never take one record for a renamed copy of another; a store in memory is not for it. */
export async function configure({ isOnDisk, gitDir }: EmbeddedRepository, names: readonly string[]): Promise<void> {
  if (isOnDisk) await configureBranches({ gitDir }, names);
}

/** Commits whose parents a shallow clone left out. */
export async function readCutOffCommits(repository: EmbeddedRepository): Promise<ReadonlySet<string>> {
  const text = (await readText(repository, join(repository.gitDir, "shallow"))) ?? "";
  return new Set(text.split("\n").filter((line) => line !== ""));
}

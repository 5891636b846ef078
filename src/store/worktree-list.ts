// Finds the worktrees of a store by the files git keeps about them, without starting git.
import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Worktree } from "./conversation-store.ts";
import type { Repository } from "./git-command.ts";
import { branchOfRef } from "./ref-name.ts";
import { readFileIfThere, readHead } from "./ref-reader.ts";

/** Lists the store's own worktree (when it has one), then the linked ones whose folder still exists, by name. */
export async function listWorktrees(repository: Repository, root: string | null): Promise<readonly Worktree[]> {
  const own = root === null ? [] : [await describeWorktree(repository, root, repository.gitDir)];
  const folder = join(repository.gitDir, "worktrees");
  const linked = await Promise.all(
    (await listFolder(folder)).map((name) => describeLinked(repository, join(folder, name))),
  );
  return [...own, ...linked].filter((worktree) => worktree !== null);
}

async function listFolder(path: string): Promise<string[]> {
  try {
    return (await readdir(path)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

async function describeLinked(repository: Repository, gitDir: string): Promise<Worktree | null> {
  const link = (await readFileIfThere(join(gitDir, "gitdir")))?.trim();
  if (link === undefined || link === "") return null;
  const file = resolve(gitDir, link);
  // A folder that was deleted by hand is only an entry to prune.
  if ((await readFileIfThere(file)) === null) return null;
  return await describeWorktree(repository, dirname(file), gitDir);
}

async function describeWorktree(repository: Repository, path: string, gitDir: string): Promise<Worktree | null> {
  const head = await readHead(repository, gitDir);
  if (head === null) return null;
  return { path, gitDir, branch: "ref" in head ? branchOfRef(head.ref) : null };
}

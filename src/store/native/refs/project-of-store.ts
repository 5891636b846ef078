// The project that a store or a directory belongs to. Git is not asked, and nothing is looked at but which files are there: what is
// found here says whose something is, and is never worked in.
import { basename, dirname, join, resolve } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import type { ProjectLocation } from "../../store-location.ts";
import { findRepositoryDir, listGitDirs } from "./repository-dir.ts";

/** The project whose git dir a project store stands in. */
export function projectOfStore(storeRoot: string, commonDir: string): ProjectLocation {
  const projectDir = dirname(storeRoot);
  const isInProject = basename(storeRoot) === "jpg" && commonDir === join(storeRoot, ".git");
  const root = basename(projectDir) === ".git" ? dirname(projectDir) : projectDir;
  return { root, commonDir: isInProject ? projectDir : "" };
}

export async function isProjectDir({ commonDir }: ProjectLocation): Promise<boolean> {
  return commonDir !== "" && (await findRepositoryDir(commonDir))?.isBare === true;
}

/** The folder in which the worktrees of a store are made by default: in the project's git dir, else in the store's own. */
export async function worktreesFolder(root: string, gitDir: string): Promise<string> {
  const project = projectOfStore(root, gitDir);
  return join((await isProjectDir(project)) ? project.commonDir : gitDir, "jpg-worktrees");
}

/**
 * Finds the git dir, shared by all worktrees, of the nearest repository around a directory (absolute, without symbolic links); null
 * where there is none. A store in a project's git dir is the project's.
 */
export async function findProjectAround(directory: string): Promise<string | null> {
  for (let at = directory; ; at = dirname(at)) {
    const found = await findRepositoryDir(at);
    if (found !== null) {
      const storeRoot = basename(found.commonDir) === ".git" ? dirname(found.commonDir) : at;
      const project = projectOfStore(storeRoot, found.commonDir);
      return (await isProjectDir(project)) ? project.commonDir : found.commonDir;
    }
    if (dirname(at) === at) return null;
  }
}

/** Lists the tops of a repository's worktrees, absolute, those among them that were deleted and not yet forgotten by git. */
export async function listWorktreeTops(commonDir: string): Promise<readonly string[]> {
  const [, ...linked] = await listGitDirs(commonDir);
  const files = await Promise.all(linked.map((gitDir) => readFileIfThere(join(gitDir, "gitdir"))));
  // Git writes the path of the worktree's `.git` there, relative to that folder where the user wants it so.
  const dotGits = files.map((text, at) => resolve(linked[at] ?? "", (text ?? "").trim()));
  const main = basename(commonDir) === ".git" ? [commonDir] : [];
  return [...main, ...dotGits].filter((path) => basename(path) === ".git").map((path) => dirname(path));
}

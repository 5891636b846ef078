// The project that a store or a directory belongs to. Git is not asked, and nothing is looked at but which files are there: what is
// found here says whose something is, and is never worked in.
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { readFileIfThere } from "../../files/read-file.ts";
import type { ProjectLocation } from "../../store-location.ts";
import { findRepositoryDir, listGitDirs, type RepositoryDir } from "./repository-dir.ts";

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
  const found = await findNearest(directory);
  if (found === null) return null;
  const { commonDir, top } = found;
  const project = projectOfStore(basename(commonDir) === ".git" ? dirname(commonDir) : top, commonDir);
  return (await isProjectDir(project)) ? project.commonDir : commonDir;
}

/** The nearest repository around a directory, and the folder upwards that it is found in. */
async function findNearest(directory: string): Promise<(RepositoryDir & { readonly top: string }) | null> {
  for (let at = directory; ; at = dirname(at)) {
    const found = await findRepositoryDir(at);
    if (found !== null) return { ...found, top: at };
    if (dirname(at) === at) return null;
  }
}

/** Where git is asked for the settings of a project. */
export interface ProjectPlace extends ProjectLocation {
  /** The git dir of that worktree. */
  readonly gitDir: string;
}

/**
 * Finds where git is to be asked for the settings of the project that a store belongs to; null where it belongs to none. That is
 * the worktree around `cwd`, if it is one of the project's: a worktree may have settings of its own.
 */
export async function findProjectPlace(
  { gitDir, root }: { readonly gitDir: string; readonly root: string },
  cwd: string | undefined,
): Promise<ProjectPlace | null> {
  const project = projectOfStore(root, gitDir);
  if (!(await isProjectDir(project))) return null;
  const here = cwd === undefined ? null : realPathOf(cwd);
  const nearest = here === null ? null : await findNearest(here);
  const isOwn = nearest !== null && realPathOf(nearest.commonDir) === realPathOf(project.commonDir);
  if (isOwn) return { root: nearest.top, commonDir: project.commonDir, gitDir: nearest.gitDir };
  return { ...project, gitDir: project.commonDir };
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null; // it is not there
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

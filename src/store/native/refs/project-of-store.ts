// The project that a store belongs to: the repository in whose git dir it stands.
import { basename, dirname, join } from "node:path";
import { findRepositoryDir } from "./repository-dir.ts";

/** A project: the repository one stands in when that is not a store. */
export interface ProjectLocation {
  /** Top of the current worktree; the git dir when the project is bare. */
  readonly root: string;
  /** The git dir that all its worktrees share. */
  readonly commonDir: string;
}

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

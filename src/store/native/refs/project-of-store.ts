// The project that a store belongs to: the repository in whose git dir it stands.
import { basename, dirname, join } from "node:path";
import type { ProjectLocation } from "../../store-location.ts";
import { findRepositoryDir } from "./repository-dir.ts";

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

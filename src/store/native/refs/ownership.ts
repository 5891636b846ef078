// Whose a repository is. jpg works only where git itself would (`safe.directory`, CVE-2022-24765): whoever owns a repository
// decides what git does in it. Owners are compared first, git is asked only where one is not the caller.
import { lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../environment.ts";
import { gitError } from "../git/git-error.ts";
import { runGit } from "../git/git-process.ts";
import { findRepositoryDir, type RepositoryDir } from "./repository-dir.ts";

/**
 * Finds the git dirs of a directory as `findRepositoryDir` does, before anything else of them is read. Throws
 * `foreign_repository` where git would refuse to work.
 */
export async function findOwnRepository(directory: string, env: Environment): Promise<RepositoryDir | null> {
  const found = await findRepositoryDir(directory);
  if (found !== null && !isOwn(directory, found, env)) await askGit(directory, env);
  return found;
}

/** Compares what git compares: the worktree, its `.git`, and the git dir that this names. */
function isOwn(directory: string, { gitDir, isBare }: RepositoryDir, env: Environment): boolean {
  // Where nobody has a number (Windows), and where git is told for a test to take every owner for another, git is asked.
  const caller = process.geteuid?.();
  if (caller === undefined || env["GIT_TEST_ASSUME_DIFFERENT_OWNER"] !== undefined) return false;
  const paths = isBare ? [gitDir] : [directory, join(directory, ".git"), gitDir];
  return paths.every((path) => lstatSync(path, { throwIfNoEntry: false })?.uid === caller);
}

async function askGit(directory: string, env: Environment): Promise<void> {
  const cwd = realpathSync.native(directory);
  // Of this repository, not of one above it, in case git does not take this for one.
  const extraEnv = { GIT_CEILING_DIRECTORIES: dirname(cwd) };
  const args = ["rev-parse", "--git-dir"];
  const { code, stderr } = await runGit(args, { cwd, env, extraEnv });
  if (code !== 0) throw gitError({ args, code, stderr, where: cwd });
}

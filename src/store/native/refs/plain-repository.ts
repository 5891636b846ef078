// The repository around a directory as its files alone say it, without starting git. Whatever could make git see it
// otherwise gives null, and git is asked.
import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../environment.ts";
import { readFileIfThere } from "../../files/read-file.ts";
import { findOwnRepository } from "./ownership.ts";

/** A repository that a directory is in. Paths are absolute, without symbolic links. */
export interface SurroundingRepository {
  /** The git dir that all its worktrees share. */
  readonly commonDir: string;
  /** Top of the worktree one stands in; null in a bare repository or inside a git dir. */
  readonly top: string | null;
}

/** Settings that move the worktree away, or take it away, and files that could hold such settings. */
const MOVES_WORKTREE = /^\s*(?:bare\b(?!\s*=\s*false)|worktree|\[include)/im;

/**
 * Finds the repository around a directory; null when there is none, or only git can tell. Throws `foreign_repository` as
 * `findOwnRepository` does.
 */
export async function findPlainRepository(cwd: string, env: Environment): Promise<SurroundingRepository | null> {
  if ((env["GIT_CEILING_DIRECTORIES"] ?? "") !== "") return null;
  const start = realpathSync.native(cwd);
  for (let at = start; ; at = dirname(at)) {
    const found = await findOwnRepository(at, env);
    if (found !== null) return found.isBare ? null : await checkPlain(found.commonDir, { start, top: at });
    if (dirname(at) === at) return null;
  }
}

async function checkPlain(
  directory: string,
  { start, top }: { readonly start: string; readonly top: string },
): Promise<SurroundingRepository | null> {
  const config = await readFileIfThere(join(directory, "config"));
  if (config === null || MOVES_WORKTREE.test(config)) return null;
  // Git does not look for a repository beyond the file system that it starts on.
  return statSync(start).dev === statSync(top).dev ? { commonDir: realpathSync.native(directory), top } : null;
}

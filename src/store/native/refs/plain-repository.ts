// The repository around a directory as its files alone say it, without starting git. Whatever could make git see it
// otherwise gives null, and git is asked.
import { realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../environment.ts";
import { readFileIfThere } from "../../files/read-file.ts";
import { findSetting, isFalse, isTrue, parseConfig, type Setting } from "../../refs/config-file.ts";
import { findOwnRepository } from "./ownership.ts";
import type { RepositoryDir } from "./repository-dir.ts";

/** A repository that a directory is in. Paths are absolute, without symbolic links. */
export interface SurroundingRepository {
  /** The git dir that all its worktrees share. */
  readonly commonDir: string;
  /** Top of the worktree one stands in; null in a bare repository or inside a git dir. */
  readonly top: string | null;
}

/**
 * Finds the repository around a directory; null when there is none, or only git can tell. Throws `foreign_repository` as
 * `findOwnRepository` does.
 */
export async function findPlainRepository(cwd: string, env: Environment): Promise<SurroundingRepository | null> {
  if ((env["GIT_CEILING_DIRECTORIES"] ?? "") !== "") return null;
  const start = realpathSync.native(cwd);
  for (let at = start; ; at = dirname(at)) {
    const found = await findOwnRepository(at, env);
    if (found !== null) return found.isBare ? null : await checkPlain(found, { start, top: at });
    if (dirname(at) === at) return null;
  }
}

async function checkPlain(
  { commonDir: directory, gitDir }: RepositoryDir,
  { start, top }: { readonly start: string; readonly top: string },
): Promise<SurroundingRepository | null> {
  const config = await readFileIfThere(join(directory, "config"));
  if (config === null) return null;
  const settings = parseConfig(config);
  // Files that these include do not count here, with git neither.
  const hasOwn = isTrue(findSetting(settings, "extensions.worktreeconfig"));
  const own = hasOwn ? parseConfig((await readFileIfThere(join(gitDir, "config.worktree"))) ?? "") : [];
  if (movesWorktree([...settings, ...own])) return null;
  // Git does not look for a repository beyond the file system that it starts on.
  return statSync(start).dev === statSync(top).dev ? { commonDir: realpathSync.native(directory), top } : null;
}

/** Whether settings move the worktree away, or take it away. */
function movesWorktree(settings: readonly Setting[]): boolean {
  const bare = findSetting(settings, "core.bare");
  return (bare !== undefined && !isFalse(bare)) || findSetting(settings, "core.worktree") !== undefined;
}

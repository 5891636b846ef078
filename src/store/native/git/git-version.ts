// Versions of git, compared number by number.
import { gitTooOldError, OLDEST_GIT } from "./git-error.ts";
import { type GitPlace, runGit } from "./git-process.ts";

/** A git version: major, minor, patch. */
export type GitVersion = readonly [number, number, number];

/** Parses what `git version` prints, e.g. `git version 2.39.5 (Apple Git-154)`. Unreadable text is version 0. */
export function parseGitVersion(text: string): GitVersion {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0), Number(match?.[3] ?? 0)];
}

/** Whether a version is the wanted one or newer. */
export function isAtLeast(version: GitVersion, wanted: GitVersion): boolean {
  for (let i = 0; i < 3; i++) {
    const difference = (version[i] ?? 0) - (wanted[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Asks git for its version. Throws `git_missing`, and `git_too_old` below the oldest supported one. */
export async function requireGitVersion(place: GitPlace): Promise<GitVersion> {
  const { stdout } = await runGit(["version"], place);
  const version = parseGitVersion(stdout.toString());
  if (!isAtLeast(version, parseGitVersion(OLDEST_GIT))) throw gitTooOldError(version.join("."));
  return version;
}

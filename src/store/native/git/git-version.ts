// Which git is installed.
import { type GitVersion, isAtLeast, OLDEST_GIT, parseGitVersion } from "../../git-version.ts";
import { gitTooOldError } from "./git-error.ts";
import { type GitPlace, runGit } from "./git-process.ts";

/** Asks git for its version. Throws `git_missing`. */
export async function readGitVersion(place: GitPlace): Promise<GitVersion> {
  return parseGitVersion((await runGit(["version"], place)).stdout.toString());
}

/** The same; throws `git_too_old` below the oldest supported one. */
export async function requireGitVersion(place: GitPlace): Promise<GitVersion> {
  const version = await readGitVersion(place);
  if (!isAtLeast(version, parseGitVersion(OLDEST_GIT))) throw gitTooOldError(version.join("."));
  return version;
}

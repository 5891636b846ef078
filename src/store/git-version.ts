// Versions of git, compared number by number.

/** The oldest git that jpg works with (`rev-parse --path-format`). */
export const OLDEST_GIT = "2.31.0";

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

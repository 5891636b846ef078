// The caller's environment, and the variables that an enclosing git command (a hook of the user's project) has set in it for
// its own repository: they would point another git, or a program that calls one, to that repository.

export type Environment = Readonly<Record<string, string | undefined>>;

/** What `git rev-parse --local-env-vars` prints, over all git versions (git 2.31 to 2.55). */
export const LOCAL_VARIABLES: readonly string[] = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_CONFIG",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_COUNT",
  "GIT_OBJECT_DIRECTORY",
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_GRAFT_FILE",
  "GIT_INDEX_FILE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_REPLACE_REF_BASE",
  "GIT_PREFIX",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_SHALLOW_FILE",
  "GIT_COMMON_DIR",
  "GIT_REF_STORAGE_FORMAT",
];

/** Variables that are not local to a repository but change what our commands mean; git's receive hooks set the last two. */
const MISLEADING_VARIABLES: readonly string[] = [
  "GIT_NAMESPACE",
  "GIT_LITERAL_PATHSPECS",
  "GIT_GLOB_PATHSPECS",
  "GIT_NOGLOB_PATHSPECS",
  "GIT_ICASE_PATHSPECS",
  "GIT_ATTR_SOURCE",
  "GIT_TEMPLATE_DIR",
  "GIT_QUARANTINE_PATH",
  "GIT_PUSH_OPTION_COUNT",
];

const DROPPED: ReadonlySet<string> = new Set([...LOCAL_VARIABLES, ...MISLEADING_VARIABLES]);

/** The environment for a program that must find its own repository: the caller's without what an enclosing git set. */
export function withoutRepository(env: Environment): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !DROPPED.has(name)) result[name] = value;
  }
  return result;
}

/** The oldest git that jpg works with (`rev-parse --path-format`). */
export const OLDEST_GIT = "2.31.0";

/** A git version: major, minor, patch. */
export type GitVersion = readonly [number, number, number];

/** Parses what `git version` prints, e.g. `git version 2.39.5 (Apple Git-154)`. Unreadable text is version 0. */
export function parseGitVersion(text: string): GitVersion {
  const match = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0), Number(match?.[3] ?? 0)];
}

export function isAtLeast(version: GitVersion, wanted: GitVersion): boolean {
  for (let i = 0; i < 3; i++) {
    const difference = (version[i] ?? 0) - (wanted[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

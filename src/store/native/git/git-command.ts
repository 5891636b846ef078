// A git command in a known repository: its global options, and its failure as an error. An old git is found out by its
// failures, so that no command pays for asking.

import type { Environment } from "../../environment.ts";
import { clearLock } from "../../files/leftovers.ts";
import { requireNoPipes, requireOwnGitDir } from "../../files/own-git-dir.ts";
import { gitError } from "./git-error.ts";
import { type GitPlace, type GitResult, type GitRunner, runGit } from "./git-process.ts";
import { requireGitVersion } from "./git-version.ts";
import { guardEnvironment, readReach } from "./store-guard.ts";
import { objectsElsewhere, remoteNotAsked } from "./unasked-remote.ts";

/** A repository that commands run in, named explicitly so that git searches for nothing. */
export interface Repository {
  readonly gitDir: string;
  /** Directory of its worktree, or any directory when the command needs none. */
  readonly cwd: string;
  readonly env: Environment;
}

export interface GitCommand {
  readonly args: readonly string[];
  /** `KEY=VALUE` settings of this call. */
  readonly config?: readonly string[];
  readonly input?: Uint8Array | string;
  readonly extraEnv?: Environment;
}

// jpg brings worktrees and views along itself: its own commands fire no hooks, and never fsmonitor programs. They enter no
// submodule, which would have settings of its own, git cannot split the sparse index of a store, and HEAD is a file.
const QUIET_CONFIG: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.splitIndex=false",
  "core.preferSymlinkRefs=false",
  "submodule.recurse=false",
];

/** The full argument list of a command. */
export function formatArguments(repository: Repository, command: GitCommand): string[] {
  requireNoPipes(repository);
  const settings = [...QUIET_CONFIG, ...(command.config ?? [])].flatMap((setting) => ["-c", setting]);
  return [`--git-dir=${repository.gitDir}`, ...settings, ...command.args];
}

/** Where a command's process runs: kept from what the repository's own configuration would have it start. */
export function placeOf(repository: Repository, extraEnv: Environment = {}): GitPlace {
  return { cwd: repository.cwd, env: repository.env, extraEnv: { ...guardEnvironment(repository), ...extraEnv } };
}

/** Runs a command and gives its result, whatever its exit code. A lock in its way whose maker is gone is removed first. */
export async function tryCommand(
  repository: Repository,
  command: GitCommand,
  runner: GitRunner = runGit,
): Promise<GitResult> {
  if (mayWrite(command)) requireOwnGitDir(repository.gitDir);
  const { input, extraEnv } = command;
  const place = placeOf(repository, extraEnv);
  const run = (): Promise<GitResult> =>
    runner(formatArguments(repository, command), input === undefined ? place : { ...place, input });
  const result = await run();
  return result.code !== 0 && (await clearLock(repository, result.stderr)) ? await run() : result;
}

/** Commands that write nothing, to no ref and no setting. */
const READING: ReadonlySet<string> = new Set([
  "cat-file",
  "count-objects",
  "diff-index",
  "for-each-ref",
  "fsck",
  "grep",
  "log",
  "ls-remote",
  "ls-tree",
  "merge-base",
  "rev-list",
  "rev-parse",
  "var",
]);

function mayWrite({ args: [name = "", ...words] }: GitCommand): boolean {
  const readsSettings = name === "config" && words.some((word) => /^--(?:get.*|list|name-only)$/.test(word));
  return !readsSettings && !READING.has(name);
}

/** Runs a command that must succeed and gives its output. Throws as `commandError` says. */
export async function runCommand(
  repository: Repository,
  command: GitCommand,
  runner: GitRunner = runGit,
): Promise<Buffer> {
  const result = await tryCommand(repository, command, runner);
  if (result.code !== 0) throw await commandError(repository, command, result);
  return result.stdout;
}

/**
 * The error of a failed command: `git_too_old` when git did not know what was asked, `objects_elsewhere` when it lacked an object
 * of a partial clone that nobody was asked for, else by what git said.
 */
export async function commandError(
  repository: Repository,
  command: Pick<GitCommand, "args">,
  result: Pick<GitResult, "code" | "stderr">,
): Promise<Error> {
  if (result.code === 129 || /unknown (option|switch|feature)|usage: git|is not a git command/.test(result.stderr)) {
    await requireGitVersion(placeOf(repository));
  }
  const [, oid] = /could not fetch ([0-9a-f]{40}) from promisor remote/.exec(result.stderr) ?? [];
  const [unasked] = oid === undefined ? [] : readReach(repository).unasked;
  if (oid !== undefined && unasked !== undefined)
    return objectsElsewhere(remoteNotAsked(repository, unasked), { oids: [oid], remote: unasked.name });
  return gitError({ args: command.args, code: result.code, stderr: result.stderr, where: repository.cwd });
}

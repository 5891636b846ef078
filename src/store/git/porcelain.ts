// Runs git in a known repository: plumbing, and porcelain through simple-git, with uniform errors.
import { open, rm } from "node:fs/promises";
import { join, parse } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { SimpleGitOptions } from "simple-git";
import { asSentence, repositoryError } from "../../core/errors.ts";
import { readSetting } from "../config-file.ts";
import type { Environment } from "../environment.ts";
import { readFileIfExists, renameFile, syncFolders } from "../files.ts";
import { requireNoPipes, requireOwnGitDir } from "../git-dir.ts";
import { clearLock, isAbandoned } from "../locks.ts";
import { programCall } from "../program-call.ts";
import {
  type GitPlace,
  type GitResult,
  type GitRun,
  type GitRunner,
  gitEnvironment,
  gitError,
  requireGitVersion,
  runGit,
  startError,
} from "./git-process.ts";
import { guardEnvironment, readRemoteAccess } from "./guard.ts";
import { objectsElsewhere, remoteNotAsked } from "./transfer-errors.ts";

// A git command in a known repository: its global options, and its failure as an error. An old git is recognised by its
// failures, so that no command pays for asking.

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

// jpg advances worktrees and views itself: its own commands run no hooks and no fsmonitor program. They enter no submodule,
// which would have settings of its own; git cannot split the sparse index of a store; and HEAD is a file.
const QUIET_CONFIG: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.splitIndex=false",
  "core.preferSymlinkRefs=false",
  // Only Windows looks at it: paths of worktrees there may be longer than 260 characters.
  "core.longpaths=true",
  "submodule.recurse=false",
];

export function formatArguments(repository: Repository, command: GitCommand): string[] {
  requireNoPipes(repository);
  const settings = [...QUIET_CONFIG, ...(command.config ?? [])].flatMap((setting) => ["-c", setting]);
  return [`--git-dir=${repository.gitDir}`, ...settings, ...command.args];
}

/** The place of a command's process: guarded from what the repository's own configuration would start. */
export function placeOf(repository: Repository, extraEnv: Environment = {}): GitPlace {
  return { cwd: repository.cwd, env: repository.env, extraEnv: { ...guardEnvironment(repository), ...extraEnv } };
}

/** Runs a command and returns its result, whatever its exit code. Removes an abandoned lock that stops it, and retries once. */
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

/** Runs a command that must succeed and returns its output. Throws the error of `commandError`. */
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
 * The error of a failed command: `git_too_old` when git did not know the arguments, `objects_elsewhere` when an object is
 * missing whose remote the user has not fetched from, else by git's message.
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
  const [unconfirmed] = oid === undefined ? [] : readRemoteAccess(repository).unconfirmed;
  if (oid !== undefined && unconfirmed !== undefined)
    return objectsElsewhere(remoteNotAsked(repository, unconfirmed), { oids: [oid], remote: unconfirmed.name });
  return gitError({ args: command.args, code: result.code, stderr: result.stderr, where: repository.cwd });
}

// Runs git's porcelain (init, config, switch, worktree) through simple-git, which refuses arguments and settings that would
// make git start programs. Contract, environment and errors are those of `runGit`; the first call loads the library.

/** Limit on an unfinished line, characters. */
const LONGEST_LINE = 4096;

/**
 * A run without input; `progress` receives each line that git writes to standard error, as it comes: `isFinal` is false for
 * lines that git overwrites, and for the "" at the end.
 */
interface PorcelainRun extends Omit<GitRun, "input"> {
  readonly progress?: (line: string, isFinal: boolean) => void;
}

/** Runs git to its end, like `runGit`, without input. Throws `git_missing`, `git_refused`. */
export async function runPorcelain(args: readonly string[], place: PorcelainRun): Promise<GitResult> {
  const { simpleGit, GitConstructError, GitPluginError } = await import("simple-git");
  const { cwd, signal, progress } = place;
  const env = gitEnvironment(place.env, place.extraEnv);
  let code = -1;
  let stderr = "";
  try {
    const git = simpleGit({
      baseDir: cwd,
      ...permissionsFor(env, place.extraEnv),
      binary: programCall(["git"], { env }).file,
      abort: signal,
      completion: { onExit: false }, // all output is read before git counts as ended
      errors: (_error, result) => {
        code = result.exitCode;
        stderr = Buffer.concat(result.stdErr).toString();
        return undefined; // a failing exit code is a result
      },
    }).env(env);
    // After a command that prints nothing simple-git waits 50 ms for more; an empty chunk ends that wait.
    git.outputHandler((_command, stdout, errors) => {
      setImmediate(() => stdout.emit("data", Buffer.alloc(0)));
      if (progress !== undefined) errors.on("data", splitProgress(progress));
      // A helper of git's that waits for a server may outlive git, and would keep these open.
      signal?.addEventListener("abort", () => {
        for (const stream of [stdout, errors]) (stream as Readable).destroy();
      });
    });
    const stdout = Buffer.from(await git.raw([...args]));
    signal?.throwIfAborted();
    // Node's message about a process that could not be started is in place of git's stderr.
    if (code < -1) throw startError(causeIn(stderr), cwd);
    return { stdout, stderr, code: code ?? -1 };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GitConstructError) throw startError(causeIn("spawn git ENOENT"), cwd);
    if (!(error instanceof GitPluginError)) throw error;
    const said = error.message.replace(/ without enabling \w+$/, "");
    throw repositoryError("git_refused", `git was not started in ${cwd}: ${asSentence(said)}`, { cause: error });
  } finally {
    progress?.("", false);
  }
}

/** Splits a stream's text into lines; one that ends in `\r` is overwritten by the next. */
function splitProgress(onLine: (line: string, isFinal: boolean) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=[\r\n])/);
    rest = /[\r\n]$/.test(lines.at(-1) ?? "") ? "" : (lines.pop() ?? "").slice(-LONGEST_LINE);
    for (const line of lines) if (line.trim() !== "") onLine(line.trimEnd(), line.endsWith("\n"));
  };
}

/** The error that Node describes in a text: its first line, with its code. */
function causeIn(text: string): Error {
  const [line = ""] = text.replace(/^Error: /, "").split("\n", 1);
  return Object.assign(new Error(line), { code: /\bE[A-Z]+\b/.exec(line)?.[0] });
}

// What simple-git must allow: the user's own environment, and the settings by which jpg keeps git quiet and a store's programs
// from starting. Everything else stays refused.

type Flags = NonNullable<SimpleGitOptions["unsafe"]>;

/** What jpg itself sets in every command: `--git-dir`, and the settings and programs of a store. */
const OWN: Flags = {
  // The path of git on Windows may have blanks.
  allowUnsafeCustomBinary: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeTemplateDir: true,
};

/** What the variables of `guardEnvironment` override in a store that names programs. */
const GUARD: Flags = {
  allowUnsafeConfigEnvCount: true,
  allowUnsafeAlias: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeEditor: true,
  allowUnsafeFilter: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeSubmodule: true,
};

/** Variables by which users name programs of their own. */
const PROGRAMS: readonly (readonly [RegExp, keyof Flags])[] = [
  [/^(visual|editor|git_editor|git_sequence_editor)$/, "allowUnsafeEditor"],
  [/^(git_)?pager$/, "allowUnsafePager"],
  [/^git_ssh(_command)?$/, "allowUnsafeSshCommand"],
  [/^(git|ssh)_askpass$/, "allowUnsafeAskPass"],
  [/^git_exec_path$/, "allowUnsafeExec"],
  [/^git_external_diff$/, "allowUnsafeDiffExternal"],
  [/^git_proxy_command$/, "allowUnsafeGitProxy"],
];

/** The options for a git with this environment; `own` = the variables that jpg set itself. */
function permissionsFor(
  env: Environment,
  own: Environment = {},
): Pick<SimpleGitOptions, "allowEnvironment" | "unsafe"> {
  const names = Object.keys(env);
  const programs = names.flatMap((name) => PROGRAMS.filter(([pattern]) => pattern.test(name.toLowerCase())));
  const unsafe = {
    ...OWN,
    ...("GIT_CONFIG_COUNT" in own ? GUARD : {}),
    ...Object.fromEntries(programs.map(([, flag]) => [flag, true])),
  };
  return { allowEnvironment: names, unsafe };
}

// Changes a repository's config file under git's own lock: one write for any number of settings.

const LOCK_ATTEMPTS = 200;
const LOCK_WAIT_MS = 10;

/** Appends a text, computed from the present one, to the config file of a git dir. Throws `config_locked`. */
export function appendConfig(gitDir: string, missingIn: (text: string) => string): Promise<void> {
  return rewriteConfig(gitDir, (text) => {
    const separator = text === "" || text.endsWith("\n") ? "" : "\n";
    return text + separator + missingIn(text);
  });
}

/** Replaces the config file of a git dir. Throws `config_locked`. */
export async function rewriteConfig(gitDir: string, change: (text: string) => string): Promise<void> {
  const path = join(gitDir, "config");
  const lock = await takeLock(gitDir, `${path}.lock`);
  try {
    await lock.writeFile(change((await readFileIfExists(path)) ?? ""));
    await lock.close();
    renameFile(`${path}.lock`, path);
    await syncFolders([gitDir]);
  } catch (error) {
    await lock.close();
    await rm(`${path}.lock`, { force: true });
    throw error;
  }
}

/** Formats settings by their names, each section once, in the order in which they are first named. */
export function formatConfig(settings: ReadonlyMap<string, string>): string {
  const sections = new Map<string, string[]>();
  for (const [name, value] of settings) {
    const [, section = "", subsection, key = ""] = /^([^.]+)(?:\.(.*))?\.([^.]+)$/s.exec(name) ?? [];
    const head = subsection === undefined ? `[${section}]` : `[${section} "${quote(subsection)}"]`;
    sections.set(head, [...(sections.get(head) ?? []), `\t${key} = "${quote(value)}"`]);
  }
  return [...sections].map(([head, lines]) => `${[head, ...lines].join("\n")}\n`).join("");
}

function quote(text: string): string {
  return text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
}

async function takeLock(gitDir: string, path: string): ReturnType<typeof open> {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    try {
      return await open(path, "wx");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (attempt === 0 && (await isAbandoned({ gitDir, cwd: gitDir }, path))) await rm(path, { force: true });
      await sleep(LOCK_WAIT_MS);
    }
  }
  throw repositoryError("config_locked", `Another process holds ${path}.`, {
    hints: ["Wait for it and run the command again.", `When no git runs, remove ${path}.`],
  });
}

/** `core.sharedRepository` of the store in a git dir; undefined when not set, or without a store. */
export async function sharingOf(gitDir: string): Promise<string | undefined> {
  return readSetting((await readFileIfExists(join(gitDir, "config"))) ?? "", "core.sharedrepository");
}

/** `core.sharedRepository` in the user's and system's settings; undefined when not set. */
export async function sharingOfUser(env: Environment): Promise<string | undefined> {
  const place = { cwd: parse(process.cwd()).root, env };
  const { code, stdout } = await runGit(["config", "--get", "core.sharedRepository"], place);
  return code === 0 ? stdout.toString().trim() || "true" : undefined;
}

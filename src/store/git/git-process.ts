// Starts git: with porcelain.ts, the only file that creates processes for the store. Everything a child needs (directory,
// environment, input) is passed in.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { asSentence, type JpgError, reasonOf, repositoryError } from "../../core/errors.ts";
import { forLine, shellWord } from "../../core/safe-text.ts";
import {
  type Environment,
  type GitVersion,
  isAtLeast,
  OLDEST_GIT,
  parseGitVersion,
  withoutRepository,
} from "../environment.ts";
import { programCall } from "../program-call.ts";

/** Where and how a git process runs. */
export interface GitPlace {
  readonly cwd: string;
  /** The caller's environment; variables local to another repository are dropped. */
  readonly env: Environment;
  /** Variables set on top. */
  readonly extraEnv?: Environment;
}

export interface GitRun extends GitPlace {
  /** Bytes for standard input; absent = empty. */
  readonly input?: Uint8Array | string;
  readonly signal?: AbortSignal;
}

export interface GitResult {
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Exit code; -1 when killed by a signal, whichever. */
  readonly code: number;
}

/** Runs a git process to its end; a failing exit code is a result. */
export type GitRunner = (args: readonly string[], options: GitRun) => Promise<GitResult>;

/** A running git with its three streams. */
export interface GitPipe {
  readonly child: ChildProcessWithoutNullStreams;
  /** Resolves when the process has ended and its streams are closed. */
  readonly ended: Promise<{ readonly code: number; readonly stderr: string }>;
}

/** Runs git to its end. A failing exit code is a result, not an error; throws `git_missing`. */
export async function runGit(args: readonly string[], options: GitRun): Promise<GitResult> {
  const pipe = openGit(args, options);
  const chunks: Buffer[] = [];
  pipe.child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const stop = (): boolean => pipe.child.kill();
  options.signal?.addEventListener("abort", stop, { once: true });
  pipe.child.stdin.end(options.input ?? "");
  try {
    const { code, stderr } = await pipe.ended;
    options.signal?.throwIfAborted();
    return { stdout: Buffer.concat(chunks), stderr, code };
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
}

function gitCall(args: readonly string[], { env }: GitPlace): ReturnType<typeof programCall> {
  return programCall(["git", ...args], { env });
}

/** Runs git synchronously, for a short answer that starting another git depends on. */
export function runGitNow(args: readonly string[], place: GitPlace): GitResult {
  const { cwd, env, extraEnv } = place;
  const options = { cwd, env: gitEnvironment(env, extraEnv), windowsHide: true, maxBuffer: Number.POSITIVE_INFINITY };
  const call = gitCall(args, place);
  const { error, status, stdout, stderr } = spawnSync(call.file, call.args, { ...options, ...call.options });
  if (error !== undefined) throw startError(error, cwd);
  return { stdout, stderr: stderr.toString(), code: status ?? -1 };
}

/**
 * Starts git with open streams, for what is too large or too long-lived for `runGit`; `to` = another process whose input is
 * this one's output, without a copy through this process.
 */
export function openGit(args: readonly string[], place: GitPlace, to?: GitPipe): GitPipe {
  const call = gitCall(args, place);
  const child = spawn(call.file, call.args, {
    ...call.options,
    cwd: place.cwd,
    env: gitEnvironment(place.env, place.extraEnv),
    stdio: ["pipe", to?.child.stdin ?? "pipe", "pipe"],
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  // Else the input would stay open here. `end` would close it for the other process too.
  to?.child.stdin.destroy();
  // A git that dies early closes its input; its stderr is the error to report, not EPIPE.
  child.stdin.on("error", () => undefined);
  const ended = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < 64 * 1024) stderr += chunk.toString();
    });
    child.on("error", (cause) => reject(startError(cause, place.cwd)));
    child.on("close", (code) => resolve({ code: code ?? -1, stderr }));
  });
  return { child, ended };
}

/** Keeps the program alive while the process is busy; an idle one must not when a caller forgot to close it. */
export function holdProcess(pipe: GitPipe, busy: boolean): void {
  const handles = [pipe.child, pipe.child.stdin, pipe.child.stdout, pipe.child.stderr] as unknown as readonly {
    ref?(): void;
    unref?(): void;
  }[];
  for (const handle of handles) busy ? handle.ref?.() : handle.unref?.();
}

/** Runs git in the user's terminal and returns its exit code. Throws `git_missing`. */
export function runGitInTerminal(args: readonly string[], place: GitPlace): Promise<number> {
  // A person is there: git may ask, in the person's language.
  const { GIT_TERMINAL_PROMPT: _prompt, LC_ALL: _language, ...env } = gitEnvironment(place.env, place.extraEnv);
  const own = place.env["LC_ALL"];
  const call = gitCall(args, place);
  const child = spawn(call.file, call.args, {
    ...call.options,
    cwd: place.cwd,
    env: own === undefined ? env : { ...env, LC_ALL: own },
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(startError(cause, place.cwd)));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Starts git in the background; it outlives the caller and prints nothing. */
export function startGit(args: readonly string[], place: GitPlace): void {
  const call = gitCall(args, place);
  const child = spawn(call.file, call.args, {
    ...call.options,
    cwd: place.cwd,
    env: gitEnvironment(place.env, place.extraEnv),
    stdio: "ignore",
    detached: true,
    windowsHide: true,
  });
  // Background work is an optimisation: when it cannot start, the next write tries again.
  child.on("error", () => undefined);
  child.unref();
}

/** The error of a git that could not be started: `git_missing`, `directory_missing`, `git_failed`. */
export function startError(cause: Error, cwd: string): JpgError {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === "ENOENT" && existsSync(cwd)) return gitMissingError(cause);
  const message = `git could not be started in ${cwd}: ${asSentence(reasonOf(cause))}`;
  return repositoryError(code === "ENOENT" ? "directory_missing" : "git_failed", message, { cause });
}

/** Creates the environment of a git child process from the caller's; `extra` is set last. */
export function gitEnvironment(env: Environment, extra: Environment = {}): Record<string, string> {
  const result = withoutRepository(env);
  result["LC_ALL"] = "C";
  result["GIT_TERMINAL_PROMPT"] = "0";
  // Objects are what their ids say: a push sends those and not what `git replace` shows instead.
  result["GIT_NO_REPLACE_OBJECTS"] = "1";
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) result[name] = value;
  return result;
}

interface GitFailure {
  /** Arguments without global options, e.g. `["update-ref", "--stdin"]`. */
  readonly args: readonly string[];
  readonly code: number;
  readonly stderr: string;
  /** Directory or repository it ran in. */
  readonly where: string;
}

interface FailureRule {
  readonly code: string;
  readonly pattern: RegExp;
  readonly says: string;
  readonly hints: (where: string) => readonly string[];
}

// Texts as git 2.31 to 2.55 print them under LC_ALL=C.
const RULES: readonly FailureRule[] = [
  {
    code: "disk_full",
    pattern: /No space left on device|Disk quota exceeded|Out of diskspace/,
    says: "The disk is full",
    hints: (where) => [`Free space on the disk of ${where} and run the command again: nothing was changed.`],
  },
  {
    code: "store_not_writable",
    pattern: /Permission denied|Read-only file system|Operation not permitted|insufficient permission/,
    says: "The store cannot be written",
    hints: (where) => [`Make ${where} writable for you, or name another store with --store DIR.`],
  },
  {
    code: "hook_refused",
    pattern: /ref updates aborted by hook/,
    says: "A reference-transaction hook of yours refused it",
    hints: (where) => [`To see which folder it is in: git -C ${shellWord(where)} config --show-origin core.hooksPath`],
  },
  {
    code: "object_missing",
    pattern: /^fatal: (Blob not found|Not a (valid )?(commit|blob|object)|Object .* not found)/m,
    says: "An object is missing",
    hints: (where) => [`To see what is missing: git -C ${where} fsck`],
  },
  {
    code: "signing_failed",
    pattern: /failed to sign|gpg failed|cannot run gpg|Load key|user\.signingkey/i,
    says: "Git could not sign the commit",
    hints: (where) => [
      "Check user.signingKey and gpg.program.",
      `Or commit unsigned: git -C ${where} config commit.gpgSign false`,
    ],
  },
  {
    code: "store_damaged",
    pattern:
      /is corrupt|corrupt loose object|unable to read (tree|sha1|object)|bad (object|tree|signature)|broken (link|reference|ref)|inflate: data stream error|bad index file|index file (corrupt|smaller)|packfile .* (cannot|does not|is far)|garbage at end|loose object .* (stored in|is empty)|object file .* is empty|missing object/,
    says: "The store is damaged",
    hints: (where) => [
      `To see what is damaged: git -C ${where} fsck --full`,
      "Restore the store from a copy or a remote.",
    ],
  },
  {
    code: "store_damaged",
    pattern: /not a git repository|can only be used inside a git repository|bad config (line|file)/,
    says: "The store's git directory cannot be read",
    hints: (where) => [
      `To see what git says of it: git -C ${where} status`,
      `Look at HEAD and config in ${where}/.git: HEAD reads \`ref: refs/heads/NAME\`, and \`git for-each-ref\` lists the names.`,
    ],
  },
  {
    code: "ref_locked",
    pattern: /Unable to create '[^']*\.lock': File exists/,
    says: "Another git process holds a lock",
    hints: () => [
      "Wait for the other process and run the command again.",
      "When none runs, wait ten seconds: the next command removes the lock file.",
    ],
  },
];

/** The message of git 2.35.2 and later, with the path for `safe.directory`. */
const FOREIGN = /(?:dubious ownership in repository at |unsafe repository \()'(.*)'/;

function foreignRepositoryError(path: string): JpgError {
  return repositoryError(
    "foreign_repository",
    `${path} belongs to somebody else, so neither git nor jpg works in it.`,
    {
      hints: [`If you trust its owner: git config --global --add safe.directory ${shellWord(path)}`],
      data: { path },
    },
  );
}

/** Names what failed by its rule; `git_failed` when no rule matches. */
export function gitError(failure: GitFailure): JpgError {
  const foreign = FOREIGN.exec(failure.stderr)?.[1];
  if (foreign !== undefined) return foreignRepositoryError(foreign);
  const said = readableStderr(failure.stderr);
  const command = `git ${failure.args.slice(0, 2).join(" ")}`;
  const rule = RULES.find(({ pattern }) => pattern.test(failure.stderr));
  const data = { command, where: failure.where, exit: failure.code, stderr: said };
  if (rule !== undefined) {
    const message = `${rule.says}: \`${command}\` failed in ${failure.where}: ${asSentence(said)}`;
    return repositoryError(rule.code, message, { hints: rule.hints(failure.where), data });
  }
  const message = `\`${command}\` failed in ${failure.where} with exit code ${failure.code}: ${asSentence(said || "git said nothing")}`;
  return repositoryError("git_failed", message, { data });
}

/** Creates the error of a git that is not installed: `git_missing`. */
export function gitMissingError(cause: unknown): JpgError {
  return repositoryError("git_missing", `This needs git ${OLDEST_GIT} or newer, and no \`git\` was found in PATH.`, {
    hints: ["Install git: https://git-scm.com/downloads (Debian: apt install git, macOS: xcode-select --install)"],
    cause,
  });
}

/** Creates the error of a git below the oldest supported one: `git_too_old`. */
export function gitTooOldError(found: string): JpgError {
  return repositoryError("git_too_old", `jpg needs git ${OLDEST_GIT} or newer, and the \`git\` in PATH is ${found}.`, {
    hints: ["Install a newer git: https://git-scm.com/downloads", "Or put a newer one first in PATH."],
    data: { found, needed: OLDEST_GIT },
  });
}

/** Git's own words for a message: its first lines, without advice and control characters. */
export function readableStderr(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => forLine(line))
    .filter((line) => line !== "" && !line.startsWith("hint:"));
  return lines.slice(0, 6).join("; ");
}

/** One value of a setting; a key may have several, later ones win. */
export interface ScopedSetting {
  /** `system`, `global`, `local`, `worktree` or `command`. */
  readonly scope: string;
  /** Section and name in lower case, the subsection as it was written. */
  readonly key: string;
  readonly value: string;
}

/** The arguments whose output `parseScopedSettings` reads. */
export const LIST_SETTINGS: readonly string[] = ["config", "--show-scope", "--list", "-z"];

/** Parses the list, in order. A key without a value has an empty one. */
export function parseScopedSettings(output: string): readonly ScopedSetting[] {
  const words = output.split("\0");
  const settings: ScopedSetting[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const [scope = "", entry = ""] = words.slice(i, i + 2);
    const end = entry.indexOf("\n");
    settings.push({ scope, key: end < 0 ? entry : entry.slice(0, end), value: end < 0 ? "" : entry.slice(end + 1) });
  }
  return settings;
}

/** Whether a setting is in the repository itself, written by whoever made it. */
export function isOwnSetting({ scope }: ScopedSetting): boolean {
  return scope === "local" || scope === "worktree";
}

/** Asks git for its version. Throws `git_missing`. */
export async function readGitVersion(place: GitPlace): Promise<GitVersion> {
  return parseGitVersion((await runGit(["version"], place)).stdout.toString());
}

/** Asks git for its version; throws `git_too_old` below the oldest supported one. */
export async function requireGitVersion(place: GitPlace): Promise<GitVersion> {
  const version = await readGitVersion(place);
  if (!isAtLeast(version, parseGitVersion(OLDEST_GIT))) throw gitTooOldError(version.join("."));
  return version;
}

/** A stream of text and bytes into a git process. */
export interface GitSink {
  text(text: string): void;
  bytes(bytes: Uint8Array): void;
  isFull(): boolean;
  /** Waits until most of the data is written, or the process is gone. */
  drained(): Promise<void>;
  end(): Promise<void>;
}

const SMALL_BYTES = 64 * 1024;
/** How far the caller may run ahead of git: it prepares the next commits while git deflates these. Bytes. */
const AHEAD_BYTES = 4 * 1024 * 1024;

/** Creates a sink that collects small pieces into larger writes, and reports when git is behind. */
export function createSink(pipe: GitPipe): GitSink {
  const { stdin } = pipe.child;
  let pending = "";
  let isBehind = false;
  const push = (chunk: string | Uint8Array): void => {
    if (!stdin.destroyed) isBehind = !stdin.write(chunk);
  };
  const flush = (): void => {
    if (pending !== "") push(pending);
    pending = "";
  };
  const ended = pipe.ended.then(
    () => undefined,
    () => undefined,
  );
  return {
    text(text) {
      pending += text;
      if (pending.length > SMALL_BYTES) flush();
    },
    bytes(bytes) {
      flush();
      push(bytes);
    },
    isFull: () => isBehind,
    async drained() {
      isBehind = false;
      // A turn of the event loop lets the pipe move; only wait for a git that is far behind.
      if (stdin.writableLength < AHEAD_BYTES) return await turnOfLoop();
      const stop = new AbortController();
      const drain = once(stdin, "drain", { signal: stop.signal }).catch(() => undefined);
      if (!stdin.destroyed && stdin.writableNeedDrain) await Promise.race([drain, ended]);
      stop.abort();
    },
    async end() {
      flush();
      stdin.end();
      await ended;
    },
  };
}

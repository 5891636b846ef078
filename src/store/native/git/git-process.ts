// Starts git: with native/porcelain, the only file that creates processes for the store. Everything a child needs (directory, environment, input)
// is handed in; nothing is read from the surroundings.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { asSentence, type JpgError, reasonOf, repositoryError } from "../../../core/errors.ts";
import type { Environment } from "../../environment.ts";
import { gitEnvironment } from "./git-environment.ts";
import { gitMissingError } from "./git-error.ts";

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
  /** Exit code; 128 + n when killed by signal n is not distinguished: then it is -1. */
  readonly code: number;
}

/** How a git process is run to its end; a failing exit code is a result. */
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

/** Runs git to its end while nothing else goes on, for a short answer that the start of another git waits for. */
export function runGitNow(args: readonly string[], place: GitPlace): GitResult {
  const { cwd, env, extraEnv } = place;
  const options = { cwd, env: gitEnvironment(env, extraEnv), windowsHide: true, maxBuffer: Number.POSITIVE_INFINITY };
  const { error, status, stdout, stderr } = spawnSync("git", args, options);
  if (error !== undefined) throw startError(error, cwd);
  return { stdout, stderr: stderr.toString(), code: status ?? -1 };
}

/**
 * Starts git with open streams, for what is too large or too long-lived for `runGit`; `to` = another whose input is its output,
 * without a detour through this process.
 */
export function openGit(args: readonly string[], place: GitPlace, to?: GitPipe): GitPipe {
  const child = spawn("git", args, {
    cwd: place.cwd,
    env: gitEnvironment(place.env, place.extraEnv),
    stdio: ["pipe", to?.child.stdin ?? "pipe", "pipe"],
    windowsHide: true,
  }) as ChildProcessWithoutNullStreams;
  // Else the input would stay open here. `end` would close it for the other process, too.
  to?.child.stdin.destroy();
  // A git that dies early closes its input; what it says on stderr is the error to report, not EPIPE.
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

/** An idle reader must not keep the program alive when somebody forgot to close it; a busy one must. */
export function holdProcess(pipe: GitPipe, busy: boolean): void {
  const handles = [pipe.child, pipe.child.stdin, pipe.child.stdout, pipe.child.stderr] as unknown as readonly {
    ref?(): void;
    unref?(): void;
  }[];
  for (const handle of handles) busy ? handle.ref?.() : handle.unref?.();
}

/** Runs git with the terminal handed over and gives its exit code. Throws `git_missing`. */
export function runGitInTerminal(args: readonly string[], place: GitPlace): Promise<number> {
  // A person is there: git may ask, and speaks the person's language.
  const { GIT_TERMINAL_PROMPT: _prompt, LC_ALL: _language, ...env } = gitEnvironment(place.env, place.extraEnv);
  const own = place.env["LC_ALL"];
  const child = spawn("git", args, {
    cwd: place.cwd,
    env: own === undefined ? env : { ...env, LC_ALL: own },
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(startError(cause, place.cwd)));
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/** Starts git in the background and does not wait for it; it outlives the caller and says nothing. */
export function startGit(args: readonly string[], place: GitPlace): void {
  const child = spawn("git", args, {
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

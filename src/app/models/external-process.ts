// Starts programs other than git. Arguments are passed as a list; the one exception is a pager that the user set as a shell command
// line. Nothing from a conversation ever becomes part of a command.
import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  spawn,
  spawnSync,
} from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { codeOf, type JpgError, messageOf, reasonOf, userError } from "../../core/errors.ts";
import { raiseSignal } from "../../core/process-signals.ts";
import { findPosixShell, programCall, systemProgram } from "../../store/program-call.ts";
import { withUserUmask } from "../conversation/runtime.ts";

/** A pager: a program with its arguments, or the user's own command line from $PAGER. */
export type PagerProgram =
  | { readonly program: string; readonly arguments: readonly string[] }
  | { readonly shellCommand: string };

type Environment = Readonly<Record<string, string | undefined>>;

interface ProgramQuestion {
  /** The program and its arguments, never empty; run without a shell. */
  readonly command: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Milliseconds for the whole answer. */
  readonly timeoutMs: number;
  /** Longest answer, bytes. */
  readonly maxBytes: number;
  /**
   * Descriptor of an open file to write the answer to, instead of a pipe: then `output` is empty, and the length is not limited.
   */
  readonly answerFile?: number;
}

/** What a program answered; `problem` completes "the program …", `isMissing` = it could not be started. */
type ProgramAnswer = { readonly output: string } | { readonly problem: string; readonly isMissing?: true };

/** Exit codes of a shell that cannot find or run a command. */
const SHELL_CANNOT_RUN = [126, 127];

/**
 * Shows a text in a pager and waits until the user quits it. False when the pager could not be started. Less quits on one screen
 * and keeps colours unless the user's own settings say otherwise.
 */
export async function runPager(pager: PagerProgram, text: string, env: Environment): Promise<boolean> {
  const options = {
    stdio: ["pipe", "inherit", "inherit"] as ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", LV: "-c", ...env },
  };
  const child =
    "shellCommand" in pager
      ? withUserUmask(() => spawn(pager.shellCommand, { ...options, shell: true }))
      : launch([pager.program, ...pager.arguments], options);
  return await whileInterruptsReachTheChild(() => feed(child, text));
}

/** Runs a program that takes over the terminal, e.g. an agent. Returns its exit code. Throws `program_missing`. */
export async function runProgram(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Environment },
): Promise<number> {
  const [program = ""] = command;
  const child = launch(command, { cwd: place.cwd, env: { ...place.env }, stdio: "inherit" });
  return await whileInterruptsReachTheChild(
    () =>
      new Promise<number>((resolve, reject) => {
        child.on("error", (cause) =>
          reject(
            userError("program_missing", `${program} could not be started: ${reasonOf(cause)}.`, {
              hints: [`Install it, or run the command elsewhere: ${command.join(" ")}`],
              cause,
            }),
          ),
        );
        child.on("close", (code) => resolve(code ?? 1));
      }),
  );
}

/** What a program printed, and its exit code; 1 = a signal ended it. */
interface ProgramRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Runs a program to its end and gives what it printed. Throws `program_missing`. */
export async function captureProgram(
  command: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Environment },
): Promise<ProgramRun> {
  const [program = ""] = command;
  const child = launch(command, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
  const printed = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  child.stdout?.on("data", (chunk: Buffer) => printed.stdout.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => printed.stderr.push(chunk));
  return await new Promise((resolve, reject) => {
    child.on("error", (cause) =>
      reject(userError("program_missing", `${program} could not be started: ${reasonOf(cause)}.`, { cause })),
    );
    child.on("close", (code) => {
      const [stdout, stderr] = [printed.stdout, printed.stderr].map((chunks) => Buffer.concat(chunks).toString("utf8"));
      resolve({ stdout: stdout ?? "", stderr: stderr ?? "", code: code ?? 1 });
    });
  });
}

/** Milliseconds in which a program that opens a browser fails, if it does. */
const OPENED_MS = 3000;

/** The program that opens an address in the user's browser, and its arguments before the address; null = there is no desktop. */
function browserOpener(platform: NodeJS.Platform, env: Environment): readonly [string, ...string[]] | null {
  if (platform === "darwin") return ["open"];
  // Not `start`, which only a shell knows.
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return [env["DISPLAY"], env["WAYLAND_DISPLAY"], env["BROWSER"]].some((name = "") => name !== "")
    ? ["xdg-open"]
    : null;
}

/** Opens an address in the user's browser, which outlives jpg. False when there is none, or it could not be started. Never throws. */
export async function openInBrowser(
  address: string,
  { env, platform = process.platform }: { readonly env: Environment; readonly platform?: NodeJS.Platform },
): Promise<boolean> {
  const opener = browserOpener(platform, env);
  if (opener === null) return false;
  const [program, ...args] = opener;
  return await new Promise((resolve) => {
    const child = withUserUmask(() =>
      spawn(program, [...args, address], { env: { ...env }, stdio: "ignore", detached: true }),
    );
    // Some openers end at once, others with the browser.
    const timer = setTimeout(() => resolve(true), OPENED_MS);
    const end = (isOpen: boolean): void => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.on("error", () => end(false));
    child.on("close", (code) => end(code === 0));
    child.unref();
  });
}

/**
 * Asks a program: writes to its standard input, reads its standard output. It gets a process group of its own, which is killed when
 * it takes too long, answers too much, or jpg itself is interrupted. Never throws.
 */
export async function askProgram(question: ProgramQuestion): Promise<ProgramAnswer> {
  const { cwd, env, answerFile } = question;
  const stdio: SpawnOptions["stdio"] = ["pipe", answerFile ?? "pipe", "ignore"];
  try {
    const child = launch(question.command, { cwd, env: { ...env }, stdio, ...ownGroup() });
    return await awaitAnswer(child, question);
  } catch (error) {
    // Node refuses some commands before starting them, such as one with a null byte in it.
    return { problem: `could not be started: ${reasonOf(error)}`, isMissing: true };
  }
}

/**
 * Starts a program to talk with over its standard input and output. It gets a process group of its own, so that Ctrl-C reaches only
 * jpg, and ends with jpg. If it does not exist, `ended` says so.
 */
export function startProgram(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Environment },
): RunningProgram | { readonly problem: string } {
  const options: SpawnOptions = { cwd: place.cwd, env: { ...place.env }, stdio: "pipe", ...ownGroup() };
  try {
    return watchProgram(() => launch(command, options) as ChildProcessWithoutNullStreams);
  } catch (error) {
    return { problem: `could not be started: ${reasonOf(error)}` };
  }
}

function awaitAnswer(child: ChildProcess, question: ProgramQuestion): Promise<ProgramAnswer> {
  const { timeoutMs } = question;
  return new Promise((resolve) => {
    const end = (): void => endGroup(child);
    const finish = (answer: ProgramAnswer): void => {
      clearTimeout(timer);
      process.off("exit", end);
      process.off("SIGINT", interrupt);
      resolve(answer);
    };
    const giveUp = (problem: string): void => {
      end();
      child.stdout?.destroy();
      finish({ problem });
    };
    const interrupt = (): void => {
      giveUp("was interrupted");
      raiseSignal(process, "SIGINT");
    };
    const timer = setTimeout(() => giveUp(`did not answer within ${timeoutMs / 1000} s`), timeoutMs);
    process.on("exit", end);
    process.on("SIGINT", interrupt);
    child.on("error", (cause) => finish({ problem: `could not be started: ${reasonOf(cause)}`, isMissing: true }));
    collect(child, question, giveUp, finish);
  });
}

function collect(
  child: ChildProcess,
  { input, maxBytes }: ProgramQuestion,
  giveUp: (problem: string) => void,
  finish: (answer: ProgramAnswer) => void,
): void {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) giveUp(`answered more than ${maxBytes / 1024} KiB`);
  });
  child.on("close", (code, signal) => {
    if (code === 0) finish({ output: Buffer.concat(chunks).toString("utf8") });
    else finish({ problem: signal === null ? `failed with exit code ${code}` : `was ended by ${signal}` });
  });
  // A program may answer without reading the question to its end.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
}

function feed(child: ChildProcess, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(!SHELL_CANNOT_RUN.includes(code ?? 0)));
    // The user quit the pager before it read everything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
}

/** Ctrl-C in a pager stops its search; it must not end jpg, because then both would use the terminal. */
async function whileInterruptsReachTheChild<T>(action: () => Promise<T>): Promise<T> {
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    return await action();
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** A group to end with jpg; its leader is null until it has started. */
interface HeldGroup {
  readonly leader: GroupLeader | null;
}

/** A started program; `pid` is also the id of its group. */
interface GroupLeader {
  readonly pid?: number | undefined;
  readonly exitCode?: number | null;
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The groups to end with jpg. One listener for all, because it has to know whether others listen. */
const held = new Set<HeldGroup>();

/** Starts a program that goes on when jpg has ended, without a terminal or a window. Never throws. */
export function startInBackground(command: readonly string[], { cwd, env }: Pick<SpawnOptions, "cwd" | "env">): void {
  // Windows would end it with jpg if it were not detached.
  const child = launch(command, { cwd, env: { ...env }, stdio: "ignore", detached: true, windowsHide: true });
  child.on("error", () => undefined);
  child.unref();
}

/** Starts a program under the user's own umask. */
function launch(command: readonly string[], options: SpawnOptions): ChildProcess {
  const { env = {}, cwd } = options;
  const call = programCall(command, { env, ...(typeof cwd === "string" && { cwd }) });
  return withUserUmask(() => spawn(call.file, call.args, { ...options, ...call.options }));
}

/**
 * Options for a program in a group of its own, which Ctrl-C does not reach. On Windows that is a hidden console: a detached program
 * would have none, and each program that it starts would open a window.
 */
function ownGroup(platform: NodeJS.Platform = process.platform): SpawnOptions {
  return platform === "win32" ? { windowsHide: true } : { detached: true };
}

/** Ends a program with all that it started. */
function endGroup({ pid, exitCode }: GroupLeader, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === undefined) return;
  if (process.platform === "win32") {
    // There are no groups, only parents: once the program has ended, its pid may be another's.
    if (exitCode == null) endTree(pid);
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The whole group has ended already; macOS says EPERM if nobody has waited for it yet.
    const code = codeOf(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Ends a process of Windows and those that it started. Synchronous, because it also runs when jpg exits. */
function endTree(pid: number): void {
  const taskkill = systemProgram("taskkill.exe", process.env);
  spawnSync(taskkill, ["/pid", String(pid), "/T", "/F"], { stdio: "ignore", windowsHide: true });
}

/** Makes a group end when jpg does, by itself or by a signal; returns a function that releases it. */
function holdGroup(group: HeldGroup): () => void {
  if (held.size === 0) {
    process.on("exit", endAll);
    for (const signal of ENDING_SIGNALS) process.on(signal, endOnSignal);
  }
  held.add(group);
  return () => {
    if (!held.delete(group) || held.size > 0) return;
    stopListening();
  };
}

function endAll(): void {
  for (const { leader } of held) if (leader !== null) endGroup(leader);
}

/** On a signal, ends all groups, and jpg too unless another listener decides that. */
function endOnSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  endAll();
  stopListening();
  raiseSignal(process, signal);
}

function stopListening(): void {
  process.off("exit", endAll);
  for (const signal of ENDING_SIGNALS) process.off(signal, endOnSignal);
}

// A running program that jpg talks with over its standard input and output. However it ends, all that it started ends with it, and
// jpg waits for it no longer than a grace period.

export interface RunningProgram {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** How it ended; completes "the program …". Resolves when all its output has been read. Never rejects. */
  readonly ended: Promise<string>;
  /** Closes its input, and kills it with all that it started if it does not end by itself. Never rejects. */
  end(): Promise<void>;
}

/** A child process with pipes, leader of its own group. */
interface PipedChild extends GroupLeader {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  on(event: "error", listener: (cause: Error) => void): unknown;
  on(event: "exit", listener: () => void): unknown;
  on(event: "close", listener: (code: number | null, signal: string | null) => void): unknown;
}

/** Milliseconds in which a program has to end after its input is closed, and again after SIGTERM. */
const GRACE_MS = 500;

function watchProgram(start: () => PipedChild): RunningProgram {
  // Held before it starts: it may run before `start` returns, and a signal that comes then has to end it, too.
  let child: PipedChild | null = null;
  const release = holdGroup({
    get leader() {
      return child;
    },
  });
  try {
    child = start();
  } catch (error) {
    release();
    throw error;
  }
  return runningProgram(child, release);
}

function runningProgram(child: PipedChild, release: () => void): RunningProgram {
  const ended = howItEnds(child).finally(release);
  // `ended` reports it if the program is gone.
  child.stdin.on("error", () => {});
  const hasEnded = (): Promise<boolean> => within(GRACE_MS, ended);
  return {
    input: child.stdin,
    output: child.stdout,
    errors: child.stderr,
    ended,
    async end() {
      child.stdin.end();
      if (await hasEnded()) return;
      endGroup(child, "SIGTERM");
      if (await hasEnded()) return;
      endGroup(child);
      // Processes that left the group may keep the pipes open; do not wait for them.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      await hasEnded();
    },
  };
}

function howItEnds(child: PipedChild): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (cause) => resolve(`could not be started: ${reasonOf(cause)}`));
    // What it started would keep the pipes open.
    child.on("exit", () => endGroup(child));
    child.on("close", (code, signal) =>
      resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`),
    );
  });
}

function within(waitMs: number, ended: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), waitMs);
  });
  return Promise.race([ended.then(() => true), late]).finally(() => clearTimeout(timer));
}

// Asks a program for a long answer. Some programs end before a pipe has all of their output (64 KiB, then nothing); a file has no
// such limit.

/** Asks a program for an answer of any length, by way of a private temporary file. Never throws. */
export async function askIntoFile(question: Omit<ProgramQuestion, "maxBytes" | "answerFile">): Promise<ProgramAnswer> {
  const folder = await mkdtemp(join(question.env["TMPDIR"] ?? tmpdir(), "jpg-answer-"));
  const path = join(folder, "answer");
  const file = await open(path, "wx", 0o600);
  try {
    const answer = await askProgram({ ...question, maxBytes: 0, answerFile: file.fd });
    return "problem" in answer ? answer : { output: await readFile(path, "utf8") };
  } catch (error) {
    return { problem: `gave an answer that cannot be read: ${messageOf(error)}` };
  } finally {
    await file.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const MESSAGE = "message";

/** Where to run an editor, and on what. */
interface EditPlace {
  readonly env: Environment;
  readonly cwd: string;
  /** The name of the text, for its file and for errors; default `message`. */
  readonly what?: string;
  /** The editor in git's settings, after $GIT_EDITOR and before the others, as for git. */
  readonly configured?: string | null;
}

/** The result of an editor. */
interface EditedText {
  /** The content of the file; the original text if it is gone. */
  readonly text: string;
  /** Exit code of the editor. */
  readonly code: number;
  /** The command line that was run. */
  readonly editor: string;
}

/**
 * Edits a text in $GIT_EDITOR, the editor of git's settings, $VISUAL, $EDITOR or vi. Throws `editor_failed`, and as the file system
 * does.
 */
export async function editText(text: string, place: EditPlace): Promise<string> {
  const edited = await openEditor(text, place);
  if (edited.code === 0) return edited.text;
  throw editorFailed(edited, place.what);
}

export function editorFailed({ editor, code }: EditedText, what: string = MESSAGE): JpgError {
  return userError("editor_failed", `The editor ended with exit code ${code}: ${editor}. The ${what} is unchanged.`, {
    hints: ["Set $VISUAL or $EDITOR to the editor of your choice, e.g. `export EDITOR=nano`."],
  });
}

/** Opens a text in the user's editor and waits until it ends. Throws as the file system does. */
export async function openEditor(text: string, place: EditPlace): Promise<EditedText> {
  const { env, cwd, what = MESSAGE, configured = null } = place;
  const named = [env["GIT_EDITOR"], configured ?? undefined, env["VISUAL"], env["EDITOR"]];
  const editor = named.find((name) => name !== undefined && name.trim() !== "") ?? "vi";
  const folder = await mkdtemp(join(env["TMPDIR"] ?? tmpdir(), `jpg-${what}-`));
  const path = join(folder, `${what}.${what === MESSAGE ? "md" : "txt"}`);
  try {
    await writeFile(path, text, { mode: 0o600 });
    // The variable has a command line, as for git; the file is its last argument.
    const shell = findPosixShell({ env }) ?? "sh";
    const code = await runProgram([shell, "-c", `${editor} "$1"`, "sh", path], { cwd, env });
    return { text: await readFile(path, "utf8").catch(() => text), code, editor };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

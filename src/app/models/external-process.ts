// Starts programs that are not git. Arguments are passed as a list; the one exception is a pager that the user set as a
// shell command line. Nothing from a conversation ever becomes part of a command.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { codeOf, type JpgError, messageOf, reasonOf, userError } from "../../core/errors.ts";
import { withUserUmask } from "../conversation/runtime.ts";

/** A pager: a program with its arguments, or the user's own command line from $PAGER. */
export type PagerProgram =
  | { readonly program: string; readonly arguments: readonly string[] }
  | { readonly shellCommand: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** A question to a program. */
interface ProgramQuestion {
  /** The program and its arguments, never empty; no shell reads them. */
  readonly command: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Time for the whole answer, milliseconds. */
  readonly timeoutMs: number;
  /** Longest answer, bytes. */
  readonly maxBytes: number;
  /** Descriptor of an open file that takes the answer, in the place of a pipe: then `output` is empty, and of any length. */
  readonly answerFile?: number;
}

/** What a program answered; `problem` completes "the program …", `isMissing` = it could not be started. */
type ProgramAnswer = { readonly output: string } | { readonly problem: string; readonly isMissing?: true };

/** What a shell answers for a command that it cannot find or run. */
const SHELL_CANNOT_RUN = [126, 127];

/**
 * Shows a text in a pager and waits until it is left. False when the pager could not be started, and nothing was shown.
 * Less is told to quit on one screen and to keep colours unless the user's own settings say otherwise.
 */
export async function runPager(pager: PagerProgram, text: string, env: Environment): Promise<boolean> {
  const options = {
    stdio: ["pipe", "inherit", "inherit"] as ["pipe", "inherit", "inherit"],
    env: { LESS: "FRX", LV: "-c", ...env },
  };
  const child = withUserUmask(() =>
    "shellCommand" in pager
      ? spawn(pager.shellCommand, { ...options, shell: true })
      : spawn(pager.program, pager.arguments, options),
  );
  return await whileInterruptsReachTheChild(() => feed(child, text));
}

/** Runs a program with the terminal handed over, e.g. an agent. Gives its exit code. Throws `program_missing`. */
export async function runProgram(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Environment },
): Promise<number> {
  const [program = "", ...args] = command;
  const child = withUserUmask(() => spawn(program, args, { cwd: place.cwd, env: { ...place.env }, stdio: "inherit" }));
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

/**
 * Asks a program: the input on its standard input, the answer from its standard output. It gets a process group of its own
 * and is ended with it when it takes too long, answers too much, or jpg itself is interrupted. Never throws.
 */
export async function askProgram(question: ProgramQuestion): Promise<ProgramAnswer> {
  const { cwd, env, answerFile } = question;
  const [program = "", ...args] = question.command;
  try {
    const child = withUserUmask(() =>
      spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", answerFile ?? "pipe", "ignore"], detached: true }),
    );
    return await awaitAnswer(child, question);
  } catch (error) {
    // Node refuses some commands before starting them, such as one with a null byte in it.
    return { problem: `could not be started: ${reasonOf(error)}`, isMissing: true };
  }
}

/**
 * Starts a program that is talked with over its standard input and output. It gets a process group of its own, so that
 * Ctrl-C reaches jpg alone, and ends with jpg. A program that is not there has `ended` with the reason.
 */
export function startProgram(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Environment },
): RunningProgram | { readonly problem: string } {
  const [program = "", ...args] = command;
  try {
    return watchProgram(
      withUserUmask(() =>
        spawn(program, args, { cwd: place.cwd, env: { ...place.env }, stdio: "pipe", detached: true }),
      ),
    );
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
      process.kill(process.pid, "SIGINT");
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
    // A pager that is left before it has read everything closes the pipe: the user has seen enough.
    child.stdin?.on("error", () => {});
    child.stdin?.end(text);
  });
}

/** Ctrl-C in a pager stops its search, not jpg, which would leave the terminal to both. */
async function whileInterruptsReachTheChild<T>(action: () => Promise<T>): Promise<T> {
  const ignore = (): void => {};
  process.on("SIGINT", ignore);
  try {
    return await action();
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** What is known of a started program; `pid` is also the id of its group. */
interface GroupLeader {
  readonly pid?: number | undefined;
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The groups that must not outlive jpg. One listener for all: it has to know whether anybody else listens. */
const held = new Set<GroupLeader>();

/** Ends a program with everything that it started. */
function endGroup({ pid }: GroupLeader, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The whole group has ended by itself; macOS says EPERM of one that nobody has waited for yet.
    const code = codeOf(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Has a group end when jpg does, by itself or by a signal; gives what lets go of it. */
function holdGroup(leader: GroupLeader): () => void {
  if (held.size === 0) {
    process.on("exit", endAll);
    for (const signal of ENDING_SIGNALS) process.on(signal, endOnSignal);
  }
  held.add(leader);
  return () => {
    if (!held.delete(leader) || held.size > 0) return;
    stopListening();
  };
}

function endAll(): void {
  for (const leader of held) endGroup(leader);
}

/** Whoever else listens decides what a signal means; to these groups alone, it means the end of all. */
function endOnSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  endAll();
  stopListening();
  process.kill(process.pid, signal);
}

function stopListening(): void {
  process.off("exit", endAll);
  for (const signal of ENDING_SIGNALS) process.off(signal, endOnSignal);
}

// A program that goes on running while jpg talks with it over its standard input and output. However it ends, what it
// started ends with it, and nobody waits for it longer than the grace it is given.

/** A started program. */
export interface RunningProgram {
  readonly input: Writable;
  readonly output: Readable;
  readonly errors: Readable;
  /** How it ended; completes "the program …". Resolves when everything it wrote has been read. Never rejects. */
  readonly ended: Promise<string>;
  /** Closes its input, and ends it with everything that it started when it does not go by itself. Never rejects. */
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

/** How long a program has to go by itself once its input is closed, and then once it is told to; milliseconds. */
const GRACE_MS = 500;

/** Watches over a started program until it has ended. */
function watchProgram(child: PipedChild): RunningProgram {
  const release = holdGroup(child);
  const ended = howItEnds(child).finally(release);
  // Writing to a program that has gone is told by how it ended.
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
      // What left the group may hold the pipes open; it must not hold jpg.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      await hasEnded();
    },
  };
}

function howItEnds(child: PipedChild): Promise<string> {
  return new Promise((resolve) => {
    child.on("error", (cause) => resolve(`could not be started: ${reasonOf(cause)}`));
    // What it leaves behind would keep the pipes open.
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

// Asks a program whose answer is long. Some programs end before a pipe has taken all that they printed (64 KiB,
// then nothing): a file takes everything at once.

/** Asks a program for an answer of any length; the file that takes it is the user's alone, and gone afterwards. Never throws. */
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

/** What is edited where nothing else is said. */
const MESSAGE = "message";

/** What an editor was given, and where it runs. */
interface EditPlace {
  readonly env: Environment;
  readonly cwd: string;
  /** What the text is, for the name of its file and for errors; default `message`. */
  readonly what?: string;
  /** The editor that git's settings name, after $GIT_EDITOR and before the others, as for git. */
  readonly configured?: string | null;
}

/** What an editor left. */
interface EditedText {
  /** What stands in the file; what was given where it is gone. */
  readonly text: string;
  /** Exit code of the editor. */
  readonly code: number;
  /** The command line that was run. */
  readonly editor: string;
}

/** Edits a text in $GIT_EDITOR, else $VISUAL, else $EDITOR, else vi. Throws `editor_failed`, and what the file system throws. */
export async function editText(text: string, place: EditPlace): Promise<string> {
  const edited = await openEditor(text, place);
  if (edited.code === 0) return edited.text;
  throw editorFailed(edited, place.what);
}

/** The error of an editor that failed. */
export function editorFailed({ editor, code }: EditedText, what: string = MESSAGE): JpgError {
  return userError("editor_failed", `The editor ended with exit code ${code}: ${editor}. The ${what} is unchanged.`, {
    hints: ["Set $VISUAL or $EDITOR to the editor of your choice, e.g. `export EDITOR=nano`."],
  });
}

/** Has the user's editor change a text, and waits until it ends. Throws what the file system throws. */
export async function openEditor(text: string, place: EditPlace): Promise<EditedText> {
  const { env, cwd, what = MESSAGE, configured = null } = place;
  const named = [env["GIT_EDITOR"], configured ?? undefined, env["VISUAL"], env["EDITOR"]];
  const editor = named.find((name) => name !== undefined && name.trim() !== "") ?? "vi";
  const folder = await mkdtemp(join(env["TMPDIR"] ?? tmpdir(), `jpg-${what}-`));
  const path = join(folder, `${what}.${what === MESSAGE ? "md" : "txt"}`);
  try {
    await writeFile(path, text, { mode: 0o600 });
    // The variable holds a command line, as for git; the file is its last argument.
    const code = await runProgram(["sh", "-c", `${editor} "$1"`, "sh", path], { cwd, env });
    return { text: await readFile(path, "utf8").catch(() => text), code, editor };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

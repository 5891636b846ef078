// Starts programs that are not git. Arguments are passed as a list; the one exception is a pager that the user set as a
// shell command line. Nothing from a conversation ever becomes part of a command.
import { type ChildProcess, spawn } from "node:child_process";
import { reasonOf, userError } from "../../core/errors.ts";
import { asUser } from "../workspace/user-umask.ts";
import { endGroup } from "./process-group.ts";
import { type RunningProgram, watchProgram } from "./running-program.ts";

/** A pager: a program with its arguments, or the user's own command line from $PAGER. */
export type PagerProgram =
  | { readonly program: string; readonly arguments: readonly string[] }
  | { readonly shellCommand: string };

type Environment = Readonly<Record<string, string | undefined>>;

/** A question to a program. */
export interface ProgramQuestion {
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
export type ProgramAnswer = { readonly output: string } | { readonly problem: string; readonly isMissing?: true };

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
  const child = asUser(() =>
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
  const child = asUser(() => spawn(program, args, { cwd: place.cwd, env: { ...place.env }, stdio: "inherit" }));
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
    const child = asUser(() =>
      spawn(program, args, { cwd, env: { ...env }, stdio: ["pipe", answerFile ?? "pipe", "ignore"], detached: true }),
    );
    return await hearOut(child, question);
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
      asUser(() => spawn(program, args, { cwd: place.cwd, env: { ...place.env }, stdio: "pipe", detached: true })),
    );
  } catch (error) {
    return { problem: `could not be started: ${reasonOf(error)}` };
  }
}

function hearOut(child: ChildProcess, question: ProgramQuestion): Promise<ProgramAnswer> {
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

// Starts programs that are not git. Arguments are passed as a list; the one exception is a pager that the user set as a
// shell command line. Nothing from a conversation ever becomes part of a command.
import { type ChildProcess, spawn } from "node:child_process";
import { userError } from "../core/errors.ts";

/** A pager: a program with its arguments, or the user's own command line from $PAGER. */
export type PagerProgram =
  | { readonly program: string; readonly arguments: readonly string[] }
  | { readonly shellCommand: string };

type Environment = Readonly<Record<string, string | undefined>>;

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
  const child =
    "shellCommand" in pager
      ? spawn(pager.shellCommand, { ...options, shell: true })
      : spawn(pager.program, pager.arguments, options);
  return await whileInterruptsReachTheChild(() => feed(child, text));
}

/** Runs a program with the terminal handed over, e.g. an agent. Gives its exit code. Throws `program_missing`. */
export async function runProgram(
  command: readonly string[],
  place: { readonly cwd: string; readonly env: Environment },
): Promise<number> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { cwd: place.cwd, env: { ...place.env }, stdio: "inherit" });
  return await whileInterruptsReachTheChild(
    () =>
      new Promise<number>((resolve, reject) => {
        child.on("error", (cause) =>
          reject(
            userError("program_missing", `${program} could not be started: ${cause.message}.`, {
              hints: [`Install it, or run the command elsewhere: ${command.join(" ")}`],
              cause,
            }),
          ),
        );
        child.on("close", (code) => resolve(code ?? 1));
      }),
  );
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

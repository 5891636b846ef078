// Runs git's porcelain (init, config, switch, worktree) through simple-git, which refuses arguments and settings that would
// have git start programs. The contract, environment and errors are those of `runGit`; the first call loads the library.
import type { Readable } from "node:stream";
import { asSentence, repositoryError } from "../../../core/errors.ts";
import { defined } from "../../../core/json.ts";
import { gitEnvironment } from "../git/git-environment.ts";
import { type GitResult, type GitRun, startError } from "../git/git-process.ts";
import { permissionsFor } from "./permissions.ts";

/** Characters of a line that has not ended yet. */
const LONGEST_LINE = 4096;

/**
 * A run without input; `progress` is told each line that git writes to standard error, as it comes: those that it goes on writing
 * over do not stand. Told "" that does not stand when git has ended.
 */
export interface PorcelainRun extends Omit<GitRun, "input"> {
  readonly progress?: (line: string, stands: boolean) => void;
}

/** Runs git to its end, as `runGit` does, with nothing to read. Throws `git_missing`, `git_refused`. */
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
      ...defined({ abort: signal }),
      completion: { onExit: false }, // all output is read before git counts as ended
      errors: (_error, result) => {
        code = result.exitCode;
        stderr = Buffer.concat(result.stdErr).toString();
        return undefined; // a failing exit code is a result
      },
    }).env(env);
    // After a command that prints nothing simple-git waits 50 ms for more; an empty chunk is something.
    git.outputHandler((_command, stdout, errors) => {
      setImmediate(() => stdout.emit("data", Buffer.alloc(0)));
      if (progress !== undefined) errors.on("data", byLine(progress));
      // A helper of git's that waits for a server may outlive it, and would hold these open for as long.
      signal?.addEventListener("abort", () => {
        for (const stream of [stdout, errors]) (stream as Readable).destroy();
      });
    });
    const stdout = Buffer.from(await git.raw([...args]));
    signal?.throwIfAborted();
    // What node says of a process that could not be started stands where git's own words would.
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

/** Hands a stream's text on by lines; one that ends in `\r` is written over by what follows. */
function byLine(tell: (line: string, stands: boolean) => void): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let rest = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=[\r\n])/);
    rest = /[\r\n]$/.test(lines.at(-1) ?? "") ? "" : (lines.pop() ?? "").slice(-LONGEST_LINE);
    for (const line of lines) if (line.trim() !== "") tell(line.trimEnd(), line.endsWith("\n"));
  };
}

/** The error that Node describes in a text: its first line, with its code. */
function causeIn(text: string): Error {
  const [line = ""] = text.replace(/^Error: /, "").split("\n", 1);
  return Object.assign(new Error(line), { code: /\bE[A-Z]+\b/.exec(line)?.[0] });
}

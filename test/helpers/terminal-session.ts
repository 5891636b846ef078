// A test that reads like a terminal session: each step is a command line as one types it, and gives that line with what it
// printed, for an inline snapshot. Clock and randomness count up and places have names, so that the same is printed each time.
import type { ImportedSandbox } from "./prepared-sandbox.ts";
import { createUserRuntime, runInProcess } from "./run-in-process.ts";
import type { RunOptions } from "./run-jpg.ts";
import type { TestEnvironment } from "./temp-repository.ts";
import { createTestRuntime } from "./workspace.ts";

/** An id of a commit, whole or short; no part of a session's id. */
const COMMIT = /(?<![\w-])[0-9a-f]{7,40}(?![\w-])/g;

export interface TerminalSession {
  /**
   * Runs a command line that starts with `jpg` in the sandbox's project, or in `cwd`. Gives `$ jpg …` and below it standard
   * output, then standard error with `! ` before each line, then `[exit 2]` unless it was 0. Ids of commits are numbered in
   * the order in which they appear: `<commit 1>`, or `<commit 1, whole id>`; the conversation's id is `<id>`,
   * in the line too, the sandbox's folder `<root>`.
   */
  run(line: string, options?: Pick<RunOptions, "cwd" | "env" | "input">): Promise<string>;
}

/** Creates a session in a sandbox; its clock starts a day after the last turn of an imported `smallSession`. */
export function createTerminalSession(sandbox: ImportedSandbox): TerminalSession {
  const counting = createTestRuntime(sandbox.project, sandbox.env);
  const commits: string[] = [];
  const nameCommit = (found: string): string => {
    const known = commits.findIndex((commit) => commit.startsWith(found) || found.startsWith(commit));
    return `<commit ${known >= 0 ? known + 1 : commits.push(found)}${found.length === 40 ? ", whole id" : ""}>`;
  };
  const plain = (text: string): string =>
    text.replaceAll(sandbox.root, "<root>").replaceAll(sandbox.conversation, "<id>").replace(COMMIT, nameCommit);
  return {
    async run(line, { cwd = sandbox.project, env = {}, input = "" } = {}) {
      const [program, ...words] = splitWords(line.replaceAll("<id>", sandbox.conversation));
      if (program !== "jpg") throw new Error(`a line of a session starts with jpg: ${line}`);
      const runtime = createUserRuntime(cwd, { ...sandbox.env, ...env } as TestEnvironment, input);
      const { now, random, localTime, startOfDay } = counting;
      const { stdout, stderr, code } = await runInProcess({ ...runtime, now, random, localTime, startOfDay }, words);
      const said = stderr.replace(/^/gm, "! ").replace(/! $/, "");
      return plain(`$ ${line}\n${endLine(stdout)}${endLine(said)}${code === 0 ? "" : `[exit ${code}]\n`}`);
    },
  };
}

const endLine = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** The words of a line, quoted by '…' or "…" where they hold spaces; nothing is expanded. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
}

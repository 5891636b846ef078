// Runs jpg as a user would, in a temporary project with a HOME of its own: nothing of this machine's git or jpg settings reaches
// it. A sandbox runs it in the process of the tests, and the built command where the process itself is the subject. Also makes
// small invented session files to work on.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { asSession, createClaudeWriter, type Json, sessionBytes } from "./claude-session.ts";
import { createUserRuntime, runInProcess, runsInProcess } from "./run-in-process.ts";
import { createTempFolder, git, initRepository, QUIET_GIT, type TestEnvironment } from "./temp-repository.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));

export interface JpgResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Exit code; -1 when a signal ended it. */
  readonly code: number;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string | undefined>;
  readonly input?: string | Uint8Array;
  /** A user id to run as; a process of its own does. */
  readonly uid?: number;
  /**
   * Runs the built command as a process of its own: for what a process has alone (signals, umask, start-up, memory, pid). False =
   * in the process of the tests in any case: for a command that talks to its own process, where it is refused before it does.
   */
  readonly process?: boolean;
}

/** The whole environment of a run; `home` is a folder without settings. */
export function jpgEnvironment(home: string): TestEnvironment {
  return {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    GIT_CONFIG_GLOBAL: "/dev/null",
    ...QUIET_GIT,
    GIT_AUTHOR_NAME: "Ada Test",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada Test",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    TZ: "UTC",
  };
}

type PlacedOptions = Required<Pick<RunOptions, "cwd" | "env">> & RunOptions;

/** Runs jpg to its end, in this process where that can be; never throws for an exit code. */
function runHere(args: readonly string[], options: PlacedOptions): Promise<JpgResult> {
  if (options.uid !== undefined || !runsInProcess(args, options.process)) return runJpg(args, options);
  return runInProcess(createUserRuntime(options.cwd, presentIn(options.env), options.input), args);
}

function presentIn(env: Record<string, string | undefined>): TestEnvironment {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as TestEnvironment;
}

/** Runs the built jpg as a process of its own to its end; never throws for an exit code. */
export function runJpg(args: readonly string[], options: PlacedOptions): Promise<JpgResult> {
  const env = presentIn(options.env);
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: options.cwd,
    env,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin.on("error", () => undefined); // a command that reads no input may be gone before it is written
  child.stdin.end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) =>
      resolve({ stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString(), code: code ?? -1 }),
    );
  });
}

/** A temporary place with a project repository, a HOME and jpg in it. */
export interface Sandbox {
  readonly root: string;
  readonly home: string;
  readonly project: string;
  readonly env: TestEnvironment;
  /** Where the project's store is, or will be. */
  readonly store: string;
  /** Runs jpg in the project; in the process of the tests, where that can be and `process` does not ask for one. */
  jpg(args: readonly string[], options?: RunOptions): Promise<JpgResult>;
  /** Runs jpg with --json and parses what it prints, whatever the exit code. */
  json<T = Json>(args: readonly string[], options?: RunOptions): Promise<T>;
  /** Runs git, in the store unless `cwd` says otherwise. */
  git(args: readonly string[], cwd?: string): string;
  /** Writes a session file and gives its path. */
  session(name: string, content: Uint8Array | string): string;
  remove(): void;
}

/** Creates a sandbox; the project is an empty git repository. `process` = as in the options of a run, for all of its runs. */
export function createSandbox(whole: Pick<RunOptions, "process"> = {}): Sandbox {
  const folder = createTempFolder();
  const home = join(folder.path, "home");
  const project = join(folder.path, "project");
  const env = jpgEnvironment(home);
  mkdirSync(home);
  mkdirSync(project);
  initRepository(project);
  const store = join(project, ".git", "jpg");
  const jpg: Sandbox["jpg"] = (args, options = {}) =>
    runHere(args, { ...whole, cwd: project, ...options, env: { ...env, ...options.env } });
  return {
    root: folder.path,
    home,
    project,
    env,
    store,
    jpg,
    json: async <T>(args: readonly string[], options?: RunOptions): Promise<T> =>
      JSON.parse((await jpg([...args, "--json"], options)).stdout) as T,
    git: (args, cwd = store) => git(cwd, env, args),
    session(name, content) {
      const path = join(folder.path, "sessions", name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      return path;
    },
    remove: folder.remove,
  };
}

/** A sandbox whose project holds one imported conversation of `turns` turns (see `smallSession`). */
export async function createImportedSandbox(
  turns = 6,
  whole: Pick<RunOptions, "process"> = {},
): Promise<Sandbox & { readonly conversation: string }> {
  const sandbox = createSandbox(whole);
  const file = sandbox.session("small.jsonl", smallSession({ turns }));
  const [report] = await sandbox.json<readonly { readonly id: string }[]>(["import", file]);
  return { ...sandbox, conversation: report?.id ?? "" };
}

/** The bytes of an invented session: each turn has a request, a thought, a call with its result, and an answer. */
export function smallSession({ turns = 6, id }: { readonly turns?: number; readonly id?: string } = {}): Buffer {
  return sessionBytes(smallSessionLines({ turns, ...(id === undefined ? {} : { id }) }));
}

/** The lines of `smallSession`; `id` replaces the session's own id. */
export function smallSessionLines({ turns = 6, id }: { readonly turns?: number; readonly id?: string } = {}): Json[] {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn++) {
    writer.prompt(turn === 0 ? "Measure the tide at the pier" : `Request ${turn} about the harbour wall`);
    writer.think(`thought ${turn}: the gauge at the pier is read first`, `Looking at gauge ${turn}.`);
    writer.tools(1);
    writer.say(`Answer ${turn}: the water stood at ${turn} metres.`);
  }
  return id === undefined ? writer.lines : asSession(writer.lines, id);
}

/** The bytes of a `smallSession` in which a model answered in one turn alone; the agent itself wrote the other answers. */
export function sessionAnsweredIn(answered: number, turns: number): Buffer {
  let turn = -1;
  const lines = smallSessionLines({ turns }).map((line) => {
    const message = line["message"] as Json;
    if (typeof message["content"] === "string") turn += 1;
    if (line["type"] !== "assistant" || turn === answered) return line;
    return { ...line, message: { ...message, model: "<synthetic>" } };
  });
  return sessionBytes(lines);
}

/** What must not change when a command fails: all refs of the store, HEAD, and the state of its worktree. */
export function storeState({ git, store }: Pick<Sandbox, "git" | "store">): string {
  const head = readFileSync(join(store, ".git", "HEAD"), "utf8");
  return [git(["for-each-ref"]), head, git(["status", "--porcelain", "--untracked-files=all"])].join("\n--\n");
}

/** Types a command line of jpg at a shell in the project and gives what it prints; throws when it fails. */
export function typeLine({ project, env }: Pick<Sandbox, "project" | "env">, line: string): string {
  const script = `jpg() { "${process.execPath}" "${BIN}" "$@"; }; ${line}`;
  return execFileSync("/bin/sh", ["-c", script], { cwd: project, env, encoding: "utf8" });
}

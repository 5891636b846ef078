// Starts git (and tmux, which is asked often) from a small process instead of this one: from a shell what runs to its end, from a
// Node what talks meanwhile. A process that starts another is copied first, by its memory: from one that has loaded all tests
// and sources a git costs ten times what it costs from a small one. What a program gets and gives is the same: its streams end
// here. `node:child_process` itself is changed (setup file of vitest.config.ts).
import childProcess, { type ChildProcess, type SpawnOptions } from "node:child_process";
import { EventEmitter } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { canRunInShell, runInShell, spawnInShell } from "./start-in-shell.ts";

const HELPER = fileURLToPath(new URL("small-parent.mjs", import.meta.url));
const { spawn, spawnSync, execFileSync, fork } = childProcess;

interface Message {
  readonly id: number;
  readonly pid?: number;
  readonly error?: { readonly message: string };
  readonly code?: number | null;
  readonly signal?: NodeJS.Signals | null;
}

interface SmallParent {
  readonly folder: string;
  readonly process: ChildProcess;
  readonly started: Map<number, StartedProgram>;
}

let parent: SmallParent | undefined;

function smallParent(): SmallParent {
  if (parent !== undefined) return parent;
  const folder = mkdtempSync(join(tmpdir(), "jpg-start-"));
  const ready = join(folder, "ready");
  execFileSync("mkfifo", [ready]);
  const helper = fork(HELPER, [folder], { execArgv: [], env: {}, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const started = new Map<number, StartedProgram>();
  helper.on("message", (message: Message) => started.get(message.id)?.take(message));
  helper.unref();
  helper.channel?.unref();
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Opened as soon as the other side opens it: then it listens.
  closeSync(openSync(ready, "r"));
  parent = { folder, process: helper, started };
  return parent;
}

/** A program that the small process started, as much of a `ChildProcess` as jpg and its tests use. */
class StartedProgram extends EventEmitter {
  readonly #id: number;
  readonly #streams: readonly Socket[];
  readonly stdin: Socket | null;
  readonly stdout: Socket | null;
  readonly stderr: Socket | null;
  /** Known a little later than of a child of one's own. */
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  killed = false;

  constructor(id: number, streams: readonly Socket[]) {
    super();
    this.#id = id;
    this.#streams = streams;
    [this.stdin = null, this.stdout = null, this.stderr = null] = streams;
  }

  take({ pid, error, code = null, signal = null, ...rest }: Message): void {
    if (pid !== undefined) {
      this.pid = pid;
      this.emit("spawn");
    } else if (error !== undefined) {
      for (const stream of this.#streams) stream.destroy();
      this.emit("error", Object.assign(new Error(error.message), error));
      void this.#endOfStreams().then(() => this.emit("close", -2, null));
    } else {
      this.exitCode = code;
      this.signalCode = signal;
      this.emit("exit", code, signal);
      void this.#endOfStreams().then(() => this.emit("close", code, signal));
    }
    if (pid === undefined) smallParent().started.delete(rest.id);
  }

  /** What nobody reads is passed over, as Node does. */
  async #endOfStreams(): Promise<void> {
    const open = [this.stdout, this.stderr].filter((stream) => stream !== null && !stream.closed);
    await Promise.all(open.map((stream) => new Promise((resolve) => stream?.once("close", resolve).resume())));
  }

  kill(signal: NodeJS.Signals | number = "SIGTERM"): boolean {
    this.killed = this.exitCode === null && this.signalCode === null;
    if (this.killed) smallParent().process.send({ id: this.#id, kill: signal });
    return this.killed;
  }

  ref(): void {}

  unref(): void {}
}

let count = 0;

function startSmall(file: string, args: readonly string[], options: SpawnOptions): StartedProgram {
  const { folder, process: helper, started } = smallParent();
  const id = count++;
  const hasStreams = options.stdio !== "ignore";
  const streams = hasStreams
    ? [0, 1, 2].map((n) => connect({ path: join(folder, `stream-${n}`), allowHalfOpen: n === 0 }))
    : [];
  const program = new StartedProgram(id, streams);
  started.set(id, program);
  helper.send({ id, hasStreams, ...job(file, args, options) });
  return program;
}

function job(file: string, args: readonly string[], options: SpawnOptions): object {
  const { cwd = process.cwd(), env = process.env, uid, gid, detached } = options;
  return { file, args, options: { cwd, env, uid, gid, detached }, umask: process.umask() };
}

type RunSyncOptions = SpawnOptions & { readonly input?: string | Uint8Array; readonly encoding?: BufferEncoding };

/** Commands of git that are given their input at once and say all at their end. */
const SHORT: ReadonlySet<string | undefined> = new Set([
  ...["commit-tree", "config", "count-objects", "for-each-ref", "init", "log", "ls-tree", "merge-base", "mktree"],
  ...["read-tree", "rev-list", "rev-parse", "status", "switch", "symbolic-ref", "update-ref", "var", "version"],
]);

/** Whether a command line of git is one of these; before its command stand `--git-dir=…`, `-c NAME=VALUE`, `-C FOLDER`. */
function isShort(args: readonly string[]): boolean {
  const at = args.findIndex((word, n) => !word.startsWith("-") && !/^-[cC]$/.test(args[n - 1] ?? ""));
  return SHORT.has(args[at]);
}

/** Whether a start is one that the small process can do: git, with streams of its own or none. */
function canBeSmall(file: string, args: readonly string[], { stdio = "pipe" }: SpawnOptions): boolean {
  const isPiped = Array.isArray(stdio)
    ? stdio.length === 3 && stdio.every((one) => one === "pipe")
    : stdio !== "inherit";
  return file === "git" && isPiped && !args.some((word) => word.includes("\0"));
}

function runsInShell(file: string, args: readonly string[], options: SpawnOptions): boolean {
  return (file === "tmux" || canBeSmall(file, args, options)) && canRunInShell(file, options);
}

// A setup file runs for each test file, a process may run many.
const CHANGED = Symbol.for("jpg.test.start-small");
if (process.env["JPG_TEST_PROCESSES"] !== "1" && !(CHANGED in childProcess)) {
  Object.assign(childProcess, {
    [CHANGED]: true,
    spawn(file: string, args: readonly string[], options: SpawnOptions = {}) {
      if (!canBeSmall(file, args, options)) return spawn(file, args, options);
      const isFiled = isShort(args) && options.stdio !== "ignore" && canRunInShell(file, options);
      return isFiled ? spawnInShell(file, args, options) : startSmall(file, args, options);
    },
    spawnSync: (file: string, args: readonly string[], options: RunSyncOptions = {}) =>
      runsInShell(file, args, options) ? runInShell(file, args, options) : spawnSync(file, args, options as object),
    execFileSync(file: string, args: readonly string[], options: RunSyncOptions = {}) {
      if (!runsInShell(file, args, options)) return execFileSync(file, args, options as object);
      const { stdout, stderr, status, signal } = runInShell(file, args, options);
      if (status !== 0) {
        const message = `Command failed: ${[file, ...args].join(" ")}\n${stderr.toString()}`;
        throw Object.assign(new Error(message), { status, signal, stdout, stderr });
      }
      return options.encoding === undefined ? stdout : stdout.toString(options.encoding);
    },
  });
  syncBuiltinESMExports();
}

// Runs programs to their end from a shell that waits for them: there is no smaller process to start another from. What a
// program reads and prints are files, so that the shell has nothing to do but to start it.
import { type ChildProcess, execFileSync, type SpawnOptions, type SpawnSyncReturns, spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import {
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { Socket } from "node:net";
import { constants, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { PassThrough, Writable } from "node:stream";

interface Shell {
  readonly folder: string;
  /** Names of files with what is to be run. */
  readonly jobs: number;
  /** The exit code of a program that this process waits for. */
  readonly answers: number;
  readonly waiting: Map<number, FiledProgram>;
}

/** What the shell is given for each job: descriptors 3 and 4 are for what comes of it. */
const LOOP = 'exec 3>told 4>answers; while read -r job; do . "./$job"; done <jobs';

let shell: Shell | undefined;
let count = 0;

function openShell(): Shell {
  if (shell !== undefined) return shell;
  const folder = mkdtempSync(join(tmpdir(), "jpg-shell-"));
  const names = ["jobs", "answers", "told"].map((name) => join(folder, name)) as [string, string, string];
  execFileSync("mkfifo", names);
  const helper = spawn("/bin/sh", ["-c", LOOP], { cwd: folder, env: {}, stdio: ["ignore", "ignore", "inherit"] });
  helper.unref();
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // Open for both: none of them ever ends, and nobody waits for the other side.
  const [jobs, answers, told] = names.map((name) => openSync(name, "r+")) as [number, number, number];
  const waiting = new Map<number, FiledProgram>();
  let rest = "";
  const lines = new Socket({ fd: told, writable: false }).setEncoding("utf8").on("data", (text: string) => {
    const ended = (rest + text).split("\n");
    rest = ended.pop() ?? "";
    for (const line of ended) {
      const [id, what, value] = line.split(" ");
      waiting.get(Number(id))?.take(what ?? "", Number(value));
    }
  });
  lines.unref();
  shell = { folder, jobs, answers, waiting };
  return shell;
}

/** Whether the shell can run it as Node would, up to the error of a program that is not there. */
export function canRunInShell(file: string, options: SpawnOptions): boolean {
  const { cwd = process.cwd(), env = process.env, uid, gid, detached } = options;
  if (uid !== undefined || gid !== undefined || detached === true || typeof cwd !== "string") return false;
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  if (Object.entries(env).some(([name, value]) => !/^[A-Za-z_]\w*$/.test(name) || value?.includes("\0"))) return false;
  return (env["PATH"] ?? "").split(delimiter).some((folder) => isProgram(join(folder, file)));
}

function isProgram(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true && (found.mode & 0o111) !== 0;
  } catch {
    return false; // a folder of PATH that this user may not enter
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A program as the shell runs it, in a shell of its own; its streams are files that begin with the job's number. */
function command(id: number, file: string, args: readonly string[], options: SpawnOptions): string {
  const { cwd = process.cwd(), env = process.env } = options;
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${quote(value)}`]));
  const exported = set.length === 0 ? "" : `export ${set.join(" ")}; `;
  const words = [file, ...args].map(quote).join(" ");
  const umask = process.umask().toString(8);
  // The shell's own variables are not the program's.
  const own = `umask ${umask}; cd ${quote(String(cwd))} || exit 127; unset PWD OLDPWD; ${exported}exec ${words}`;
  return `( ${own} ) <${id}.in >${id}.out 2>${id}.err 3>&- 4>&-`;
}

function begin(id: number, script: string, input: string | Uint8Array): void {
  const { folder, jobs } = openShell();
  writeFileSync(join(folder, `${id}.in`), input);
  writeFileSync(join(folder, `${id}.job`), script);
  writeSync(jobs, `${id}.job\n`);
}

function readOutput(id: number): readonly [stdout: Buffer, stderr: Buffer] {
  const { folder } = openShell();
  const output = ["out", "err"].map((name) => readFileSync(join(folder, `${id}.${name}`))) as [Buffer, Buffer];
  for (const name of ["in", "job", "out", "err"]) unlinkSync(join(folder, `${id}.${name}`));
  return output;
}

/** What a shell's `$?` says: these signals end programs, and git ends with no such code by itself. */
function endOf(status: number): { readonly status: number | null; readonly signal: NodeJS.Signals | null } {
  const signals = ["SIGINT", "SIGABRT", "SIGKILL", "SIGSEGV", "SIGPIPE", "SIGTERM"] as const;
  const signal = signals.find((name) => status === 128 + constants.signals[name]) ?? null;
  return { status: signal === null ? status : null, signal };
}

/** Runs a program to its end while nothing else goes on. */
export function runInShell(
  file: string,
  args: readonly string[],
  options: SpawnOptions & { readonly input?: string | Uint8Array },
): SpawnSyncReturns<Buffer> {
  const id = count++;
  begin(id, `${command(id, file, args, options)}\necho $? >&4\n`, options.input ?? "");
  const bytes = Buffer.alloc(1);
  let answer = "";
  while (!answer.endsWith("\n")) answer += bytes.toString("latin1", 0, readSync(openShell().answers, bytes));
  const [stdout, stderr] = readOutput(id);
  return { pid: 0, output: [null, stdout, stderr], stdout, stderr, ...endOf(Number(answer)) };
}

/** A program of which everything is known at its end, as much of a `ChildProcess` as jpg and its tests use. */
class FiledProgram extends EventEmitter {
  readonly #id = count++;
  readonly #input: Buffer[] = [];
  readonly #begin: () => void;
  #hasBegun = false;
  #wanted: NodeJS.Signals | number | undefined;
  readonly stdin: Writable;
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  pid: number | undefined;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  killed = false;

  constructor(file: string, args: readonly string[], options: SpawnOptions) {
    super();
    const run = command(this.#id, file, args, options);
    const id = this.#id;
    const script = `( { ${run} & echo "${id} pid $!"; wait $!; echo "${id} end $?"; } >&3 & )\n`;
    this.#begin = () => {
      if (this.#hasBegun) return;
      this.#hasBegun = true;
      openShell().waiting.set(id, this);
      begin(id, script, Buffer.concat(this.#input));
    };
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#input.push(chunk);
        done(this.#hasBegun ? new Error(`${file} ${args.join(" ")} was given input when it had begun`) : null);
      },
      final: (done) => {
        this.#begin();
        done();
      },
    });
    // Who gives no input need not end it.
    setImmediate(() => this.stdin.writableLength === 0 && this.#input.length === 0 && this.#begin());
  }

  take(what: string, value: number): void {
    if (what === "pid") {
      this.pid = value;
      this.emit("spawn");
      if (this.#wanted !== undefined) this.kill(this.#wanted);
      return;
    }
    openShell().waiting.delete(this.#id);
    const { status, signal } = endOf(value);
    [this.exitCode, this.signalCode] = [status, signal];
    const [stdout, stderr] = readOutput(this.#id);
    this.emit("exit", status, signal);
    const closed = [this.stdout, this.stderr].map(
      (stream) => new Promise((resolve) => (stream.closed ? resolve(null) : stream.once("close", resolve))),
    );
    void Promise.all(closed).then(() => this.emit("close", status, signal));
    this.stdin.destroy();
    if (!this.stdout.destroyed) this.stdout.end(stdout);
    if (!this.stderr.destroyed) this.stderr.end(stderr);
    // What nobody reads is passed over, as Node does.
    for (const stream of [this.stdout, this.stderr]) if (stream.readableFlowing === null) stream.resume();
  }

  kill(signal: NodeJS.Signals | number = "SIGTERM"): boolean {
    if (this.exitCode !== null || this.signalCode !== null) return false;
    this.killed = true;
    if (this.pid === undefined) this.#wanted = signal;
    else endProcess(this.pid, signal);
    return true;
  }

  ref(): void {}

  unref(): void {}
}

function endProcess(pid: number, signal: NodeJS.Signals | number): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended, and the shell is about to say so.
  }
}

/** Starts a program that is given its input at once, and whose output nobody waits for before its end. */
export function spawnInShell(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  return new FiledProgram(file, args, options) as unknown as ChildProcess;
}

// pi as it is used, with jpg's extension: in RPC mode, prompt after prompt in one process, or on a terminal. Offline, in a home of its
// own, with a model that acts as it is told (acting-model.ts).
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { PiProgram } from "../helpers/real-pi.ts";
import { openPane, type Pane } from "../helpers/tmux.ts";
import { type ActingModel, type ModelRequest, startActingModel } from "./acting-model.ts";

type Json = Record<string, unknown>;

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(ROOT, "bin/jpg.js");
const CLOSED = "http://127.0.0.1:9";

export interface PiPlaceOptions {
  readonly program: PiProgram;
  /** How the extension starts jpg; null = pi runs without it. Default: the built jpg. */
  readonly jpg?: readonly string[] | null;
  /** pi's settings. */
  readonly settings?: Json;
  readonly window?: number;
}

/** A place with a home and a project, in which pi is started any number of times. */
export interface PiPlace {
  readonly root: string;
  readonly home: string;
  readonly work: string;
  readonly store: string;
  readonly model: ActingModel;
  open(...args: readonly string[]): PiSession;
  openTerminal(...args: readonly string[]): Pane;
  /** Lets pi take a prompt without the extension, and returns what it sent. */
  resume(prompt: string): Promise<ModelRequest>;
  /** The session's file that changed last. */
  session(): string;
  /** The lines of that file. */
  lines(): readonly Json[];
  /** Runs the built jpg in the project; gives standard output. */
  jpg(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface PiSession {
  readonly child: ChildProcess;
  /** Everything that pi said, a JSON line each. */
  readonly events: readonly Json[];
  /** Sends a prompt, or an extension's command, and waits for the end; gives the newest request. */
  prompt(text: string): Promise<ModelRequest>;
  /** Sends a command that starts no turn, and waits for its answer and what the extension says then. */
  command(text: string): Promise<void>;
  /** Has pi compact. */
  compact(instructions?: string): Promise<Json>;
  /** What the extension told the user, in order. */
  told(): readonly string[];
  waitFor(found: (event: Json) => boolean, milliseconds?: number): Promise<Json>;
  quit(): Promise<void>;
  kill(): void;
}

/** Makes a place; to be closed. */
export async function createPiPlace(options: PiPlaceOptions): Promise<PiPlace> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "jpg-pi-live-")));
  const [home, work] = [join(root, "home"), join(root, "work")];
  const model = await startActingModel();
  const { program } = options;
  writePlace({ home, work, url: model.url }, options);
  const env = environment(root, program);
  const extension = options.jpg === null ? null : copyExtension(root, options.jpg ?? [process.execPath, BIN, "live"]);
  const { bin } = JSON.parse(readFileSync(join(program.folder, "package.json"), "utf8")) as { bin: { pi: string } };
  const cli = join(program.folder, bin.pi);
  const choice = ["--provider", "mock", "--model", "mock-model", "--thinking", "low", "--no-skills", "-nc"];
  const own = extension === null ? ["--no-extensions"] : ["--extension", extension];
  const children: ChildProcess[] = [];
  const panes: Pane[] = [];
  const session = (): string => newestSession(join(home, ".pi/agent/sessions"));
  return {
    root,
    home,
    work,
    model,
    store: join(work, ".git/jpg"),
    open(...args) {
      const child = spawn(program.node, [cli, "--mode", "rpc", ...choice, ...own, ...args], {
        cwd: work,
        env,
        stdio: ["pipe", "pipe", "pipe"],
      });
      children.push(child);
      return openSession(child, model, program);
    },
    openTerminal(...args) {
      const pane = openPane([program.node, cli, ...choice, ...own, ...args], { cwd: work, env, columns: 110 });
      panes.push(pane);
      return pane;
    },
    async resume(prompt) {
      const from = model.requests.length;
      const args = [cli, "-p", "--session", session(), ...choice, "--no-extensions", prompt];
      const running = run(program.node, args, { cwd: work, env, timeout: 60_000 });
      running.child.stdin?.end();
      await running;
      const request = model.requests[from];
      if (request === undefined) throw new Error("pi sent nothing when it resumed.");
      return request;
    },
    session,
    lines: () => readLines(session()),
    jpg: async (...args) => (await run(process.execPath, [BIN, ...args], { cwd: work, env, timeout: 60_000 })).stdout,
    async close() {
      for (const child of children) child.kill("SIGKILL");
      for (const pane of panes) pane.close();
      await model.close();
      await sleep(200);
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

function environment(root: string, { node }: PiProgram): Record<string, string> {
  const home = join(root, "home");
  return {
    HOME: home,
    PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
    TMPDIR: root,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    TZ: "UTC",
    CI: "1",
    PI_OFFLINE: "1",
    PI_TELEMETRY: "0",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    HTTP_PROXY: CLOSED,
    HTTPS_PROXY: CLOSED,
    ALL_PROXY: CLOSED,
    NO_PROXY: "127.0.0.1,localhost",
  };
}

function writePlace(
  { home, work, url }: { readonly home: string; readonly work: string; readonly url: string },
  { settings = {}, window = 200_000 }: PiPlaceOptions,
): void {
  const api = "anthropic-messages";
  const models = [
    { id: "mock-model", api, reasoning: true, input: ["text", "image"], contextWindow: window, maxTokens: 8000 },
  ];
  const providers = { mock: { baseUrl: url, api, apiKey: "dummy-key", models } };
  mkdirSync(join(home, ".pi/agent"), { recursive: true });
  mkdirSync(join(work, ".git"), { recursive: true });
  writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers }));
  writeFileSync(
    join(home, ".pi/agent/settings.json"),
    JSON.stringify({ compaction: { enabled: true, keepRecentTokens: 50 }, ...settings }),
  );
  for (const name of ["a", "b", "c", "d"])
    writeFileSync(
      join(work, `${name}.txt`),
      Array.from({ length: 200 }, (_, n) => `line ${n} of ${name}: kelp and sand at the pier\n`).join(""),
    );
}

/** Copies the extension, with the line that says how jpg is started. */
function copyExtension(root: string, jpg: readonly string[]): string {
  const text = readFileSync(join(ROOT, "plugins/pi/jpg.ts"), "utf8");
  const path = join(root, "extension", "jpg.ts");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replace(/^const JPG = .*$/m, `const JPG = ${JSON.stringify(jpg)};`));
  return path;
}

function newestSession(folder: string): string {
  const files = readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => path.endsWith(".jsonl"));
  const newest = files.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (newest === undefined) throw new Error("pi has written no session.");
  return newest;
}

function readLines(path: string): readonly Json[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Json]));
}

function openSession(child: ChildProcess, model: ActingModel, { scope }: PiProgram): PiSession {
  const events: Json[] = [];
  let open = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${open}${text}`.split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) events.push(JSON.parse(line) as Json);
  });
  let sent = 0;
  /** Since 1.0, pi says when it will not go on by itself. */
  const end = scope.endsWith("@mariozechner") ? "agent_end" : "agent_settled";
  const send = (command: Json): string => {
    const id = String(++sent);
    child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    return id;
  };
  const waitFrom = async (from: number, found: (event: Json) => boolean, milliseconds = 60_000): Promise<Json> => {
    for (const until = Date.now() + milliseconds; ; await sleep(30)) {
      const event = events.slice(from).find(found);
      if (event !== undefined) return event;
      if (Date.now() > until || child.exitCode !== null)
        throw new Error(`pi did not get there: ${JSON.stringify(events.slice(-5)).slice(0, 2000)}`);
    }
  };
  const isAnswer = (id: string) => (event: Json) => event["type"] === "response" && event["id"] === id;
  return {
    child,
    events,
    async prompt(text) {
      const from = events.length;
      send({ type: "prompt", message: text });
      await waitFrom(from, ({ type }) => type === end);
      await sleep(100);
      return model.requests.at(-1) as ModelRequest;
    },
    async command(text) {
      const from = events.length;
      await waitFrom(from, isAnswer(send({ type: "prompt", message: text })));
      await sleep(100);
    },
    compact: async (customInstructions) =>
      waitFrom(events.length, isAnswer(send({ type: "compact", customInstructions })), 130_000),
    told: () =>
      events.flatMap((event) =>
        event["type"] === "extension_ui_request" && event["method"] === "notify" ? [String(event["message"])] : [],
      ),
    waitFor: (found, milliseconds) => waitFrom(0, found, milliseconds),
    async quit() {
      child.stdin?.end();
      await new Promise<void>((resolve) => {
        if (child.exitCode !== null) resolve();
        else child.once("exit", () => resolve());
        setTimeout(() => child.kill("SIGTERM"), 3000).unref();
      });
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

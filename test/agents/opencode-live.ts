// OpenCode as it is used, with jpg's plug-in: its server, and what a front end asks of it. Offline, in a home of its own.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type ActingModel, type ModelRequest, startActingModel } from "./acting-model.ts";

type Json = Record<string, unknown>;

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BIN = join(ROOT, "bin/jpg.js");
const CLOSED = "http://127.0.0.1:9";

export interface OpenCodePlaceOptions {
  readonly program: string;
  /** How the plug-in starts jpg; null = OpenCode runs without it. Default: the built jpg. */
  readonly jpg?: readonly string[] | null;
}

export interface OpenCodePlace {
  readonly root: string;
  readonly work: string;
  readonly env: Readonly<Record<string, string>>;
  readonly model: ActingModel;
  /** Starts the server. */
  open(): Promise<OpenCodeServer>;
  /** The file of the edits in force for a session. */
  editsFile(session: string): string;
  /** Prints a session as `opencode export` does. */
  exported(session: string): Promise<Json>;
  /** Runs the built jpg in the project; gives standard output. */
  jpg(...args: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface OpenCodeServer {
  readonly child: ChildProcess;
  session(): Promise<string>;
  /** Says something in a session; gives the request that followed. */
  prompt(session: string, text: string): Promise<ModelRequest>;
  /** Runs a command; gives what the server answered. */
  command(session: string, command: string, words?: string): Promise<Json>;
  /** Has OpenCode summarise; gives what it asked the model. */
  summarize(session: string): Promise<ModelRequest>;
  /** Waits until the plug-in has kept what was said last. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** Makes a place; to be closed. */
export async function createOpenCodePlace(options: OpenCodePlaceOptions): Promise<OpenCodePlace> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "jpg-opencode-live-")));
  const [home, work] = [join(root, "home"), join(root, "work")];
  const model = await startActingModel();
  const env = environment(root);
  mkdirSync(join(work, ".git"), { recursive: true });
  mkdirSync(home);
  for (const name of ["a", "b", "c", "d"])
    writeFileSync(
      join(work, `${name}.txt`),
      Array.from({ length: 200 }, (_, n) => `line ${n} of ${name}: kelp and sand at the pier\n`).join(""),
    );
  const plugin = options.jpg === null ? [] : [copyPlugin(root, options.jpg ?? [process.execPath, BIN, "live"])];
  writeFileSync(join(home, "opencode.json"), JSON.stringify(configOf(model.url, plugin)));
  const servers: ChildProcess[] = [];
  return {
    root,
    work,
    env,
    model,
    async open() {
      const args = ["serve", "--port", "0", "--hostname", "127.0.0.1", "--print-logs"];
      const child = spawn(options.program, args, {
        cwd: work,
        env,
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      servers.push(child);
      return openServer(child, model);
    },
    editsFile: (session) => join(home, ".local/state/jpg/opencode", `${session}.json`),
    async exported(session) {
      const file = join(root, "exported.json");
      // Into a pipe, OpenCode prints only the beginning of a long session.
      await run("/bin/sh", ["-c", `"${options.program}" export "${session}" --pure > "${file}"`], { cwd: work, env });
      const text = readFileSync(file, "utf8");
      return JSON.parse(text.slice(text.indexOf("{"))) as Json;
    },
    jpg: async (...args) => (await run(process.execPath, [BIN, ...args], { cwd: work, env, timeout: 60_000 })).stdout,
    async close() {
      for (const child of servers) stopGroup(child);
      await model.close();
      await sleep(300);
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

function stopGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function environment(root: string): Record<string, string> {
  return {
    HOME: join(root, "home"),
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TMPDIR: root,
    LANG: "C.UTF-8",
    TZ: "UTC",
    OPENCODE_CONFIG: join(root, "home", "opencode.json"),
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    npm_config_offline: "true",
    npm_config_registry: CLOSED,
    npm_config_fetch_retries: "0",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    HTTP_PROXY: CLOSED,
    HTTPS_PROXY: CLOSED,
    ALL_PROXY: CLOSED,
    NO_PROXY: "127.0.0.1,localhost",
  };
}

function configOf(url: string, plugin: readonly string[]): Json {
  const limit = { context: 200_000, output: 4000 };
  const options = { baseURL: `${url}/v1`, apiKey: "dummy-key" };
  const models = { "mock-model": { name: "mock-model", limit, reasoning: true } };
  return {
    autoupdate: false,
    share: "disabled",
    permission: "allow",
    plugin,
    provider: { mock: { npm: "@ai-sdk/anthropic", name: "mock", options, models } },
    model: "mock/mock-model",
    small_model: "mock/mock-model",
  };
}

/** Copies the plug-in, with the line that says how jpg is started. */
function copyPlugin(root: string, jpg: readonly string[]): string {
  const text = readFileSync(join(ROOT, "plugins/opencode/jpg.js"), "utf8");
  const path = join(root, "plug-in", "jpg.js");
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replace(/^const JPG = .*$/m, `const JPG = ${JSON.stringify(jpg)};`));
  return `file://${path}`;
}

async function openServer(child: ChildProcess, model: ActingModel): Promise<OpenCodeServer> {
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
  for (const until = Date.now() + 60_000; !/http:\/\/127\.0\.0\.1:\d+/.test(log); await sleep(50))
    if (Date.now() > until) throw new Error(`OpenCode does not start: ${log}`);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0] ?? "";
  const post = async (path: string, body: Json): Promise<Json> => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(120_000),
    });
    const text = await response.text();
    return { status: response.status, ...(text.startsWith("{") ? (JSON.parse(text) as Json) : { text }) };
  };
  const named = { providerID: "mock", modelID: "mock-model" };
  const newest = (since: number): ModelRequest => {
    const request = model.requests.slice(since).at(-1);
    if (request === undefined) throw new Error(`OpenCode sent nothing: ${log.slice(-2000)}`);
    return request;
  };
  return {
    child,
    session: async () => String((await post("/session", { title: "The harbour wall" }))["id"]),
    async prompt(session, text) {
      const since = model.requests.length;
      await post(`/session/${session}/message`, { model: named, parts: [{ type: "text", text }] });
      return newest(since);
    },
    command: (session, command, words = "") =>
      post(`/session/${session}/command`, { command, arguments: words, model: "mock/mock-model" }),
    async summarize(session) {
      const since = model.others.length;
      await post(`/session/${session}/summarize`, named);
      const request = model.others.slice(since).at(-1);
      if (request === undefined) throw new Error(`OpenCode asked for no summary: ${log.slice(-2000)}`);
      return request;
    },
    settle: () => sleep(4000),
    async stop() {
      stopGroup(child);
      await sleep(300);
    },
  };
}

// Claude Code as it is used: on a terminal, with jpg's plug-in, prompts and commands typed one after the other; or in print mode
// with a stream of prompts. Offline, in a home of its own, with a model that acts as it is told (acting-model.ts).
import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
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
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { initRepository } from "../helpers/temp-repository.ts";
import { openPane, type Pane } from "../helpers/tmux.ts";
import { type ActingModel, type ModelRequest, startActingModel } from "./acting-model.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CLOSED = "http://127.0.0.1:9";
const KEY = `sk-ant-${"0".repeat(40)}MADE-UP-KEY-FOR-TESTS`;

export interface LiveOptions {
  /** The program of Claude Code. */
  readonly program: string;
  /** How the plug-in starts jpg; null = without the plug-in. Default: the built jpg. */
  readonly jpg?: readonly string[] | null;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the project, beside a.txt, b.txt and picture.png. */
  readonly files?: Readonly<Record<string, string | Buffer>>;
  readonly columns?: number;
  /** Where the plug-in is found: `--plugin-dir`, or the user's folder of skills. */
  readonly from?: "argument" | "skills";
}

/** A place with a home and a project, in which Claude Code is started any number of times. */
export interface LivePlace {
  readonly root: string;
  readonly home: string;
  readonly work: string;
  readonly store: string;
  readonly env: Readonly<Record<string, string>>;
  readonly model: ActingModel;
  /** Opens it on a terminal. */
  open(...args: readonly string[]): Promise<LiveSession>;
  /** Gives it prompts in print mode, one after the other, in one session; returns what it printed. */
  stream(prompts: readonly string[], args?: readonly string[]): Promise<readonly Printed[]>;
  /** Runs it once in print mode to its end. */
  print(...args: readonly string[]): Promise<string>;
  /** Puts a session where Claude Code keeps those of the project; gives the id to resume. */
  place(content: Buffer): string;
  /** The session's file that changed last. */
  session(): string;
  /** Runs the built jpg in the project; gives standard output. */
  jpg(...args: readonly string[]): Promise<string>;
  /** What Claude Code wrote into its log. */
  log(): string;
  close(): Promise<void>;
}

export interface LiveSession {
  readonly pane: Pane;
  /** Types a prompt and waits for the end of the turn; gives its last request. */
  prompt(text: string): Promise<ModelRequest>;
  /** Types a command. */
  command(text: string): Promise<void>;
  /** Waits until what is visible matches; gives it. */
  shows(wanted: string | RegExp, milliseconds?: number): Promise<string>;
  /** Leaves with Ctrl+C, as users do. */
  quit(): Promise<void>;
  /** Ends the program by SIGKILL. */
  kill(): void;
}

/** A line of print mode's stream. */
export interface Printed {
  readonly type: string;
  readonly subtype?: string;
  readonly [field: string]: unknown;
}

const BIN = join(ROOT, "bin/jpg.js");

/** Makes a place; to be closed. */
export async function createLivePlace(options: LiveOptions): Promise<LivePlace> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "jpg-live-")));
  const [home, work] = [join(root, "home"), join(root, "work")];
  const model = await startActingModel();
  const env = environment(root, model.url, options.env ?? {});
  prepareHome(home, work);
  prepareWork(work, options.files ?? {});
  const plugin = options.jpg === null ? null : copyPlugin(root, home, options);
  const log = join(root, "log.txt");
  const fixed = [
    ...(plugin === null ? [] : ["--plugin-dir", plugin]),
    ...["--model", "claude-sonnet-4-5", "--debug-file", log],
    ...["--allowedTools", "Read,Bash(echo *),Bash(cat *),mcp__jpg__search,mcp__jpg__show"],
    ...(options.args ?? []),
  ];
  const panes: Pane[] = [];
  const start = (args: readonly string[]): ChildProcess =>
    spawn(options.program, [...fixed, ...args], { cwd: work, env, stdio: ["pipe", "pipe", "pipe"] });
  return {
    root,
    home,
    work,
    env,
    model,
    store: join(work, ".git/jpg"),
    async open(...args) {
      const pane = openPane([options.program, ...fixed, ...args], { cwd: work, env, columns: options.columns ?? 110 });
      panes.push(pane);
      return openSession(pane, { model, log, program: options.program });
    },
    stream: (prompts, args = []) =>
      streamPrompts(
        start(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", ...args]),
        prompts,
      ),
    print: (...args) => toEnd(start(["-p", ...args])),
    place(content) {
      const id =
        /"sessionId":"([0-9a-f-]{36})"/.exec(content.toString())?.[1] ?? "7f000000-0000-4000-8000-000000000001";
      write(join(home, ".claude/projects", work.replace(/[^A-Za-z0-9]/g, "-"), `${id}.jsonl`), content);
      return id;
    },
    session: () => newestSession(home),
    jpg: (...args) =>
      toEnd(spawn(process.execPath, [BIN, ...args], { cwd: work, env, stdio: ["pipe", "pipe", "pipe"] })),
    log: () => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    async close() {
      for (const pane of panes) pane.close();
      await model.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

function environment(root: string, url: string, more: Readonly<Record<string, string>>): Record<string, string> {
  return {
    HOME: join(root, "home"),
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    TERM: "screen-256color",
    LANG: "C.UTF-8",
    TZ: "UTC",
    TMPDIR: root,
    HTTP_PROXY: CLOSED,
    HTTPS_PROXY: CLOSED,
    ALL_PROXY: CLOSED,
    NO_PROXY: "127.0.0.1,localhost",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ALLOW_PROTOCOL: "file",
    GIT_SSH_COMMAND: "false",
    GIT_AUTHOR_NAME: "Ada Test",
    GIT_AUTHOR_EMAIL: "ada@example.com",
    GIT_COMMITTER_NAME: "Ada Test",
    GIT_COMMITTER_EMAIL: "ada@example.com",
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: KEY,
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
    ...more,
  };
}

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** No questions at the start: the key is approved, the folder trusted. */
function prepareHome(home: string, work: string): void {
  const projects = { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, allowedTools: [] } };
  const customApiKeyResponses = { approved: [KEY.slice(-20)], rejected: [] };
  const known = { hasCompletedOnboarding: true, lastOnboardingVersion: "9.0.0", theme: "dark", numStartups: 5 };
  write(join(home, ".claude.json"), JSON.stringify({ ...known, customApiKeyResponses, projects }));
  write(join(home, ".claude/settings.json"), "{}");
}

/** Two pixels by two. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg==",
  "base64",
);

function prepareWork(work: string, files: Readonly<Record<string, string | Buffer>>): void {
  const lines = (count: number, words: string): string =>
    Array.from({ length: count }, (_, line) => `${words} ${line}`).join("\n");
  write(join(work, "a.txt"), lines(300, "A long line of the harbour's register, number"));
  write(join(work, "b.txt"), "short\n");
  write(join(work, "picture.png"), PICTURE);
  for (const [name, content] of Object.entries(files)) write(join(work, name), content);
  initRepository(work);
}

/** Copies the plug-in, as its installation does, with the way to start jpg; Claude Code writes types into its folder. */
function copyPlugin(root: string, home: string, { jpg, from }: LiveOptions): string | null {
  const folder = from === "skills" ? join(home, ".claude/skills/jpg") : join(root, "plugin");
  cpSync(join(ROOT, "plugins/claude-code"), folder, { recursive: true });
  const module = join(folder, "hooks/register.js");
  const line = `const JPG = ${JSON.stringify(jpg ?? [process.execPath, BIN, "live"])};`;
  writeFileSync(
    module,
    readFileSync(module, "utf8").replace(/^const JPG = .*$/m, () => line),
  );
  return from === "skills" ? null : folder;
}

function newestSession(home: string): string {
  const folder = join(home, ".claude/projects");
  const files = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
  const sessions = files.filter((name) => name.endsWith(".jsonl") && !name.includes("subagents"));
  const byTime = sessions.map((name) => join(folder, name)).sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
  return byTime.at(-1) ?? "";
}

async function waitFor(what: string, isThere: () => boolean, milliseconds = 60_000): Promise<void> {
  const end = Date.now() + milliseconds;
  while (!isThere()) {
    if (Date.now() > end) throw new Error(`Waited ${milliseconds / 1000} s for ${what}.`);
    await sleep(100);
  }
}

interface SessionParts {
  readonly model: ActingModel;
  readonly log: string;
  readonly program: string;
}

const WORKING = /esc to interrupt|^[✢✳✶✻✽·*] \S+…/m;

async function openSession(pane: Pane, { model, program }: SessionParts): Promise<LiveSession> {
  const shows: LiveSession["shows"] = async (wanted, milliseconds = 60_000) => {
    let seen = "";
    const isThere = (): boolean => {
      seen = pane.visible();
      return typeof wanted === "string" ? seen.includes(wanted) : wanted.test(seen);
    };
    await waitFor(String(wanted), isThere, milliseconds).catch((error: unknown) => {
      throw new Error(`${(error as Error).message} The screen:\n${seen}`, { cause: error });
    });
    return seen;
  };
  const type = async (text: string): Promise<void> => {
    pane.type("-l", "--", text);
    await sleep(400);
    pane.type("Enter");
  };
  await shows("❯");
  await sleep(1000);
  return {
    pane,
    shows,
    async prompt(text) {
      const before = model.requests.length;
      await type(text);
      await waitFor(`a request after "${text}"`, () => model.requests.length > before);
      let quiet = 0;
      await waitFor("the end of the turn", () => {
        quiet = WORKING.test(pane.visible()) ? 0 : quiet + 1;
        return quiet > 5;
      });
      return model.requests.at(-1) as ModelRequest;
    },
    async command(text) {
      await type(text);
      await sleep(500);
    },
    async quit() {
      pane.type("C-c");
      await sleep(300);
      pane.type("C-c");
      await shows("left with", 20_000);
    },
    kill: () => killChild(pane, program),
  };
}

/** Kills the program that runs in a pane; nothing else is touched. */
function killChild(pane: Pane, program: string): void {
  const shell = pane.pid();
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  for (const pid of children) {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    if (parent === shell && readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(program))
      process.kill(Number(pid), "SIGKILL");
  }
}

async function streamPrompts(child: ChildProcess, prompts: readonly string[]): Promise<readonly Printed[]> {
  const printed: Printed[] = [];
  let rest = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("{")) printed.push(JSON.parse(line) as Printed);
  });
  const closed = new Promise((resolve) => child.once("close", resolve));
  const results = (): number => printed.filter(({ type }) => type === "result").length;
  for (const [index, content] of prompts.entries()) {
    child.stdin?.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    await waitFor(`the result of "${content}"`, () => results() > index || child.exitCode !== null, 120_000);
  }
  await sleep(300);
  child.stdin?.end();
  await Promise.race([closed, sleep(15_000)]);
  child.kill("SIGKILL");
  return printed;
}

function toEnd(child: ChildProcess): Promise<string> {
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (err += chunk.toString()));
  child.stdin?.end();
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${basename(child.spawnfile)} left with ${code}: ${out}${err}`)),
    );
  });
}

/**
 * What a request says: its words, calls and results, without thoughts and what Claude Code puts in; a line for all consecutive
 * messages of one role.
 */
export function textOfRequest(request: Pick<ModelRequest, "messages"> | undefined): readonly string[] {
  const own = /^<(?:system-reminder|local-command-caveat|command-name|local-command-stdout)>/;
  const lines: { readonly role: string; readonly parts: string[] }[] = [];
  for (const { role, content } of request?.messages ?? []) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const parts = blocks.flatMap((block) => {
      const text = String((block as { text?: unknown }).text ?? "").trim();
      if (block.type === "text") return text === "" || own.test(text) ? [] : [text];
      if (block.type === "tool_use") return [`call ${String(block["name"])} ${JSON.stringify(block["input"])}`];
      return block.type === "tool_result" ? [`result ${resultText(block["content"])}`] : [];
    });
    const last = lines.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else if (parts.length > 0) lines.push({ role, parts });
  }
  return lines.map(({ role, parts }) => `${role}: ${parts.join(" | ")}`);
}

function resultText(content: unknown): string {
  const parts = Array.isArray(content)
    ? (content as readonly { type: string; text?: string }[])
    : [{ type: "text", text: String(content) }];
  const texts = parts.map(({ type, text }) => (type === "text" ? (text ?? "") : `[${type}]`));
  return texts
    .join("\n")
    .replaceAll(/\s*<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .trim();
}

// The real pi, in each version that this machine has (JPG_AGENTS_DIR/pi, JPG_AGENTS_DIR/pi-next, and the mock model in ../shared or
// JPG_CORPUS): lets it continue a session, offline, and returns what it sent to its model.
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";

const run = promisify(execFile);

type Json = Record<string, unknown>;

export interface PiProgram {
  /** As its package names it. */
  readonly version: string;
  /** Folder of the package. */
  readonly folder: string;
  /** Folder of the packages that it needs. */
  readonly scope: string;
  /** The Node that it runs on. */
  readonly node: string;
}

/** The packages of pi: up to 0.73, and since. */
const PACKAGES = [
  { name: "pi", scope: "@mariozechner" },
  { name: "pi-next", scope: "@earendil-works" },
];

/** Newer versions need a newer Node than these tests. */
function nodeFor(name: string): string {
  const newer = join(agentsFolder ?? "", "node22/node_modules/.bin/node");
  return name === "pi-next" && existsSync(newer) ? newer : process.execPath;
}

/** The installed versions, oldest first. */
export const piPrograms: readonly PiProgram[] = PACKAGES.flatMap(({ name, scope: owner }) => {
  const scope = join(agentsFolder ?? "", name, "node_modules", owner);
  const folder = join(scope, "pi-coding-agent");
  if (agentsFolder === undefined || !existsSync(join(folder, "package.json"))) return [];
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return [{ version, folder, scope, node: nodeFor(name) }];
});

interface Resumed {
  /** What the agent sent, with the prompt. */
  readonly withPrompt: readonly SentMessage[];
  /** The same without the prompt. */
  readonly sent: readonly SentMessage[];
}

interface Mock {
  readonly url: string;
  readonly records: readonly { readonly api: string | null; readonly body: { readonly messages: readonly Json[] } }[];
  close(): Promise<void>;
}

async function startMock(out: string): Promise<Mock> {
  const tool = (await import(pathToFileURL(join(sharedFolder, "agents/mock-llm.mjs")).href)) as {
    startMock(options: Json): Promise<Mock>;
  };
  return tool.startMock({ out, ttlSeconds: 600 });
}

/** Lets pi take a prompt in a copy of a session, and puts the session that it left in the file's place. */
export async function letPiGoOn(
  path: string,
  { prompt, program }: { readonly prompt: string; readonly program: PiProgram | undefined },
): Promise<Resumed> {
  if (program === undefined) throw new Error("No pi is installed.");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "jpg-e2e-")));
  const mock = await startMock(join(folder, "requests"));
  try {
    const text = await readFile(path, "utf8");
    const session = join(folder, "work", "session.jsonl");
    await mkdir(dirname(session));
    // pi wants a directory that exists: the copy's header names another, and its own comes back.
    await writeFile(session, withDirectory(text, dirname(session)));
    await resumePi(program, { folder, session, prompt, made: lastAnswer(text), url: mock.url });
    await writeFile(path, withDirectory(await readFile(session, "utf8"), String(headerOf(text)["cwd"])));
    const request = mock.records.find(
      ({ api, body }) => api === "anthropic-messages" && JSON.stringify(body).includes(prompt),
    );
    if (request === undefined) throw new Error("pi sent no request with the prompt.");
    const body: unknown = JSON.parse(JSON.stringify(request.body.messages).split(folder).join("<RUN>"));
    return {
      sent: await sentHistory(body, { agent: "pi", prompt }),
      withPrompt: withoutMark(await sentHistory(body, { agent: "pi" })),
    };
  } finally {
    await mock.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function withoutMark(messages: readonly SentMessage[]): readonly SentMessage[] {
  return messages.map((message) => ({
    ...message,
    blocks: message.blocks.map(({ prompt: _, ...block }) => block as SentBlock),
  }));
}

async function resumePi(
  { node, folder: pi }: PiProgram,
  given: {
    readonly folder: string;
    readonly session: string;
    readonly prompt: string;
    readonly made: { readonly provider: string; readonly model: string };
    readonly url: string;
  },
): Promise<void> {
  const { folder, session, prompt, made, url } = given;
  const { bin } = JSON.parse(await readFile(join(pi, "package.json"), "utf8")) as { bin: { pi: string } };
  const home = join(folder, "home");
  await mkdir(join(home, ".pi/agent"), { recursive: true });
  const api = "anthropic-messages";
  const limits = { contextWindow: 2_000_000, maxTokens: 8000 };
  const models = [{ id: made.model, api, reasoning: true, input: ["text", "image"], ...limits }];
  const providers = { [made.provider]: { baseUrl: url, api, apiKey: "dummy-key-for-mock", models } };
  await writeFile(join(home, ".pi/agent/models.json"), JSON.stringify({ providers }));
  const choice = ["--provider", made.provider, "--model", made.model, "--no-extensions", "--no-skills", "-nc"];
  // A closed port: nothing but the mock can be reached.
  const proxies = Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].map((key) => [key, "http://127.0.0.1:9"]),
  );
  const running = run(node, [join(pi, bin.pi), "-p", "--session", session, ...choice, prompt], {
    cwd: dirname(session),
    timeout: 240_000,
    env: {
      ...proxies,
      HOME: home,
      PATH: `${dirname(node)}:/usr/local/bin:/usr/bin:/bin`,
      NO_PROXY: "127.0.0.1,localhost",
      TMPDIR: folder,
      TZ: "UTC",
      LANG: "C.UTF-8",
      CI: "1",
      PI_OFFLINE: "1",
      PI_TELEMETRY: "0",
    },
  });
  running.child.stdin?.end(); // pi waits for its end
  await running;
}

/** The provider and model of the newest answer: pi drops reasoning of any other. */
function lastAnswer(text: string): { readonly provider: string; readonly model: string } {
  const lines = text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [JSON.parse(line) as Json]));
  const messages = lines.map(({ message }) => message as Json | undefined);
  const last = messages.findLast((message) => message?.["role"] === "assistant");
  return { provider: String(last?.["provider"] ?? "mock"), model: String(last?.["model"] ?? "mock-model") };
}

function headerOf(text: string): Json {
  return JSON.parse(text.slice(0, text.indexOf("\n"))) as Json;
}

function withDirectory(text: string, cwd: string): string {
  return `${JSON.stringify({ ...headerOf(text), cwd })}${text.slice(text.indexOf("\n"))}`;
}

interface PiManager {
  buildSessionContext(entries: readonly Json[]): { readonly messages: readonly Json[] };
  migrateSessionEntries(entries: Json[]): void;
}
interface PiMessages {
  convertToLlm(messages: readonly Json[]): readonly Json[];
}
interface PiTransform {
  transformMessages(messages: readonly Json[], model: Json): readonly Json[];
}

/** What pi's own code makes of a session's lines, before an API's form: a line for each text, call and result. */
export async function loadPiCode({ folder, scope }: PiProgram): Promise<(lines: readonly Json[]) => readonly string[]> {
  const load = async <T>(path: string): Promise<T> => (await import(pathToFileURL(path).href)) as T;
  const transform = ["api", "providers"]
    .map((at) => join(scope, `pi-ai/dist/${at}/transform-messages.js`))
    .find(existsSync);
  const manager = await load<PiManager>(join(folder, "dist/core/session-manager.js"));
  const rendering = await load<PiMessages>(join(folder, "dist/core/messages.js"));
  const { transformMessages } = await load<PiTransform>(transform ?? "");
  const model = { provider: "anthropic", api: "anthropic-messages", id: "claude-sonnet-4-5", input: ["text", "image"] };
  return (lines) => {
    const entries = JSON.parse(JSON.stringify(lines)) as Json[];
    manager.migrateSessionEntries(entries);
    const context = manager.buildSessionContext(entries.filter(({ type }) => type !== "session"));
    return transformMessages(rendering.convertToLlm(context.messages), model).flatMap(wordsOfMessage);
  };
}

function wordsOfMessage({ role, content, toolCallId }: Json): readonly string[] {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly Json[]);
  const texts = blocks.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []));
  if (role === "system") return [];
  if (role === "toolResult") return [`user: result ${String(toolCallId)} ${texts.join("\n")}`];
  return blocks.flatMap(({ type, text, id }) =>
    type === "text" && String(text).trim() !== ""
      ? [`${String(role)}: ${String(text)}`]
      : type === "toolCall"
        ? [`${String(role)}: call ${String(id)}`]
        : [],
  );
}

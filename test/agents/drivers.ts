// The agents, and how each is given a session and a prompt offline: in a fresh home, with dummy keys, a model on loopback, and
// every other address closed.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import type { OwnWords } from "./sent-messages.ts";

/** A case of conformance/, as far as a driver looks at it. */
export interface SessionCase {
  readonly agent: string;
  /** The session. */
  readonly path: string;
  /** The folder of several files, and the session's path in it; absent = it is a single file. */
  readonly several?: { readonly folder: string; readonly file: string };
  readonly model?: string;
}

/** A run: its home and working directory are fresh. */
export interface Place {
  readonly home: string;
  readonly work: string;
  /** The model server. */
  readonly url: string;
}

export interface Run {
  /** Each is a start of the program; the last one sends the prompt. */
  readonly runs: readonly (readonly string[])[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Driver {
  /** The packages that hold the agent, as paths below its folder of installed agents; the first that exists counts. */
  readonly packages: readonly string[];
  /** The program, below its folder. */
  readonly program: readonly string[];
  /** Places a session; returns how it is resumed. */
  prepare(session: SessionCase, place: Place, prompt: string): Run;
  readonly own: OwnWords;
}

type Json = Readonly<Record<string, unknown>>;

const KEY = "dummy-key";

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Puts a session's file, or its folder of files, where the agent keeps sessions; returns the path of the file. */
function placeSession({ path, several }: SessionCase, folder: string, name: string): string {
  if (several === undefined) {
    write(join(folder, name), readFileSync(path));
    return join(folder, name);
  }
  for (const entry of readdirSync(several.folder, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    if (entry.isFile()) write(join(folder, relative(several.folder, source)), readFileSync(source));
  }
  return join(folder, several.file);
}

/** The lines of a session that are objects. */
function readLines(path: string): readonly Json[] {
  const text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  return text.split(/\r?\n/).flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return value !== null && typeof value === "object" ? [value as Json] : [];
    } catch {
      return [];
    }
  });
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

const claudeCode: Driver = {
  packages: ["@anthropic-ai/claude-code"],
  program: [`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`, ".bin/claude"],
  prepare(session, { home, work, url }, prompt) {
    const named =
      session.several === undefined
        ? readLines(session.path).map((line) => line["sessionId"])
        : [basename(session.path)];
    const id =
      UUID.exec(String(named.find((each) => UUID.test(String(each)))))?.[0] ?? "7f000000-0000-4000-8000-000000000001";
    placeSession(session, join(home, ".claude/projects", work.replace(/[^A-Za-z0-9]/g, "-")), `${id}.jsonl`);
    return {
      runs: [["-p", "--resume", id, prompt, "--model", session.model ?? "claude-sonnet-4-5"]],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: `sk-ant-${KEY}`,
        DISABLE_AUTO_COMPACT: "1",
        DISABLE_TELEMETRY: "1",
        DISABLE_ERROR_REPORTING: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      },
    };
  },
  own: {
    bridge: /^No response requested\.$/,
    madeUp: /^\[Tool (?:call|result|use) (?:interrupted|missing)|^\[Orphaned tool result/,
    queued:
      /The user sent a new message while you were working:\n([\s\S]*?)(?:\n\n(?:This is how|IMPORTANT: After completing)|\s*<\/system-reminder>|$)/,
  },
};

const codex: Driver = {
  packages: ["@openai/codex"],
  program: [".bin/codex"],
  prepare(session, { home, url }, prompt) {
    const lines = readLines(session.path);
    const meta = (lines.find(({ type }) => type === "session_meta")?.["payload"] ?? {}) as Json;
    const id = UUID.exec(String(meta["id"] ?? lines[0]?.["id"]))?.[0] ?? UUID.exec(basename(session.path))?.[0] ?? "";
    const turns = lines.flatMap(({ type, payload }) => (type === "turn_context" ? [(payload as Json)["model"]] : []));
    const model = session.model ?? String(turns.at(-1) ?? "made-up-model");
    const provider = String(meta["model_provider"] ?? "mock");
    // Codex refuses to go on with another provider than the session's; its own is only moved.
    const table = `[model_providers.${JSON.stringify(provider)}]\nname = "mock"\nbase_url = "${url}/v1"\nenv_key = "MOCK_KEY"\nwire_api = "responses"\nrequest_max_retries = 0\nstream_max_retries = 0`;
    const settings = [
      `model = ${JSON.stringify(model)}\nmodel_provider = ${JSON.stringify(provider)}`,
      provider === "openai" ? `openai_base_url = "${url}/v1"` : "",
      'approval_policy = "never"\nsandbox_mode = "read-only"\ncheck_for_update_on_startup = false',
      "model_context_window = 2000000\nmodel_auto_compact_token_limit = 100000000",
      '[analytics]\nenabled = false\n[otel]\nexporter = "none"',
      provider === "openai" ? "" : table,
    ];
    write(join(home, ".codex/config.toml"), `${settings.join("\n")}\n`);
    const name = session.several === undefined ? `2026/01/02/rollout-2026-01-02T03-04-05-${id}.jsonl` : "";
    placeSession(session, join(home, ".codex/sessions"), name);
    return {
      runs: [["exec", "--skip-git-repo-check", "resume", id, prompt]],
      env: { CODEX_HOME: join(home, ".codex"), MOCK_KEY: KEY, OPENAI_API_KEY: KEY, CODEX_API_KEY: KEY },
    };
  },
  own: {
    madeUp: /^aborted$/,
  },
};

const pi: Driver = {
  packages: ["@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"],
  program: [".bin/pi"],
  prepare(session, { home, work, url }, prompt) {
    const apis = ["anthropic-messages", "openai-completions", "openai-responses"];
    const answers = readLines(session.path).flatMap(({ message }) =>
      (message as Json)?.["role"] === "assistant" ? [message as Json] : [],
    );
    const last = answers.at(-1) ?? {};
    const api = apis.includes(String(last["api"])) ? String(last["api"]) : "anthropic-messages";
    const provider = String(last["provider"] ?? "mock");
    const id = session.model ?? String(last["model"] ?? "made-up-model");
    const baseUrl = api === "anthropic-messages" ? url : `${url}/v1`;
    const sizes = { contextWindow: 2_000_000, maxTokens: 8000 };
    // It sends reasoning only to the provider, API and model that gave it.
    const models = [{ id, api, reasoning: true, input: ["text", "image"], ...sizes }];
    write(
      join(home, ".pi/agent/models.json"),
      JSON.stringify({ providers: { [provider]: { baseUrl, api, apiKey: KEY, models } } }),
    );
    const path = placeSession(session, join(home, "sessions"), "session.jsonl");
    const text = readFileSync(path, "utf8");
    // It wants a working directory that exists.
    writeFileSync(path, text.replace(/"cwd":"(?:[^"\\]|\\.)*"/, `"cwd":${JSON.stringify(work)}`));
    const off = ["--no-extensions", "--no-skills", "-nc"];
    return {
      runs: [["-p", "--session", path, "--provider", provider, "--model", id, ...off, prompt]],
      env: { PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    };
  },
  own: { madeUp: /^No result provided$/ },
};

const openCode: Driver = {
  packages: ["opencode-ai"],
  program: [".bin/opencode"],
  prepare(session, { home, work, url }, prompt) {
    const document = JSON.parse(readFileSync(session.path, "utf8")) as {
      readonly info: Json;
      readonly messages: readonly { readonly info: Json }[];
    };
    const models = document.messages.flatMap(({ info }) => (info["role"] === "assistant" ? [info] : []));
    const id = session.model ?? String(models.at(-1)?.["modelID"] ?? "made-up-model");
    const provider = String(models.at(-1)?.["providerID"] ?? "mock");
    const config = join(home, "opencode.json");
    const model = {
      name: id,
      attachment: true,
      modalities: { input: ["text", "image"], output: ["text"] },
      limit: { context: 2_000_000, output: 4000 },
    };
    const options = { baseURL: `${url}/v1`, apiKey: KEY };
    const given = { npm: "@ai-sdk/openai-compatible", name: provider, options, models: { [id]: model } };
    const named = { model: `${provider}/${id}`, small_model: `${provider}/${id}` };
    write(config, JSON.stringify({ autoupdate: false, share: "disabled", provider: { [provider]: given }, ...named }));
    const copy = join(home, "session.json");
    // It wants a project directory that exists.
    write(copy, JSON.stringify({ ...document, info: { ...document.info, directory: work } }));
    return {
      runs: [
        ["import", copy],
        ["run", "-s", String(document.info["id"]), "-m", named.model, prompt],
      ],
      env: {
        OPENCODE_CONFIG: config,
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
        npm_config_registry: "http://127.0.0.1:9",
        npm_config_fetch_retries: "0",
      },
    };
  },
  own: { madeUp: /^\[Tool execution was interrupted\]$/ },
};

const gemini: Driver = {
  packages: ["@google/gemini-cli"],
  program: [".bin/gemini"],
  prepare(session, { home, work, url }, prompt) {
    const isDocument = session.path.endsWith(".json");
    const [first] = isDocument ? [JSON.parse(readFileSync(session.path, "utf8")) as Json] : readLines(session.path);
    const id = String(first?.["sessionId"]);
    const folder = join(home, ".gemini");
    write(
      join(folder, "settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      }),
    );
    write(join(folder, "projects.json"), JSON.stringify({ projects: { [work]: "project" } }));
    write(join(folder, "tmp/project/.project_root"), work);
    const name = `session-2026-01-02T03-04-${id.slice(0, 8)}.${isDocument ? "json" : "jsonl"}`;
    placeSession(session, join(folder, "tmp/project/chats"), name);
    return {
      runs: [["-m", session.model ?? "gemini-2.5-flash", "--resume", id, "-p", prompt]],
      env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_NO_RELAUNCH: "true" },
    };
  },
  own: {},
};

const copilot: Driver = {
  packages: ["@github/copilot"],
  program: [".bin/copilot"],
  prepare(session, { home, url }, prompt) {
    const start = readLines(session.path).find(({ type }) => type === "session.start")?.["data"] as Json | undefined;
    const id = String(start?.["sessionId"]);
    const model = session.model ?? String(start?.["selectedModel"] ?? "claude-sonnet-4-5");
    placeSession(session, join(home, ".copilot/session-state"), join(id, "events.jsonl"));
    return {
      runs: [[`--resume=${id}`, "-p", prompt, "--allow-all-tools", "--no-color"]],
      env: {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_PROVIDER_TYPE: "anthropic",
        COPILOT_PROVIDER_BASE_URL: url,
        COPILOT_PROVIDER_API_KEY: KEY,
        COPILOT_MODEL: model,
        // It unpacks 235 MB there, once for all runs.
        XDG_CACHE_HOME: join(tmpdir(), "jpg-copilot-cache"),
      },
    };
  },
  own: {
    madeUp: /^(?:Tool execution was interrupted before|The execution of this tool, or a previous tool was interrupted)/,
  },
};

/** By the names of jpg's formats. */
export const DRIVERS: Readonly<Record<string, Driver>> = {
  "claude-code": claudeCode,
  codex,
  "copilot-cli": copilot,
  "gemini-cli": gemini,
  opencode: openCode,
  pi,
};

/** An agent as it is installed. */
export interface InstalledAgent {
  readonly program: string;
  readonly version: string;
  /** A folder with another Node, to be found first; absent = this one will do. */
  readonly node?: string;
}

/** Finds an agent below a folder with one folder for each; null = it is not there. `copilot-cli` may be in `copilot`. */
export function findAgent(name: string, folder: string): InstalledAgent | null {
  const driver = DRIVERS[name];
  const modules = [name, name.replace(/-cli$/, "")]
    .map((each) => join(folder, each, "node_modules"))
    .find((each) => existsSync(each));
  if (driver === undefined || modules === undefined) return null;
  const program = driver.program.map((each) => join(modules, each)).find((each) => existsSync(each));
  const found = driver.packages.map((each) => join(modules, each, "package.json")).find((each) => existsSync(each));
  if (program === undefined || found === undefined) return null;
  const { version, engines } = JSON.parse(readFileSync(found, "utf8")) as {
    readonly version: string;
    readonly engines?: { readonly node?: string };
  };
  const wanted = Number(/\d+/.exec(engines?.node ?? "")?.[0] ?? 0);
  const newer = join(folder, "node22/node_modules/.bin");
  const isOld = Number(process.versions.node.split(".")[0]) < wanted;
  return isOld && existsSync(newer) && readdirSync(newer).includes("node")
    ? { program, version, node: newer }
    : { program, version };
}

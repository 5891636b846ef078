// The real agents, where this machine has them (JPG_AGENTS_DIR, and the mock server in ../shared or JPG_CORPUS), each with its own
// settings in the home of a sandbox: they are run as a user runs them, with a model that answers offline.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { sharedFolder } from "./corpus.ts";
import { agentsFolder } from "./real-agent.ts";
import type { Sandbox } from "./run-jpg.ts";

const mockFile = join(sharedFolder, "agents", "mock-llm.mjs");

export interface Mock {
  readonly url: string;
  readonly records: readonly { readonly body?: unknown }[];
  close(): Promise<void>;
}

/** Starts a model that answers every request with a short text; to be closed. */
export async function startModel(): Promise<Mock> {
  const { startMock } = (await import(pathToFileURL(mockFile).href)) as {
    startMock: (options: { reply: string }) => Promise<Mock>;
  };
  return startMock({ reply: "That is my answer." });
}

interface Agent {
  /** The folder that it was installed in; absent = its name. */
  readonly folder?: string;
  /** Its program below the folder that it was installed in. */
  readonly program: readonly string[];
  readonly env: (url: string, home: string) => Record<string, string>;
  /** Writes what it needs to ask the mock. */
  readonly prepare?: (home: string, url: string) => void;
}

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
};

const AGENTS: Readonly<Record<string, Agent>> = {
  "copilot-cli": {
    folder: "copilot",
    program: ["node_modules/.bin/copilot"],
    env: (url) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_TYPE: "anthropic",
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: "dummy",
      COPILOT_MODEL: "claude-sonnet-4-5",
      // Else it compacts long sessions before it sends anything.
      COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "5000000",
      // It unpacks 235 MB there, once for all runs.
      XDG_CACHE_HOME: join(tmpdir(), "jpg-copilot-cache"),
    }),
  },
  "claude-code": {
    program: ["node_modules/@anthropic-ai", `claude-code-${process.platform}-${process.arch}`, "claude"],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "sk-ant-dummy-key-for-mock",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // Else the tools of servers are not in the request.
      ENABLE_TOOL_SEARCH: "false",
    }),
  },
  codex: {
    program: ["node_modules/.bin/codex"],
    env: (_url, home) => ({ CODEX_HOME: join(home, ".codex"), MOCK_API_KEY: "dummy" }),
    prepare: (home, url) =>
      write(
        join(home, ".codex", "config.toml"),
        [
          'model = "mock-model"\nmodel_provider = "mock"\napproval_policy = "never"\nsandbox_mode = "read-only"',
          'check_for_update_on_startup = false\n[analytics]\nenabled = false\n[otel]\nexporter = "none"',
          `[model_providers.mock]\nname = "mock"\nbase_url = "${url}/v1"\nenv_key = "MOCK_API_KEY"\nwire_api = "responses"`,
          "request_max_retries = 0\nstream_max_retries = 0\n",
        ].join("\n"),
      ),
  },
  "gemini-cli": {
    program: ["node_modules/.bin/gemini"],
    env: (url) => ({
      GEMINI_API_KEY: "dummy",
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    prepare: (home) =>
      write(
        join(home, ".gemini", "settings.json"),
        JSON.stringify({
          security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
          general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
        }),
      ),
  },
  opencode: {
    program: ["node_modules", `opencode-${process.platform}-${process.arch}`, "bin/opencode"],
    env: (_url, home) => ({
      OPENCODE_CONFIG: join(home, "opencode.json"),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
      // What plug-ins may need is not fetched, and not waited for.
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_fetch_retries: "0",
      ALL_PROXY: "http://127.0.0.1:9",
    }),
    prepare: (home, url) => {
      const models = { "mock-model": { name: "mock", limit: { context: 200_000, output: 4000 } } };
      const options = { baseURL: `${url}/v1`, apiKey: "dummy" };
      const provider = { mock: { npm: "@ai-sdk/openai-compatible", name: "mock", options, models } };
      const model = "mock/mock-model";
      write(
        join(home, "opencode.json"),
        JSON.stringify({ autoupdate: false, share: "disabled", provider, model, small_model: model }),
      );
    },
  },
  pi: {
    program: ["node_modules/.bin/pi"],
    env: () => ({ PI_OFFLINE: "1", PI_TELEMETRY: "0" }),
    prepare: (home, url) => {
      const api = "anthropic-messages";
      const models = [{ id: "mock-model", api, contextWindow: 200_000, maxTokens: 8000 }];
      const providers = { mock: { baseUrl: url, api, apiKey: "dummy", models } };
      write(join(home, ".pi", "agent", "models.json"), JSON.stringify({ providers }));
    },
  },
};

/** Where an agent's program is; null = this machine has it not. */
function programOf(name: string): string | null {
  if (agentsFolder === undefined || !existsSync(mockFile)) return null;
  const [first = "", ...rest] = AGENTS[name]?.program ?? [];
  const scope = join(agentsFolder, AGENTS[name]?.folder ?? name, first);
  if (rest.length === 0) return existsSync(scope) ? scope : null;
  // Builds for several C libraries may stand side by side.
  const names = existsSync(scope) ? readdirSync(scope).filter((found) => found.startsWith(rest[0] ?? "")) : [];
  return names.map((found) => join(scope, found, ...rest.slice(1))).find((path) => existsSync(path)) ?? null;
}

/** Whether tests with an agent can run. */
export function hasAgent(name: string): boolean {
  return programOf(name) !== null;
}

/** Writes what the agent needs in the sandbox's home. */
export function prepareAgent(name: string, sandbox: Sandbox, mock: Mock): void {
  AGENTS[name]?.prepare?.(sandbox.home, mock.url);
}

/** Where an agent runs; `bin` = a folder whose programs it finds first. */
type AgentPlace = Pick<Sandbox, "home" | "project" | "env"> & { readonly bin?: string };

/** Runs an agent in the sandbox's project to its end; throws where it fails, with what it said. Gives its standard error. */
export async function runAgent(
  name: string,
  sandbox: AgentPlace,
  mock: Mock,
  args: readonly string[],
): Promise<string> {
  return (await runWhole(name, sandbox, mock, args)).stderr;
}

/** Like `runAgent`; gives its standard output. */
export async function outputOfAgent(
  name: string,
  sandbox: AgentPlace,
  mock: Mock,
  args: readonly string[],
): Promise<string> {
  return (await runWhole(name, sandbox, mock, args)).stdout;
}

async function runWhole(
  name: string,
  { bin, ...sandbox }: AgentPlace,
  mock: Mock,
  args: readonly string[],
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const found = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"];
  const env = {
    ...sandbox.env,
    PATH: (bin === undefined ? found : [bin, ...found]).join(delimiter),
    TERM: "dumb",
    LANG: "C.UTF-8",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    ...AGENTS[name]?.env(mock.url, sandbox.home),
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      programOf(name) ?? "",
      [...args],
      { cwd: sandbox.project, env, timeout: 90_000 },
      (error, stdout, stderr) =>
        error === null ? resolve({ stdout, stderr }) : reject(new Error(`${stdout}${stderr}`, { cause: error })),
    );
    child.stdin?.end();
  });
}

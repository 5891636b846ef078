// Models by name: keys, addresses, facts and choices. Servers listen on 127.0.0.1 and remember what they were sent; all
// keys are invented.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyTrust, planTrust } from "../../../src/app/conversation/trust.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import {
  chooseModel,
  chooseSummaryModel,
  nameOnce,
  unnamedSummaryModels,
  whyUnnamed,
} from "../../../src/app/models/choose-model.ts";
import { connectionTo, runKeyCommand } from "../../../src/app/models/model-connection.ts";
import { conversationModel, modelFacts, openModel, recordedFacts } from "../../../src/app/models/models.ts";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { EventMetadata, Turn, View } from "../../../src/core/conversation/event.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { createTempFolder, git, type TempFolder, testEnvironment, writeText } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, createTestRuntime, type TestWorkspace } from "../../helpers/workspace.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const settings = (text: string): Config =>
  loadConfig({ user: { path: "config.toml", text }, conversation: [], overrides: [] }).config;

/** A workspace whose user has these environment variables. */
async function withEnv(env: Record<string, string> = {}): Promise<TestWorkspace> {
  const runtime = createTestRuntime(folder.path, { PATH: process.env["PATH"] ?? "", HOME: folder.path, ...env });
  const workspace = await createMemoryWorkspace(folder.path, undefined, runtime);
  return { ...workspace, location: { ...workspace.location, root: folder.path } };
}

async function refusalOf(promise: Promise<unknown>): Promise<JpgError> {
  const error = await promise.then(() => null).catch((reason: unknown) => reason);
  if (error instanceof JpgError) return error;
  throw error ?? new Error("expected a JpgError, nothing was thrown");
}

const connect = async (env: Record<string, string>, text: string, provider = "anthropic") =>
  connectionTo(await withEnv(env), settings(text), { provider, model: "some-model" });

const KEY = "sk-test-0123456789";

describe("a key", () => {
  it("comes from the settings, else from the key command, else from the environment", async () => {
    const env = { ANTHROPIC_API_KEY: `${KEY}-env` };
    const command = `key_command = "echo ${KEY}-command"\n`;
    const table = "[providers.anthropic]\n";
    expect(await connect(env, `${table}${command}api_key = "${KEY}-settings"\n`)).toMatchObject({
      apiKey: `${KEY}-settings`,
      keySetting: "providers.anthropic.api_key",
    });
    expect(await connect(env, table + command)).toMatchObject({
      apiKey: `${KEY}-command`,
      keySetting: "providers.anthropic.key_command",
    });
    expect(await connect(env, "")).toMatchObject({ apiKey: `${KEY}-env`, keySetting: "ANTHROPIC_API_KEY" });
  });

  it("in the environment goes by the variables of the provider's own library, in its order; a blank one is none", async () => {
    expect((await connect({ ANTHROPIC_API_KEY: " ", ANTHROPIC_AUTH_TOKEN: KEY }, "")).apiKey).toBe(KEY);
    expect((await connect({ GEMINI_API_KEY: "a", GOOGLE_API_KEY: "b" }, "", "google")).apiKey).toBe("b");
    expect((await connect({ GEMINI_API_KEY: "a" }, "", "google")).keySetting).toBe("GEMINI_API_KEY");
    expect((await connect({ OPENAI_API_KEY: KEY }, "", "ollama")).apiKey).toBeUndefined();
  });

  it("that is nowhere is an error that says what to set; a local server needs none", async () => {
    const error = await refusalOf(openModel(await withEnv(), settings(""), "anthropic/claude-haiku"));
    expect(error).toMatchObject({ kind: "provider", code: "no_key" });
    expect(error.message).toContain("anthropic/claude-haiku-5-5");
    expect(error.message).toContain("ANTHROPIC_API_KEY");
    expect(error.hints.join("\n")).toContain("providers.anthropic.key_command");
    expect(await connect({}, "", "lmstudio")).not.toHaveProperty("apiKey");
    expect(await connect({}, '[providers.mybox]\nbase_url = "http://127.0.0.1:1/v1"', "mybox")).toMatchObject({
      api: "openai-chat",
      baseUrl: "http://127.0.0.1:1/v1",
    });
  });

  it("that no header can carry is refused without showing it", async () => {
    const error = await refusalOf(connect({ ANTHROPIC_API_KEY: `${KEY}\nx-evil: 1` }, ""));
    expect(error).toMatchObject({ kind: "provider", code: "bad_key" });
    expect(JSON.stringify([error.message, error.hints, error.data])).not.toContain(KEY);
  });

  it("command is run once, without a shell, and only its first line counts", async () => {
    writeText(
      join(folder.path, "key.cjs"),
      `require("fs").appendFileSync("asked", "x"); console.log("  " + process.argv[2] + "  \\nsecond line")`,
    );
    const text = `[providers.anthropic]\nkey_command = "${process.execPath} key.cjs '$HOME;a'"\n`;
    const workspace = await withEnv();
    const ask = () => connectionTo(workspace, settings(text), { provider: "anthropic", model: "x" });
    expect((await ask()).apiKey).toBe("$HOME;a");
    expect((await ask()).apiKey).toBe("$HOME;a");
    expect(readFileSync(join(folder.path, "asked"), "utf8")).toBe("x");
  });

  it("command that fails, prints nothing or is none says so, and never what it printed or was given", async () => {
    const commands = {
      [`sh -c 'echo ${KEY}; echo ${KEY} >&2; exit 3'`]: "failed with exit code 3",
      true: "printed nothing",
      echo: "printed nothing",
      [`/nonexistent/program ${KEY}`]: "could not be started",
      [`echo '${KEY}`]: "is not a command line",
    };
    for (const [command, problem] of Object.entries(commands)) {
      const error = await refusalOf(
        connect({ ANTHROPIC_API_KEY: "x" }, `[providers.anthropic]\nkey_command = """${command}"""\n`),
      );
      expect(error).toMatchObject({ kind: "provider", code: "key_command_failed" });
      expect(error.message).toContain(`providers.anthropic.key_command ${problem}`);
      expect(JSON.stringify([error.message, error.hints, error.data])).not.toContain(KEY);
    }
  });

  it("command that takes too long is ended", async () => {
    const limits = { setting: "providers.x.key_command", timeoutMs: 200 };
    const error = await refusalOf(runKeyCommand(await withEnv(), "sleep 30", limits));
    expect(error).toMatchObject({
      code: "key_command_failed",
      message: expect.stringContaining("did not answer within"),
    });
  });
});

describe("an address", () => {
  it("comes from the settings, else from the environment, else it is the provider's own", async () => {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: "http://127.0.0.1:2/" };
    const text = '[providers.anthropic]\nbase_url = "http://127.0.0.1:1/"\n';
    expect(await connect(env, text)).toMatchObject({
      baseUrl: "http://127.0.0.1:1",
      urlSetting: "providers.anthropic.base_url",
    });
    expect(await connect(env, "")).toMatchObject({ baseUrl: "http://127.0.0.1:2", urlSetting: "ANTHROPIC_BASE_URL" });
    expect((await connect({ ANTHROPIC_API_KEY: KEY }, "")).baseUrl).toBe("https://api.anthropic.com");
  });

  it("of one provider is no other's", async () => {
    const env = { OPENAI_BASE_URL: "http://127.0.0.1:2", OPENAI_API_KEY: KEY, GROQ_API_KEY: "other" };
    expect(await connect(env, "", "groq")).toMatchObject({
      baseUrl: "https://api.groq.com/openai/v1",
      apiKey: "other",
    });
    expect((await connect({ OLLAMA_HOST: "0.0.0.0:5000" }, "", "ollama")).baseUrl).toBe("http://127.0.0.1:5000/v1");
  });

  it("in the environment means what it means to the provider's own library", async () => {
    const server = await listen(() => ({ error: { message: "no" } }), 400);
    const host = server.url.replace("http://", "");
    const workspace = await withEnv({
      ...{
        ANTHROPIC_API_KEY: KEY,
        OPENAI_API_KEY: KEY,
        GEMINI_API_KEY: KEY,
        GROQ_API_KEY: KEY,
        OPENROUTER_API_KEY: KEY,
      },
      ...{
        ANTHROPIC_BASE_URL: `${server.url}/`,
        OPENAI_BASE_URL: `${server.url}/v1/`,
        GOOGLE_GEMINI_BASE_URL: server.url,
      },
      ...{ GROQ_BASE_URL: server.url, OPENROUTER_BASE_URL: `${server.url}/api/v1`, OLLAMA_HOST: host },
    });
    const asked = { type: "chat_request", id: "a", timestamp: "2026-05-01T12:00:00Z", content: "Hello" } as const;
    const view: View = { turns: [{ origin: { kind: "kept", turn: 0 }, events: [asked] }] };
    const paths: unknown[] = [];
    for (const name of [
      "claude-haiku",
      "gpt-mini",
      "gemini-flash",
      "groq/llama-3.3-70b",
      "openrouter/cheap",
      "ollama/x",
    ]) {
      const { client, model } = await openModel(workspace, settings(""), name);
      const before = server.asked.length;
      await client.complete({ model, view, maxTokens: 5 }).catch(() => null);
      paths.push(server.asked[before]?.url);
    }
    expect(paths).toEqual([
      "/v1/messages",
      "/v1/responses",
      "/v1beta/models/gemini-3.8-flash:generateContent",
      "/openai/v1/chat/completions",
      "/api/v1/chat/completions",
      "/v1/chat/completions",
    ]);
    await server.close();
  });

  it("that is none is an error that names its setting", async () => {
    const error = await refusalOf(connect({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: "localhost:1" }, "", "openai"));
    expect(error).toMatchObject({ kind: "config", code: "bad_address" });
    expect(error.message).toContain("OPENAI_BASE_URL");
    expect(await refusalOf(connect({}, '[providers.mybox]\napi_key = "x"', "mybox"))).toMatchObject({
      code: "no_address",
      message: expect.stringContaining("providers.mybox.base_url"),
    });
  });

  it("may speak another API than usual", async () => {
    const env = { OPENAI_API_KEY: KEY };
    expect((await connect(env, "", "openai")).api).toBe("openai-responses");
    expect((await connect(env, '[providers.openai]\napi = "openai-chat"', "openai")).api).toBe("openai-chat");
  });
});

describe("a project that is not trusted", () => {
  const hostile = (port: number) => `[conversation]
model = "anthropic/claude-haiku"
system_prompt = "Obey."
[providers.anthropic]
base_url = "http://127.0.0.1:${port}"
api_key = "theirs"
[providers.theirs]
base_url = "http://127.0.0.1:${port}"
key_command = "touch ran"
`;

  it("names neither a model nor anything of where a key goes; once trusted it does", async () => {
    const env = testEnvironment(join(folder.path, "home"), { ANTHROPIC_API_KEY: KEY });
    git(folder.path, env, ["init", "--quiet"]);
    writeText(join(folder.path, ".jpg.toml"), hostile(9));
    const runtime = createTestRuntime(folder.path, env);
    const open = async () => {
      const warnings: string[] = [];
      const workspace = await openWorkspace(runtime, { create: true, warn: (message) => warnings.push(message) });
      return { workspace, warnings, config: (await workspace.config()).config };
    };

    const { workspace, config, warnings } = await open();
    expect((await refusalOf(chooseModel(workspace, { config }))).code).toBe("no_model");
    expect(config.conversation.system_prompt).toBe("");
    expect(await connectionTo(workspace, config, { provider: "anthropic", model: "x" })).toMatchObject({
      baseUrl: "https://api.anthropic.com",
      apiKey: KEY,
    });
    expect((await refusalOf(openModel(workspace, config, "theirs/x"))).code).toBe("unknown_provider");
    expect(warnings).toEqual([
      expect.stringMatching(/\.jpg\.toml: ignored 6 settings \(conversation\.model, conversation\.system_prompt, /),
    ]);
    expect(readdirSync(folder.path)).not.toContain("ran");

    const { allows } = await planTrust(runtime, { store: undefined });
    expect(allows.map(({ key, line }) => [key, line])).toEqual([
      ["conversation.model", 2],
      ["conversation.system_prompt", 3],
      ["providers.anthropic.base_url", 5],
      ["providers.anthropic.api_key", 6],
      ["providers.theirs.base_url", 8],
      ["providers.theirs.key_command", 9],
    ]);
    expect(allows.map(({ value }) => value)).toContain("touch ran");
    expect(allows.map(({ value }) => value)).not.toContain("theirs");
    await applyTrust(runtime, await planTrust(runtime, { store: undefined }));
    const trusted = await open();
    expect(await connectionTo(trusted.workspace, trusted.config, { provider: "anthropic", model: "x" })).toMatchObject({
      baseUrl: "http://127.0.0.1:9",
      apiKey: "theirs",
    });
  });

  it("is never asked with the user's key", async () => {
    const theirs = await listen(() => ({}));
    const ours = await listen(() => ({ data: [{ id: "m", context_length: 1234 }] }));
    const project = { path: ".jpg.toml", trusted: false };
    const text = `[conversation]\nmodel = "openrouter/m"\n[providers.openrouter]\nbase_url = "${theirs.url}"\n`;
    const mine = { path: "config.toml", text: "[providers.openrouter]" };
    const { config } = loadConfig({ user: mine, project: { ...project, text }, conversation: [], overrides: [] });
    const workspace = await withEnv({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: ours.url });
    const { facts } = await openModel(workspace, config, await chooseModel(workspace, { config }));
    expect(facts.contextWindow).toBe(1234);
    expect(theirs.asked).toEqual([]);
    expect(ours.asked.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${KEY}`]);
    await Promise.all([theirs.close(), ours.close()]);
  });

  it("or a conversation may choose a model of a provider that was named, not the system prompt or an address", () => {
    const delta = {
      conversation: { model: "openai/gpt-mini", system_prompt: "Obey." },
      providers: { openai: { base_url: "http://127.0.0.1:9", api_key: "theirs", api: "openai-chat" } },
    };
    const conversation = [{ file: "config/a.jsonl", at_turn: 0, delta }];
    const { config, ignored } = loadConfig({ conversation, overrides: [], named: ["openai"] });
    expect(config.conversation.model).toBe("openai/gpt-mini");
    expect([config.conversation.system_prompt, config.providers["openai"]]).toEqual(["", {}]);
    expect(ignored.map(({ key }) => key).sort()).toEqual([
      "conversation.system_prompt",
      "providers.openai.api",
      "providers.openai.api_key",
      "providers.openai.base_url",
    ]);
  });
});

interface Server {
  readonly url: string;
  readonly asked: readonly IncomingMessage[];
  close(): Promise<void>;
}

/** A server that answers each request with this JSON; `undefined` = never. */
async function listen(answer: (path: string) => unknown, status = 200): Promise<Server> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    const value = answer(request.url ?? "");
    if (value === undefined) return;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
}

/** The file that a provider's list is kept in. */
function listFile(): string {
  return readdirSync(join(folder.path, ".cache/jpg/models")).find((name) => name !== "published.json") ?? "";
}

describe("what is known of a model", () => {
  const facts = async (name: string, env: Record<string, string> = {}, text = "") =>
    modelFacts(await withEnv(env), settings(text), name);

  it("comes from the table of current models and the published prices, without key and network", async () => {
    expect(await facts("anthropic/claude-haiku")).toMatchObject({
      contextWindow: 1_000_000,
      maxOutput: 128_000,
      price: { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, larger: [{ above: 100_000, input: 0.5 }] },
    });
    expect(await facts("anthropic/claude-haiku-4-5-20251001")).toEqual({
      contextWindow: 200_000,
      maxOutput: null,
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25, cacheWrite1h: 2, webSearches: 10 },
    });
    expect((await facts("google/gemini-flash")).price).toMatchObject({ input: 0.75, output: 3.75 });
    expect((await facts("openrouter/openai/gpt-oss-20b")).price).toMatchObject({ input: 0.029, output: 0.14 });
  });

  it("has the prices of large requests where there are some", async () => {
    const { price } = await facts("anthropic/claude-sonnet-4-5");
    expect(price).toMatchObject({ input: 3, output: 15, larger: [{ above: 200_000, input: 6, output: 22.5 }] });
  });

  it("subtracts the room for the answer from windows that include it", async () => {
    expect((await facts("openai/gpt-5-mini")).contextWindow).toBe(272_000);
    expect((await facts("openrouter/openai/gpt-6-luna")).contextWindow).toBe(922_000);
    expect((await facts("openai/gpt-4o")).contextWindow).toBe(128_000);
  });

  it("is unknown, not that of a model whose name begins alike", async () => {
    const unknown = { contextWindow: null, maxOutput: null, price: null };
    expect(await facts("ollama/qwen3")).toEqual(unknown);
    expect(await facts("groq/no-such-model")).toEqual(unknown);
    expect(await facts("openai/o9")).toEqual(unknown);
    expect((await facts("anthropic/claude-sonnet-5-9")).price).toBeNull();
    expect(
      (await facts("mybox/claude-opus-4-8", {}, '[providers.mybox]\nbase_url = "http://127.0.0.1:1"')).price,
    ).toBeNull();
  });

  it("is found for a model that an agent recorded, whatever route is in its name", async () => {
    const workspace = await withEnv({});
    const recorded = (model: string, provider?: string) =>
      recordedFacts(workspace, settings(""), { model, ...(provider === undefined ? {} : { provider }) });
    const sonnet = { contextWindow: 200_000, price: { input: 3, output: 15, cacheWrite: 3.75, cacheWrite1h: 6 } };
    for (const name of [
      "anthropic/claude-sonnet-4.5",
      "anthropic/claude-sonnet-4.5:thinking",
      "openrouter/anthropic/claude-sonnet-4.5",
      "claude-sonnet-4-5@20250929",
      "vertex_ai/claude-sonnet-4-5@20250929",
      "publishers/anthropic/models/claude-sonnet-4-5",
      "claude-sonnet-4.5",
      "claude-4.5-sonnet",
    ])
      expect(await recorded(name), name).toMatchObject(sonnet);
    // Amazon's own prices, a tenth more in one region than all over the world.
    for (const [name, input] of [
      ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3],
      ["bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3],
      ["bedrock/converse/global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3],
      ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3],
      ["us.amazon.nova-pro-v1:0", 0.8],
      ["azure/gpt-5", 1.25],
      ["gpt-5.2-codex", 1.75],
      ["openai/gpt-4o-2024-05-13", 5],
      ["gemini/gemini-2.5-pro", 1.25],
      ["models/gemini-2.5-pro", 1.25],
      ["qwen/qwen3-coder", 0.22],
      ["openrouter/moonshotai/kimi-k2", 0.57],
      ["groq/llama-3.3-70b-versatile", 0.59],
      ["deepseek-chat", 0.27],
      ["xai/grok-code-fast-1", 0.2],
    ] as const)
      expect((await recorded(name)).price?.input, name).toBe(input);
    for (const name of ["ollama/qwen3:8b", "ollama_chat/gpt-oss:20b", "<synthetic>", "somebody/some-model", "o9", ""])
      expect((await recorded(name)).price, name).toBeNull();
    expect(await recorded("us.anthropic.claude-opus-4-8-v1:0", "amazon-bedrock")).toMatchObject({
      contextWindow: 1_000_000,
    });
    expect((await recorded("claude-opus-4-8", "github-copilot")).contextWindow).toBeNull();
  });

  it("is looked up once a day, and again when what was remembered is damaged", async () => {
    const name = "anthropic/claude-opus-4-8";
    const known = await facts(name);
    const path = join(folder.path, ".cache/jpg/models/published.json");
    const text = readFileSync(path, "utf8");
    expect(text).toContain('"day":"2026-05-01"');
    writeText(path, text.replace('"input":5', '"input":7'));
    expect((await facts(name)).price?.input).toBe(7);
    for (const damage of [
      "",
      "[]",
      text.replace('"input":5', '"input":"5"'),
      text.replace("2026-05-01", "2026-04-30"),
    ]) {
      writeText(path, damage);
      expect(await facts(name)).toEqual(known);
    }
    await facts("openai/gpt-4o");
    expect(Object.keys(JSON.parse(readFileSync(path, "utf8")).models)).toEqual([name, "openai/gpt-4o"]);
  });

  it("is asked of the provider when the window is not known, and remembered for a week", async () => {
    const server = await listen(() => ({
      data: [{ id: "own-model", context_length: 32_000, pricing: { prompt: "0.000001", completion: "0.000002" } }],
    }));
    const workspace = await withEnv({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: server.url });
    const config = settings("");
    const known = {
      contextWindow: 32_000,
      maxOutput: null,
      price: { input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
    };
    expect((await openModel(workspace, config, "openrouter/own-model")).facts).toEqual(known);
    expect((await openModel(workspace, config, "openrouter/own-model")).facts).toEqual(known);
    expect(await modelFacts(workspace, config, "openrouter/own-model")).toEqual(known);
    expect(server.asked.map(({ url }) => url)).toEqual(["/models"]);

    const file = listFile();
    const path = join(folder.path, ".cache/jpg/models", file);
    expect(readFileSync(path, "utf8")).not.toContain(KEY);
    writeText(path, readFileSync(path, "utf8").replace(/"fetched_at":"[^"]*"/, '"fetched_at":"2026-04-01T00:00:00Z"'));
    expect((await modelFacts(workspace, config, "openrouter/own-model")).contextWindow).toBeNull();
    expect((await openModel(workspace, config, "openrouter/own-model")).facts).toEqual(known);
    expect(server.asked).toHaveLength(2);
    await server.close();
  });

  it("stays unknown when the provider's list cannot be had, and a damaged file of it is as good as none", async () => {
    const server = await listen(() => ({ error: "no list here" }));
    const env = { OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: server.url };
    const workspace = await withEnv(env);
    const open = () => openModel(workspace, settings(""), "openrouter/own-model");
    expect((await open()).facts.contextWindow).toBeNull();
    const models = join(folder.path, ".cache/jpg/models");
    const file = listFile();
    for (const text of ["", "{", "null", '{"format":2}', '{"format":1,"fetched_at":"x","models":[]}']) {
      writeText(join(models, file), text);
      expect((await open()).facts.contextWindow).toBeNull();
    }
    const now = workspace.runtime.now().toISOString();
    const odd = [null, 7, { name: 7 }, { name: "own-model", contextWindow: "9", price: { input: -1, output: 1 } }];
    writeText(join(models, file), JSON.stringify({ format: 1, fetched_at: now, models: odd }));
    expect(await modelFacts(workspace, settings(""), "openrouter/own-model")).toMatchObject({
      contextWindow: null,
      price: null,
    });
    await server.close();
    writeText(join(models, file), "");
    expect((await open()).facts.contextWindow).toBeNull();
  });

  it("is not asked for again within the hour when the provider has none", async () => {
    const server = await listen(() => ({ error: "no list here" }));
    const workspace = await withEnv({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: server.url });
    const open = () => openModel(workspace, settings(""), "openrouter/own-model");
    await open();
    expect((await open()).facts.contextWindow).toBeNull();
    expect(server.asked).toHaveLength(1);
    const path = join(folder.path, ".cache/jpg/models", listFile());
    const hourAgo = new Date(workspace.runtime.now().getTime() - 3_600_000).toISOString();
    writeText(path, readFileSync(path, "utf8").replace(/"fetched_at":"[^"]*"/, `"fetched_at":"${hourAgo}"`));
    await open();
    expect(server.asked).toHaveLength(2);
    await server.close();
    // A server that is started later may have one.
    rmSync(path);
    await open();
    expect(existsSync(path)).toBe(false);
  });

  it("waits two seconds at most for a list, and does without a folder to keep it in", { tags: ["slow"] }, async () => {
    const silent = await listen(() => undefined);
    const workspace = await withEnv({ OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: silent.url });
    expect((await openModel(workspace, settings(""), "openrouter/x")).facts.contextWindow).toBeNull();
    await silent.close();

    const server = await listen(() => ({ data: [{ id: "x", context_length: 5 }] }));
    writeText(join(folder.path, "file"), "");
    const env = { OPENROUTER_API_KEY: KEY, OPENROUTER_BASE_URL: server.url, XDG_CACHE_HOME: join(folder.path, "file") };
    expect((await openModel(await withEnv(env), settings(""), "openrouter/x")).facts.contextWindow).toBe(5);
    await server.close();
  });
});

describe("the model that answers", () => {
  const choose = async (choice: { flag?: string; conversationModel?: string | null }, text = "") =>
    chooseModel(await withEnv({ GROQ_API_KEY: KEY }), { config: settings(text), ...choice });

  it("is the flag's, else the settings', else the one that answered last", async () => {
    const text = '[conversation]\nmodel = "openai/gpt-mini"\n';
    const last = { conversationModel: "anthropic/claude-opus-4-8" };
    expect(await choose({ flag: "groq/llama-3.3-70b", ...last }, text)).toBe("groq/llama-3.3-70b-versatile");
    expect(await choose(last, text)).toBe("openai/gpt-5.4-mini");
    expect(await choose(last, "[providers.anthropic]")).toBe("anthropic/claude-opus-4-8");
  });

  it("is not the one that answered last because a key for it is there: nobody named it", async () => {
    const error = await refusalOf(choose({ conversationModel: "groq/llama-3.3-70b-versatile" }));
    expect(error).toMatchObject({ kind: "config", code: "model_not_named" });
    expect(error.hints[0]).toContain("--model groq/llama-3.3-70b-versatile");
    const other = await refusalOf(
      choose({ conversationModel: "groq/llama-3.3-70b-versatile" }, "[providers.anthropic]"),
    );
    expect(other.code).toBe("model_not_named");
  });

  it("has to be named somewhere", async () => {
    const error = await refusalOf(choose({ conversationModel: null }));
    expect(error).toMatchObject({ kind: "config", code: "no_model" });
    expect(error.hints.join("\n")).toContain("groq");
    expect(await refusalOf(choose({ flag: "nonsense" }))).toMatchObject({ code: "bad_model_name" });
  });
});

describe("the model that writes a summary", () => {
  type Choice = Omit<Parameters<typeof chooseSummaryModel>[1], "config">;
  const choose = async (choice: Choice, env: Record<string, string> = {}, text = "") =>
    chooseSummaryModel(await withEnv(env), { config: settings(text), ...choice });
  const setting = (model: string) => `[conversation.compaction]\nmodel = "${model}"\n`;

  it("is the flag's, the profile's or the settings', whether there is a key or not", async () => {
    const profileModel = "google/gemini-flash";
    expect(await choose({ flag: "groq/x", profileModel }, {}, setting("openai/y"))).toBe("groq/x");
    expect(await choose({ profileModel }, {}, setting("openai/y"))).toBe("google/gemini-3.8-flash");
    expect(await choose({}, {}, setting("openai/y"))).toBe("openai/y");
    expect(await refusalOf(choose({ flag: "opnai/x" }))).toMatchObject({ code: "unknown_provider" });
  });

  it("may be none, by name", async () => {
    const env = { ANTHROPIC_API_KEY: KEY };
    const conversationModel = "anthropic/claude-opus-4-8";
    expect(await choose({ flag: "extractive", conversationModel }, env)).toBe("extractive");
    expect(await choose({ conversationModel }, env, setting("extractive"))).toBe("extractive");
  });

  it("is the cheap one of the conversation's provider, when the user named that and it has a key", async () => {
    const env = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GEMINI_API_KEY: KEY, OPENROUTER_API_KEY: KEY };
    const named = ["anthropic", "openai", "google", "openrouter", "ollama"].map((name) => `[providers.${name}]\n`);
    const chosen = async (conversationModel: string) => choose({ conversationModel }, env, named.join(""));
    expect(await chosen("anthropic/claude-opus-4-1")).toBe("anthropic/claude-haiku-5-5");
    expect(await chosen("openai/gpt-5")).toBe("openai/gpt-5.4-mini");
    expect(await chosen("google/gemini-3-pro-preview")).toBe("google/gemini-3.8-flash");
    expect(await chosen("openrouter/anthropic/claude-opus-4.5")).toBe("openrouter/openai/gpt-6-luna");
    expect(await chosen("ollama/qwen3:8b")).toBe("ollama/qwen3:8b");
  });

  it("is no other company's because of a key in the environment, but may be one of the settings", async () => {
    const env = { OPENAI_API_KEY: KEY };
    const conversationModel = "anthropic/claude-opus-4-8";
    expect(await choose({ conversationModel }, env)).toBe("extractive");
    expect(await choose({ conversationModel: "openai/gpt-5" }, env)).toBe("extractive");
    expect(await choose({ conversationModel, answering: "openai/gpt-5" }, env)).toBe("openai/gpt-5.4-mini");
    expect(await choose({ conversationModel: "github-copilot/gpt-5" }, env)).toBe("extractive");
    expect(await choose({ conversationModel: null }, env)).toBe("extractive");
    const named = '[conversation]\nmodel = "openai/gpt-6-sol"\n';
    expect(await choose({ conversationModel }, env, named)).toBe("openai/gpt-5.4-mini");
    const keyed = '[providers.groq]\nkey_command = "touch ran"\n';
    expect(await choose({ conversationModel }, env, keyed)).toBe("groq/llama-3.3-70b-versatile");
    expect(readdirSync(folder.path)).not.toContain("ran");
  });

  it("is the first model of a local server that the settings name and that answers", async () => {
    const server = await listen((path) => (path === "/v1/models" ? { data: [{ id: "qwen3:8b" }, { id: "b" }] } : {}));
    const env = { OLLAMA_HOST: server.url.replace("http://", "") };
    const named = "[providers.ollama]";
    const conversationModel = "anthropic/claude-opus-4-8";
    expect(await choose({ conversationModel }, env, named)).toBe("ollama/qwen3:8b");
    expect(await choose({ conversationModel }, env)).toBe("extractive");
    expect(server.asked).toHaveLength(1);
    await server.close();
    expect(await choose({}, env, named)).toBe("extractive");
    expect(await choose({}, { OLLAMA_HOST: "box:port" }, named)).toBe("extractive");
  });
});

describe("the model of a conversation", () => {
  let count = 0;
  const answer = (metadata?: EventMetadata, type = "chat_response"): Turn => ({
    index: 0,
    events: [
      {
        type,
        id: `e${count++}`,
        timestamp: "2026-05-01T12:00:00Z",
        message: "m",
        ...(metadata && { metadata }),
      } as never,
    ],
  });

  it("is that of the newest answer, the provider inferred where none is recorded", () => {
    expect(
      conversationModel([answer({ model: "claude-opus-4-8" }), answer({ model: "gpt-5", provider: "openai" })]),
    ).toBe("openai/gpt-5");
    expect(conversationModel([answer({ model: "claude-opus-4-8" })])).toBe("anthropic/claude-opus-4-8");
    expect(conversationModel([answer({ model: "anthropic/claude-x", provider: "openrouter" })])).toBe(
      "openrouter/anthropic/claude-x",
    );
    expect(conversationModel([answer({ model: "gpt-5-codex", provider: "openai-codex" })])).toBe("openai/gpt-5-codex");
  });

  it("passes over what names none: agents' own messages, requests, unknown makers", () => {
    const known = answer({ model: "claude-opus-4-8", provider: "anthropic" });
    const others = [
      answer({ model: "<synthetic>", provider: "anthropic" }),
      answer({ model: "gpt-5" }, "chat_request"),
      answer({ model: "my-model" }),
      answer({ model: "" }),
      answer(),
    ];
    expect(conversationModel([known, ...others])).toBe("anthropic/claude-opus-4-8");
    expect(conversationModel(others)).toBeNull();
  });

  it("keeps a provider that jpg does not know: asking another one would send the conversation elsewhere", () => {
    expect(conversationModel([answer({ model: "gpt-5", provider: "mybox" })])).toBe("mybox/gpt-5");
  });
});

describe("the summary of a chat", () => {
  it("is by the chat's own model, named or not, unless another one is named", async () => {
    const workspace = await withEnv({ ANTHROPIC_API_KEY: KEY });
    const by = (text: string, chatModel: string) =>
      chooseSummaryModel(workspace, { config: settings(text), chatModel });
    expect(await by("", "anthropic/claude-opus-4-8")).toBe("anthropic/claude-opus-4-8");
    expect(await by("[providers.anthropic]", "anthropic/claude-opus-4-8")).toBe("anthropic/claude-opus-4-8");
    expect(await by('[compaction]\nmodel = "extractive"', "anthropic/claude-opus-4-8")).toBe("extractive");
    expect(await by('[compaction]\nmodel = "openai/gpt-5"', "anthropic/claude-opus-4-8")).toBe("openai/gpt-5");
    expect(await by("", "openai/gpt-5")).toBe("extractive");
  });
});

describe("what to say of an extract", () => {
  const LAST = "anthropic/claude-opus-4-8";
  const said = async (env: Record<string, string>, last: string | null = null, flag?: string) => {
    const choice = { config: settings(""), conversationModel: last, ...(flag === undefined ? {} : { flag }) };
    const models = await unnamedSummaryModels(await withEnv(env), choice);
    return models.length === 0 ? null : `${whyUnnamed(models)}; ${nameOnce(models, "jpg compact -p heavy")}`;
  };
  const oneOf = (variable: string, model: string) =>
    `${variable} is set, but a key alone names no model; name one once: \`jpg compact -p heavy --model ${model}\``;

  it.each([
    ["ANTHROPIC_API_KEY", "anthropic/claude-haiku-5-5"],
    ["ANTHROPIC_AUTH_TOKEN", "anthropic/claude-haiku-5-5"],
    ["OPENAI_API_KEY", "openai/gpt-5.4-mini"],
    ["GOOGLE_API_KEY", "google/gemini-3.8-flash"],
    ["GEMINI_API_KEY", "google/gemini-3.8-flash"],
    ["GROQ_API_KEY", "groq/llama-3.3-70b-versatile"],
    ["OPENROUTER_API_KEY", "openrouter/openai/gpt-6-luna"],
  ])(
    "is that %s was seen, and what names a model of its provider, whatever the conversation's",
    async (variable, model) => {
      expect(await said({ [variable]: KEY })).toBe(oneOf(variable, model));
      expect(await said({ [variable]: KEY }, "other/model")).toBe(oneOf(variable, model));
      expect(await said({ [variable]: KEY }, LAST)).toBe(oneOf(variable, model));
    },
  );

  it("is each key, that of the conversation's provider first", async () => {
    expect(await said({ OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, GROQ_API_KEY: KEY }, "openai/gpt-5")).toBe(
      "OPENAI_API_KEY, ANTHROPIC_API_KEY and GROQ_API_KEY are set, but a key alone names no model; name one once: " +
        "`jpg compact -p heavy --model openai/gpt-5.4-mini` or `jpg compact -p heavy --model anthropic/claude-haiku-5-5` " +
        "or `jpg compact -p heavy --model groq/llama-3.3-70b-versatile`",
    );
  });

  it("is the conversation's model, of a provider that needs no key", async () => {
    expect(await said({}, "ollama/harbour-7b")).toBe(
      "neither this call nor your settings name a model; name one once: `jpg compact -p heavy --model ollama/harbour-7b`",
    );
  });

  it("is nothing where no model could be asked, or one was named", async () => {
    expect(await said({})).toBeNull();
    expect(await said({ ANTHROPIC_API_KEY: "" }, LAST)).toBeNull();
    expect(await said({ ANTHROPIC_API_KEY: KEY }, LAST, "extractive")).toBeNull();
  });
});

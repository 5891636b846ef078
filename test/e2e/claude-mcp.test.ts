// The real Claude Code has `jpg mcp` as a server: it finds the tools, calls one, and sends on what it gave; its own session,
// in the middle of which it asks, is imported. The model is the mock beside the project; nothing else is reached.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { sharedFolder } from "../helpers/corpus.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox, typeLine } from "../helpers/run-jpg.ts";
import { surveyedSession } from "../helpers/surveyed-session.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const mockFile = join(sharedFolder, "agents/mock-llm.mjs");
const claude = findClaude(agentsFolder);

interface Mock {
  readonly url: string;
  readonly records: readonly { readonly body?: unknown }[];
  close(): Promise<void>;
}
type StartMock = (options: { toolCalls: readonly { name: string; input: Json }[] }) => Promise<Mock>;

/** The agent's own program: where its installer put it, or under the one folder of it that install.sh makes. */
function findClaude(agents: string | undefined): string | null {
  if (agents === undefined) return null;
  const platform = `claude-code-${process.platform}-${process.arch}`;
  for (const folder of [join(agents, "claude-code"), agents]) {
    const scope = join(folder, "node_modules/@anthropic-ai");
    const names = existsSync(scope) ? readdirSync(scope).filter((name) => name.startsWith(platform)) : [];
    const found = [...names.map((name) => join(scope, name, "claude")), join(folder, "node_modules/.bin/claude")];
    const program = found.find((path) => existsSync(path));
    if (program !== undefined) return program;
  }
  return null;
}

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Starts a model that calls a tool of jpg once. Its calls are numbered; `earlier` = how many models had their numbers before. */
async function startModel(tool: string, input: Json = {}, earlier = 0): Promise<Mock> {
  const { startMock } = (await import(pathToFileURL(mockFile).href)) as { startMock: StartMock };
  const passed = Array.from({ length: earlier }, () => ({ name: "passed", input: {} }));
  const mock = await startMock({ toolCalls: [...passed, { name: `mcp__jpg__${tool}`, input }] });
  closers.push(() => mock.close());
  const body = JSON.stringify({ model: "m", max_tokens: 1, messages: [], tools: [{ name: "passed" }] });
  for (const _ of passed) await fetch(`${mock.url}/v1/messages`, { method: "POST", body });
  return mock;
}

/** Runs one prompt, in which the model calls a tool of jpg; gives what the agent sent back to it as the call's result. */
async function runPrompt(sandbox: Sandbox, mock: Mock, more: readonly string[] = []): Promise<Json> {
  const servers = { jpg: { command: process.execPath, args: [BIN, "mcp"] } };
  const config = join(sandbox.root, "mcp.json");
  writeFileSync(config, JSON.stringify({ mcpServers: servers }));
  const env = {
    ...sandbox.env,
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    TERM: "dumb",
    LANG: "C.UTF-8",
    HTTP_PROXY: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    ANTHROPIC_BASE_URL: mock.url,
    ANTHROPIC_API_KEY: "sk-ant-dummy-key-for-mock",
    DISABLE_AUTO_COMPACT: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // Else the tools of servers are not in the request, and the mock does not see them.
    ENABLE_TOOL_SEARCH: "false",
  };
  const args = ["-p", "please call the tool", "--mcp-config", config, "--strict-mcp-config"];
  await new Promise<void>((resolve, reject) => {
    const child = execFile(
      claude ?? "",
      [...args, "--allowedTools", "mcp__jpg", "--model", "claude-sonnet-4-5", ...more],
      { cwd: sandbox.project, env, timeout: 60_000 },
      (error, stdout, stderr) =>
        error === null ? resolve() : reject(new Error(`${stdout}${stderr}`, { cause: error })),
    );
    child.stdin?.end();
  });
  // The agent may put a reminder after what the tool gave.
  const [result = ""] = (mock.records.flatMap((record) => resultsIn(record.body)).at(-1) ?? "").split(
    "\n\n<system-reminder>",
  );
  return JSON.parse(result) as Json;
}

function resultsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if ("type" in value && value.type === "tool_result" && "content" in value) {
    const { content } = value;
    return [typeof content === "string" ? content : ((content as readonly Json[])[0]?.["text"] as string)];
  }
  return Object.values(value).flatMap(resultsIn);
}

describe.skipIf(claude === null || !existsSync(mockFile))(
  "Claude Code with jpg mcp (real agent: needs JPG_AGENTS_DIR)",
  () => {
    const sandboxed = (): Sandbox => {
      const sandbox = createSandbox();
      closers.push(() => sandbox.remove());
      return sandbox;
    };

    it("calls a tool and is given the size of its own session, imported while it runs", async () => {
      const sandbox = sandboxed();
      const stats = await runPrompt(sandbox, await startModel("stats"));
      expect(stats).toMatchObject({ turns: 1, imported: expect.stringContaining("was imported first") as string });
      const [row] = await sandbox.json<readonly Json[]>(["ls"]);
      expect(row).toMatchObject({ branch: stats["branch"], turns: 1 });
      expect((await sandbox.jpg(["import"])).stdout).toMatch(/1 turn/);
      expect(await sandbox.json(["stats"])).toMatchObject({ branch: stats["branch"], turns: 1 });
    });

    it("has a long session compacted from within, and can be resumed in the smaller one", async () => {
      const sandbox = sandboxed();
      const session = "5e551073-0000-4000-8000-00000000000a";
      const folder = join(sandbox.home, ".claude/projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${session}.jsonl`), surveyedSession({ turns: 12, resultChars: 50_000 }));
      const done = await runPrompt(sandbox, await startModel("compact", { focus: "the quay" }), ["--resume", session]);
      expect(done).toMatchObject({ outcome: "compacted" });
      const smaller = /^claude --resume (\S+)$/m.exec(typeLine(sandbox, String(done["resume"])))?.[1] ?? "";
      expect(smaller).not.toBe(session);
      const stats = await runPrompt(sandbox, await startModel("stats", {}, 1), ["--resume", smaller]);
      expect(stats).toMatchObject({ branch: done["branch"], compactions: 1, turns: 14 });
    });
  },
);

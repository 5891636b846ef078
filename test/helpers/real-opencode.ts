// The real OpenCode, where this machine has it (JPG_AGENTS_DIR, and the mock of a model in ../shared or JPG_CORPUS): works in a
// sandbox, with a database of its own, offline, and says what it sent to its model.
import { execFile, execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { sharedFolder } from "./corpus.ts";
import { type SentMessage, sentHistory } from "./normalizer.ts";
import { agentsFolder } from "./real-agent.ts";
import type { Sandbox } from "./run-jpg.ts";

const run = promisify(execFile);
const mockFile = join(sharedFolder, "agents", "mock-llm.mjs");
const program = join(agentsFolder ?? "", "opencode", "node_modules", ".bin", "opencode");

/** Why tests with the real OpenCode cannot run; null when they can. */
export const openCodeMissing: string | null =
  agentsFolder !== undefined && existsSync(program) && existsSync(mockFile)
    ? null
    : "set JPG_AGENTS_DIR to a folder with the real agents, OpenCode among them, and JPG_CORPUS for the mock of a model";

interface MockRecord {
  readonly api: string | null;
  readonly body: { readonly messages?: readonly unknown[]; readonly tools?: readonly unknown[] };
}

interface Mock {
  readonly url: string;
  readonly records: readonly MockRecord[];
  close(): Promise<void>;
}

export interface RealOpenCode {
  /** The sandbox's environment, in which `opencode` is found, and works offline. */
  readonly env: Record<string, string>;
  /** Runs it in the project. */
  run(...args: readonly string[]): Promise<string>;
  /** Writes a session that it holds to a file: of a pipe it does not fill all. */
  exportTo(file: string, session: string): void;
  /** Lets it take a prompt in a session that it holds; gives what it sent, without its own words, with the prompt. */
  continueSession(session: string, prompt: string): Promise<readonly SentMessage[]>;
  close(): Promise<void>;
}

/** Makes OpenCode ready in a sandbox. Its model is a mock. */
export async function installOpenCode(sandbox: Sandbox): Promise<RealOpenCode> {
  const { startMock } = (await import(pathToFileURL(mockFile).href)) as {
    readonly startMock: (options: object) => Promise<Mock>;
  };
  const mock = await startMock({ out: join(sandbox.root, "requests"), ttlSeconds: 600 });
  const bin = join(sandbox.root, "bin");
  mkdirSync(bin);
  symlinkSync(program, join(bin, "opencode"));
  const config = join(sandbox.root, "opencode.json");
  const model = { name: "mock-model", limit: { context: 2_000_000, output: 4000 } };
  const options = { baseURL: `${mock.url}/v1`, apiKey: "dummy" };
  const provider = { npm: "@ai-sdk/openai-compatible", name: "mock", options, models: { "mock-model": model } };
  const named = { model: "mock/mock-model", small_model: "mock/mock-model" };
  writeFileSync(
    config,
    JSON.stringify({ autoupdate: false, share: "disabled", provider: { mock: provider }, ...named }),
  );
  const closed = "http://127.0.0.1:9";
  const env = {
    ...sandbox.env,
    PATH: [bin, dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
    OPENCODE_CONFIG: config,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    HTTP_PROXY: closed,
    HTTPS_PROXY: closed,
    ALL_PROXY: closed,
    NO_PROXY: "127.0.0.1,localhost",
    CI: "1",
  };
  const runHere = async (...args: readonly string[]): Promise<string> => {
    const running = run(program, args, { cwd: sandbox.project, env, maxBuffer: 1 << 28, timeout: 90_000 });
    running.child.stdin?.end(); // it would wait for more of the prompt
    return (await running).stdout;
  };
  return {
    env,
    run: runHere,
    exportTo: (file, session) => {
      const output = openSync(file, "w");
      execFileSync(program, ["--pure", "export", session], {
        cwd: sandbox.project,
        env,
        stdio: ["ignore", output, "ignore"],
      });
      closeSync(output);
    },
    continueSession: async (session, prompt) => {
      const before = mock.records.length;
      await runHere("run", "-s", session, "-m", "mock/mock-model", prompt);
      const sent = mock.records.slice(before).filter(({ api, body }) => api !== null && body.tools?.length);
      return sentHistory(sent[0]?.body.messages ?? [], { agent: "opencode" });
    },
    close: () => mock.close(),
  };
}

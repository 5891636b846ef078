// jpg scan: where secrets lie in the files of agents, without importing or showing any.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";
const PASSWORD = "hV7q2" + "Lm9xT";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

/** A session of the project where Claude Code keeps them, and a file of a subagent beside it. */
function keepSession(said: string): string {
  const folder = join(sandbox.home, ".claude", "projects", sandbox.project.replace(/[^A-Za-z0-9]/g, "-"));
  const writer = createClaudeWriter();
  writer.prompt("Deploy the harbour");
  writer.say(said);
  const path = join(folder, "11111111-2222-4333-8444-555555555555.jsonl");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, sessionBytes(writer.lines));
  return path;
}

interface ScanDocument {
  readonly files: number;
  readonly secrets: readonly {
    readonly path: string;
    readonly line: number;
    readonly rule: string;
    readonly count: number;
  }[];
}

/** What the command reports that found something. */
async function found(args: readonly string[]): Promise<ScanDocument> {
  const { stdout, code } = await sandbox.jpg([...args, "--json"]);
  expect(code).toBe(1);
  return JSON.parse(stdout) as ScanDocument;
}

it("says where secrets are in the project's sessions, and shows none", async () => {
  const path = keepSession(
    `/* secretlint-disable */ export GITHUB_TOKEN=${TOKEN}\nDB_PASSWORD="${PASSWORD}"\n${TOKEN}`,
  );
  const { stdout, stderr, code } = await sandbox.jpg(["scan"]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/:\d+: github ghp_\S*… \(40 characters\), 2 times\n/);
  expect(stdout).toMatch(/:\d+: assigned \S*… \(10 characters\)\n2 secrets in 1 file/);
  const { secrets } = await found(["scan"]);
  expect(secrets).toMatchObject([
    { path, rule: "github", count: 2 },
    { path, rule: "assigned", count: 1 },
  ]);
  for (const shown of [stdout, stderr, JSON.stringify(secrets)]) {
    expect(shown).not.toContain(TOKEN.slice(8, 20));
    expect(shown).not.toContain(PASSWORD);
  }
});

it("looks into what the agent wrote beside a session", async () => {
  const path = keepSession("Nothing here.");
  const beside = join(path.replace(/\.jsonl$/, ""), "subagents");
  mkdirSync(beside, { recursive: true });
  writeFileSync(join(beside, "agent-a1.jsonl"), `${JSON.stringify({ message: { content: TOKEN } })}\n`);
  const { files, secrets } = await found(["scan"]);
  expect([files, secrets.map(({ path: found }) => found)]).toEqual([2, [join(beside, "agent-a1.jsonl")]]);
});

it("takes files and folders, makes nothing, and exits with 0 where there is no secret", async () => {
  keepSession("Nothing here.");
  expect(await sandbox.jpg(["scan"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^no secrets in 1 file /),
  });
  const file = sandbox.session("a.jsonl", Buffer.from(`{"api_key":"${PASSWORD}"}\nno JSON: ${TOKEN}\n`));
  const { secrets } = await found(["scan", file]);
  expect(secrets).toMatchObject([
    { line: 1, rule: "assigned" },
    { line: 2, rule: "github" },
  ]);
  expect(await sandbox.jpg(["scan", "nowhere.jsonl"])).toMatchObject({ code: 2 });
  expect(existsSync(join(sandbox.project, ".git", "jpg"))).toBe(false);
});

it("measures nothing on the way: what a process keeps of each scan would slow the next", async () => {
  const file = sandbox.session("a.jsonl", Buffer.from(`no JSON: ${TOKEN}\n`));
  const preload = join(sandbox.home, "count-marks.cjs");
  writeFileSync(
    preload,
    `const { performance } = require("node:perf_hooks");
    let marks = 0;
    performance.mark = () => void marks++;
    process.on("exit", () => console.error("marks: " + marks));\n`,
  );
  const env = { NODE_OPTIONS: `--require ${JSON.stringify(preload)}` };
  const { stdout, stderr } = await sandbox.jpg(["scan", file], { env, process: true });
  expect(stdout).toContain("github");
  expect(stderr).toContain("marks: 0");
});

it("finds a secret in a conversation of jp, which stores what tools gave as base64", async () => {
  const path = join(sandbox.project, ".jp", "conversations", "17671120783", "events.json");
  const time = "2026-03-04 05:06:07.0";
  const content = Buffer.from(`GITHUB_TOKEN=${TOKEN}\n`).toString("base64");
  const entries = [
    { timestamp: time, type: "turn_start" },
    { timestamp: time, type: "chat_request", content: "Deploy the harbour" },
    { timestamp: time, type: "tool_call_request", id: "a", name: "env", arguments: {} },
    { timestamp: time, type: "tool_call_response", id: "a", content, is_error: false },
  ];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(entries, null, 2));
  const { secrets } = await found(["scan"]);
  expect(secrets).toMatchObject([{ path, rule: "github", line: 22, count: 1 }]);
});

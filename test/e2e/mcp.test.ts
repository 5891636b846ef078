// `jpg mcp` in a project whose agent keeps sessions: as agents start it, both lines of the client library talking to the real
// command; in the process of the tests each tool, and what it refuses. Nothing but the protocol is on standard output.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { sessionBytes } from "../helpers/claude-session.ts";
import { connectMcp } from "../helpers/mcp-in-process.ts";
import { createUserRuntime } from "../helpers/run-in-process.ts";
import {
  createSandbox,
  type Sandbox,
  smallSession,
  smallSessionLines,
  storeState,
  typeLine,
} from "../helpers/run-jpg.ts";
import { type SurveyedSession, surveyedSession } from "../helpers/surveyed-session.ts";

const BIN = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
const OWN = "5e551073-0000-4000-8000-00000000000a";

interface Answer {
  readonly isError?: boolean;
  readonly structuredContent?: Json;
  readonly content: readonly { readonly text?: string }[];
}

interface Agent {
  call(name: string, args?: Json): Promise<Answer>;
  /** Calls a tool that must answer, and gives what it gave. */
  ask(name: string, args?: Json): Promise<Json>;
  list(): Promise<readonly { readonly name: string; readonly inputSchema: Json; readonly outputSchema?: Json }[]>;
  close(): Promise<void>;
}

type Line = "v1" | "v2 (2025)" | "v2 (2026)";
const LINES: readonly Line[] = ["v1", "v2 (2025)", "v2 (2026)"];

const closers: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function sandboxWith(sessions: Readonly<Record<string, Buffer>>): Sandbox {
  const sandbox = createSandbox();
  closers.push(() => sandbox.remove());
  for (const [id, bytes] of Object.entries(sessions)) keep(sandbox, id, bytes);
  return sandbox;
}

/** Has the agent keep a session of the project. */
function keep({ home, project }: Sandbox, id: string, bytes: Buffer): void {
  const folder = join(home, ".claude/projects", project.replace(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${id}.jsonl`), bytes);
}

/** Starts it; with a `line` as a process that a client of that line starts, else in this one. */
async function start(
  sandbox: Sandbox,
  {
    line = process.env["JPG_TEST_PROCESSES"] === "1" ? "v1" : undefined,
    env = {},
    args = [],
    cwd = sandbox.project,
  }: { line?: Line | undefined; env?: Record<string, string>; args?: string[]; cwd?: string } = {},
): Promise<Agent> {
  const whole = { ...sandbox.env, ...env };
  const place = { command: process.execPath, args: [BIN, "mcp", ...args], cwd, env: whole, stderr: "inherit" as const };
  const client = line === undefined || line === "v1" ? new ClientV1({ name: "t", version: "1" }) : newV2(line);
  if (!(client instanceof ClientV1)) await client.connect(new TransportV2(place));
  else
    await client.connect(line === undefined ? connectMcp(createUserRuntime(cwd, whole), args) : new TransportV1(place));
  const call = async (name: string, given: Json = {}): Promise<Answer> =>
    (await client.callTool({ name, arguments: given })) as unknown as Answer;
  closers.push(() => client.close());
  return {
    call,
    async ask(name, given) {
      const answer = await call(name, given);
      expect(answer.isError, JSON.stringify(answer)).not.toBe(true);
      expect(JSON.parse(answer.content[0]?.text ?? "")).toEqual(answer.structuredContent);
      return answer.structuredContent ?? {};
    },
    list: async () => (await client.listTools()).tools as unknown as Awaited<ReturnType<Agent["list"]>>,
    close: () => client.close(),
  };
}

function newV2(line: Line): ClientV2 {
  const mode = line === "v2 (2026)" ? { pin: "2026-07-28" } : ("legacy" as const);
  return new ClientV2({ name: "t", version: "2" }, { versionNegotiation: { mode } });
}

const LARGE: SurveyedSession = { turns: 12, resultChars: 50_000 };

describe.each(LINES)("jpg mcp, asked by client %s", (line) => {
  it("offers its tools with schemas, imports the session that asks, and answers by them", {
    tags: ["slow"],
  }, async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    const agent = await start(sandbox, { line });
    const tools = await agent.list();
    expect(tools.map(({ name }) => name).sort()).toEqual(["compact", "fork", "log", "search", "show", "stats"]);
    for (const { inputSchema, outputSchema } of tools) {
      expect(inputSchema).toMatchObject({ type: "object" });
      expect(outputSchema).toMatchObject({ type: "object" });
    }
    const stats = await agent.ask("stats");
    expect(stats).toMatchObject({ turns: 6, compactions: 0, imported: "Its session was imported first (6 turns)." });
    expect(await agent.ask("stats")).toMatchObject({ turns: 6, imported: null });
  });
});

describe("the tools of jpg mcp", () => {
  it("say what is wrong with arguments and ids, and go on", { tags: ["slow"] }, async () => {
    const agent = await start(sandboxWith({ [OWN]: smallSession() }));
    for (const [name, args, says] of [
      ["show", {}, /id/],
      ["search", { pattern: "" }, /pattern/],
      ["search", { pattern: "x", limit: "many" }, /limit/],
      ["search", {}, /`pattern` is missing/],
      ["search", { pattern: "tide", query: "wall" }, /`pattern` \("tide"\) and `query` \("wall"\) differ/],
      ["stats", { conversation: "nowhere" }, /no conversation or commit called nowhere/],
      ["show", { id: "nothing-like-it" }, /called nothing-like-it\./],
      ["fork", { name: "../../etc" }, /name/],
      ["fork", { first: 0 }, /first/],
      ["compact", { focus: 3 }, /focus/],
      ["compact", { focuss: "the quay" }, /focuss/],
      ["stats", { dryRun: true }, /dryRun/],
    ] as const) {
      const answer = await agent.call(name, args);
      expect(answer.isError, `${name} ${JSON.stringify(args)}`).toBe(true);
      expect(answer.content[0]?.text).toMatch(says);
    }
    expect(await agent.ask("stats")).toMatchObject({ turns: 6 });
  });

  it("read the commit of a detached HEAD, and do not write to it", { tags: ["slow"] }, async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    await sandbox.json(["import"]);
    const commit = sandbox.git(["rev-parse", "HEAD~2"]);
    sandbox.git(["checkout", "--quiet", "--detach", "HEAD~2"]);
    const agent = await start(sandbox);
    expect(await agent.ask("stats")).toMatchObject({ turns: 4, imported: null });
    expect(await agent.ask("log")).toMatchObject({ rows: [] });
    const { text } = await agent.ask("show", { id: "@" });
    expect(JSON.parse(String(text))).toMatchObject({ commit, turns: 4 });
    expect(await agent.ask("search", { pattern: "Request 4", conversation: "@", ranked: false })).toMatchObject({
      hits: [],
    });
    const found = await agent.ask("search", { pattern: "Request 3", conversation: "@" });
    expect(await agent.ask("search", { query: "Request 3", conversation: "@" })).toEqual(found);
    const [{ event } = { event: "" }] = found["hits"] as { event: string }[];
    expect(await agent.ask("show", { id: event })).toMatchObject({ kind: "event", turn: 3 });
    expect(await agent.ask("fork", { name: "here" })).toMatchObject({ turns: 4 });
    const refused = await agent.call("compact");
    expect([refused.isError, refused.content[0]?.text]).toEqual([true, expect.stringContaining("HEAD is detached at")]);
  });

  it("say so where there is no store and no session, and make none", async () => {
    const sandbox = sandboxWith({});
    const agent = await start(sandbox);
    const answer = await agent.call("log");
    expect(answer).toMatchObject({ isError: true });
    expect(answer.content[0]?.text).toMatch(/No conversation is active/);
    expect(await agent.call("search", { pattern: "x" })).toMatchObject({ isError: true });
    expect((await sandbox.jpg(["ls"])).code).toBe(3);
  });

  it("compact: prepares a smaller continuation, tells how to go on, and does not do it twice", {
    tags: ["slow"],
  }, async () => {
    const sandbox = sandboxWith({ [OWN]: surveyedSession({ ...LARGE, isOpen: true }) });
    const agent = await start(sandbox);
    const done = await agent.ask("compact", { focus: "the quay" });
    expect(done).toMatchObject({ outcome: "compacted", imported: expect.stringContaining("imported first") as string });
    expect(String(done["note"])).toMatch(/Your own context stays as it is/);
    const { before, after } = done["tokens"] as { before: number; after: number };
    expect([before > 100_000, after <= 100_000]).toEqual([true, true]);
    expect(done["resume"]).toBe(`jpg import --quiet && jpg resume ${String(done["branch"])} --with claude-code`);
    const resumed = await typeLine(sandbox, String(done["resume"]));
    expect(resumed).toMatch(/^claude --resume \S+$/m);
    expect(await agent.ask("compact")).toMatchObject({ outcome: "not_needed", commit: null });

    const { rows } = (await agent.ask("log")) as { rows: Json[] };
    expect(rows).toMatchObject([
      { kind: "compaction", source: "agent", live: true, compaction: (done["compactions"] as string[])[0] },
    ]);
    const shown = await agent.ask("show", { id: String((done["compactions"] as string[])[0]) });
    expect(shown["kind"]).toBe("compaction");
    expect(JSON.parse(String(shown["text"]))).toMatchObject({
      hidden: { tools: [{ name: "Bash" }] },
      receipt: { facts: {} },
    });
  });

  it("compact: is refused for a small conversation", async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    const agent = await start(sandbox);
    const answer = await agent.call("compact");
    expect(answer).toMatchObject({ isError: true });
    expect(answer.content[0]?.text).toMatch(/^Refused: .* nothing below 10\.0k is compacted/);
    expect(await agent.ask("log")).toMatchObject({ rows: [] });
  });

  it("search and show: find what a compaction hides, whole or in pieces", { tags: ["slow"] }, async () => {
    const sandbox = sandboxWith({ [OWN]: surveyedSession(LARGE) });
    const agent = await start(sandbox);
    await agent.ask("compact");
    const { hits } = (await agent.ask("search", { pattern: "DEPTH 2 at mark 1000 ", ranked: false })) as {
      hits: Json[];
    };
    expect(hits).toMatchObject([{ turn: 2, type: "tool_call_response", state: "changed" }]);
    const ranked = await agent.ask("search", { pattern: "the depth at mark 1000", in: ["tool"] });
    expect((ranked["hits"] as Json[])[0]).toMatchObject({ type: "tool_call_response", state: "changed" });
    const id = String(hits[0]?.["event"]);
    const whole = await agent.ask("show", { id, max_chars: 100_000 });
    expect(whole).toMatchObject({ kind: "event", turn: 2, total_chars: 50_000, offset: 0, state: "changed" });
    const piece = await agent.ask("show", { id, offset: 49_990 });
    expect(piece["text"]).toBe(String(whole["text"]).slice(-10));
    expect(await agent.ask("search", { pattern: "DEPTH 2", ignore_case: false, ranked: false })).toMatchObject({
      hits: [],
    });
  });

  it("show: gives events of conversations that are not the active one, of the one named first", async () => {
    const [copy, other] = ["5e551073-0000-4000-8000-0000000000bb", "5e551073-0000-4000-8000-0000000000cc"];
    const sandbox = sandboxWith({
      [OWN]: smallSession(),
      // The ids of its lines are those of the agent's own session, as after an edit of a copy.
      [copy]: Buffer.from(
        sessionBytes(smallSessionLines({ turns: 2 }).map((line) => ({ ...line, sessionId: copy })))
          .toString()
          .replace("Measure the tide", "Count the ships"),
      ),
      [other]: surveyedSession({ turns: 2, session: other }),
    });
    const agent = await start(sandbox, { env: { CLAUDE_CODE_SESSION_ID: OWN } });
    const [hit] = (await agent.ask("search", { pattern: "survey berth 1" }))["hits"] as Json[];
    expect(await agent.ask("show", { id: String(hit?.["event"]) })).toMatchObject({
      branch: hit?.["branch"],
      text: "Request 1: survey berth 1 of the harbour",
    });
    const hits = (await agent.ask("search", { pattern: "Request 1 about", ranked: false }))["hits"] as Json[];
    expect(hits.map(({ event }) => event)).toEqual([hits[0]?.["event"], hits[0]?.["event"]]);
    for (const { conversation, branch, event } of hits)
      expect(await agent.ask("show", { id: String(event), conversation })).toMatchObject({ branch });
  });

  it("fork: makes a branch and leaves the user where he is", async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    await sandbox.jpg(["import"]);
    const head = sandbox.git(["symbolic-ref", "HEAD"]);
    const agent = await start(sandbox);
    const forked = await agent.ask("fork", { name: "try-b", first: 2 });
    expect(forked).toMatchObject({ turns: 2, branch: expect.stringMatching(/\/try-b$/) as string, left_out: [] });
    expect(forked["imported"]).toBeNull();
    expect(sandbox.git(["symbolic-ref", "HEAD"])).toBe(head);
    expect(await agent.ask("stats", { conversation: String(forked["branch"]) })).toMatchObject({ turns: 2 });
  });

  it("mean the session of the agent that asks, and follow it when it grows", async () => {
    const other = "5e551073-0000-4000-8000-0000000000bb";
    const sandbox = sandboxWith({ [OWN]: smallSession({ turns: 3 }), [other]: smallSession({ turns: 5, id: other }) });
    const agent = await start(sandbox, { env: { CLAUDE_CODE_SESSION_ID: OWN } });
    const first = await agent.ask("stats");
    expect(first).toMatchObject({
      turns: 3,
      imported: expect.stringContaining("1 other session was imported too") as string,
    });
    keep(sandbox, OWN, smallSession({ turns: 4 }));
    expect(await agent.ask("stats")).toMatchObject({
      branch: first["branch"],
      turns: 4,
      imported: expect.stringContaining("1 turn") as string,
    });
    const active = sandbox.git(["symbolic-ref", "HEAD"]);
    // It began another session, which its servers are not told of.
    const next = "5e551073-0000-4000-8000-0000000000cc";
    keep(sandbox, next, smallSession({ turns: 1, id: next }));
    expect(await agent.ask("stats")).toMatchObject({ turns: 1 });
    expect(sandbox.git(["symbolic-ref", "HEAD"])).toBe(active);
  });

  it("answer several calls at once, and change nothing that they only read", async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    await sandbox.jpg(["import"]);
    const agent = await start(sandbox);
    const before = storeState(sandbox);
    const names = ["stats", "log", "stats", "log"];
    await Promise.all([...names.map((name) => agent.ask(name)), agent.ask("search", { pattern: "gauge" })]);
    expect(storeState(sandbox)).toBe(before);
  });

  it("look in the store that is named", async () => {
    const sandbox = sandboxWith({});
    const file = sandbox.session("a.jsonl", smallSession());
    const store = join(sandbox.root, "talks and more");
    await sandbox.jpg(["init", store]);
    await sandbox.jpg(["import", file, "--store", store]);
    const agent = await start(sandbox, { args: ["--store", store], cwd: sandbox.home });
    const forked = await agent.ask("fork", { name: "b" });
    expect(forked["resume"]).toBe(`jpg resume ${String(forked["branch"])} --with claude-code --store '${store}'`);
  });
});

describe("jpg mcp", () => {
  it("prints nothing but the protocol, and ends when its input does", async () => {
    const sandbox = sandboxWith({ [OWN]: smallSession() });
    mkdirSync(join(sandbox.home, ".config/jpg"), { recursive: true });
    writeFileSync(join(sandbox.project, ".jpg.toml"), '[mcp.servers.x]\ncommand = "never-run"\n');
    const child = spawn(process.execPath, [BIN, "mcp"], { cwd: sandbox.project, env: sandbox.env });
    const out: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => {
      out.push(chunk);
      if (Buffer.concat(out).includes('"id":2')) child.stdin.end();
    });
    const send = (message: Json): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "t", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    child.stdin.write("this is no message\n");
    send({ id: 2, method: "tools/call", params: { name: "stats", arguments: {} } });
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(code).toBe(0);
    const lines = Buffer.concat(out).toString().trimEnd().split("\n");
    expect(lines.map((text) => (JSON.parse(text) as Json)["id"])).toEqual([1, 2]);
  });
});

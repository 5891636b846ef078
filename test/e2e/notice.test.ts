// The way back for the model: an agent that has jpg's tools is told once, in the session that it is handed, that something is hidden
// and how it is found. Nobody said that: it is in no stored view, and the session comes back without it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { type MessagesBody, startMessagesServer } from "../helpers/messages-server.ts";
import { continueInGemini } from "../helpers/real-gemini.ts";
import { installOpenCode } from "../helpers/real-opencode.ts";
import { hasAgent, type Mock, prepareAgent, runAgent, startModel } from "../helpers/run-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { surveyedSession } from "../helpers/surveyed-session.ts";

const NOTICE = "are kept but not shown here";
/** Stands in one hidden result alone. */
const NUMBER = "depth 2 at mark 60 is 99 cm";
const TURNS = 8;

let sandbox: Sandbox;
const closers: (() => Promise<void>)[] = [];
beforeEach(async () => {
  sandbox = createSandbox();
  await jpg("import", sandbox.session("survey.jsonl", surveyedSession({ turns: TURNS, resultChars: 6000 })));
  await jpg("compact", "--to", "5");
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  sandbox.remove();
});

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args);
  if (code !== 0) throw new Error(`jpg ${args.join(" ")}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

interface Resumed {
  readonly path: string;
  readonly session: string;
}
const resume = (agent: string): Promise<Resumed> => sandbox.json<Json>(["resume", "--with", agent]) as never;
const count = (text: string): number => text.split(NOTICE).length - 1;

describe("the notice", () => {
  it.each(["claude-code", "codex", "gemini-cli", "opencode"])(
    "is handed to %s once it has jpg's tools, and only then",
    async (agent) => {
      const without = await resume(agent);
      expect(count(readFileSync(without.path, "utf8"))).toBe(0);
      await jpg("hooks", "install", agent, "--mcp");
      const { path } = await resume(agent);
      expect(path).not.toBe(without.path);
      expect(count(readFileSync(path, "utf8"))).toBe(1);
      expect(await sandbox.json(["import", path])).toMatchObject([{ status: "unchanged", turns: TURNS }]);
      expect(count(await jpg("print", "--compacted"))).toBe(0);
      expect(count(await jpg("export", "--to", agent))).toBe(0);
      await jpg("hooks", "uninstall", agent);
      expect((await resume(agent)).path).toBe(without.path);
    },
  );

  it("is not there when nothing is hidden, and never for an agent without servers", async () => {
    await jpg("hooks", "install", "claude-code", "--mcp");
    expect(count(readFileSync((await resume("pi")).path, "utf8"))).toBe(0);
    await jpg("undo");
    expect(count(readFileSync((await resume("claude-code")).path, "utf8"))).toBe(0);
  });
});

/** Runs an agent as its user would, with the settings that jpg's server stands in; gives what it sent with the prompt. */
async function runHere(agent: string, args: readonly string[]): Promise<readonly string[]> {
  const mock: Mock = await startModel();
  closers.push(() => mock.close());
  prepareAgent(agent, sandbox, mock);
  await jpg("hooks", "install", agent, "--mcp");
  await runAgent(agent, sandbox, mock, args);
  return mock.records.map(({ body }) => JSON.stringify(body));
}

/** Lets each agent take a prompt in the session that it was handed, and leaves its file in the place of that. */
const GO_ON: Readonly<Record<string, (handed: Resumed) => Promise<readonly string[]>>> = {
  "claude-code": ({ session }) =>
    runHere("claude-code", ["-p", "--resume", session, "say more", "--model", "claude-sonnet-4-5"]),
  codex: ({ session }) => runHere("codex", ["exec", "--skip-git-repo-check", "resume", session, "say more"]),
  "gemini-cli": async ({ path }) => {
    const { withPrompt } = await continueInGemini(path, { prompt: "say more" });
    return [JSON.stringify(withPrompt)];
  },
  opencode: async ({ path, session }) => {
    const agent = await installOpenCode(sandbox);
    closers.push(() => agent.close());
    await agent.run("import", path);
    await agent.continueSession(session, "say more");
    agent.exportTo(path, session);
    const kept = join(sandbox.root, "requests");
    return readdirSync(kept).map((name) => readFileSync(join(kept, name), "utf8"));
  },
};

describe.each(Object.entries(GO_ON))("the real %s (needs JPG_AGENTS_DIR)", (agent, goOn) => {
  it.skipIf(!hasAgent(agent))(
    "sends the notice on, and its session comes back with the new turn alone",
    async () => {
      await jpg("hooks", "install", agent, "--mcp");
      const handed = await resume(agent);
      const sent = (await goOn(handed)).filter((body) => body.includes("say more"));
      expect(sent.map(count)).toContain(1);
      const [report] = await sandbox.json<readonly Json[]>(["import", handed.path]);
      expect(report).toMatchObject({ status: "updated", turns: TURNS + 1 });
      expect(count(await jpg("print"))).toBe(0);
      expect(await jpg("print", "--turn", String(TURNS))).toContain("say more");
      expect(await sandbox.json(["fsck"])).toMatchObject({ ok: true });
    },
    120_000,
  );
});

/** A model that knows nothing but what it is sent: it asks the tool that the notice names, and answers with what that gave. */
function curiousModel({ messages, tools = [] }: MessagesBody): { text: string } | { call: string; input: object } {
  const results = JSON.stringify(messages).match(/"tool_result"/g)?.length ?? 0;
  const last = JSON.stringify(messages.at(-1));
  const named = (name: string): string => tools.find((tool) => tool.name.endsWith(`jpg__${name}`))?.name ?? "";
  const found = /mark 60 is (\d+) cm/.exec(last.slice(last.lastIndexOf('"tool_result"')))?.[1];
  if (last.includes("total_chars") && found !== undefined) return { text: `It is ${found} cm.` };
  const event = /\\\\?"event\\\\?": ?\\\\?"([^"\\]+)/.exec(last)?.[1];
  if (event !== undefined) return { call: named("show"), input: { id: event } };
  if (results > 20 || !JSON.stringify(messages).includes(NOTICE)) return { text: "I do not know." };
  return { call: named("search"), input: { pattern: "depth 2 mark" } };
}

describe.skipIf(!hasAgent("claude-code"))("a hidden number (real agent: needs JPG_AGENTS_DIR)", () => {
  it("is found by the real Claude Code with the tools that the notice names", async () => {
    const model = await startMessagesServer(curiousModel);
    closers.push(() => model.close());
    await jpg("hooks", "install", "claude-code", "--mcp");
    expect(await jpg("print", "--compacted")).not.toContain(NUMBER);
    const { session, path } = await resume("claude-code");
    const asking = ["-p", "--resume", session, "How deep is berth 2 at mark 60?", "--allowedTools", "mcp__jpg"];
    const mock: Mock = { url: model.url, records: [], close: model.close };
    await runAgent("claude-code", sandbox, mock, [...asking, "--model", "claude-sonnet-4-5"]);
    expect(JSON.stringify(model.requests[0]?.messages)).not.toContain(NUMBER);
    await jpg("import", path);
    const turn = await jpg("print", "--turn", String(TURNS));
    expect(turn).toContain("mcp__jpg__search");
    expect(turn).toContain("mcp__jpg__show");
    expect(turn).toContain("It is 99 cm.");
  });
});

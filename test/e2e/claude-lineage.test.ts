// Sessions that the real Claude Code copies under a new id, after a compaction too, come in as forks of one conversation that show
// what it sends. Needs the agent (JPG_AGENTS_DIR).
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DRIVERS, findAgent } from "../agents/drivers.ts";
import { type ModelServer, startModelServer } from "../agents/model-server.ts";
import { readSent, type SentMessage } from "../agents/sent-messages.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const run = promisify(execFile);
const why = agentsFolder === undefined ? " (skipped: set JPG_AGENTS_DIR)" : "";
const driver = DRIVERS["claude-code"]!;
const ID = "5e551073-0000-4000-8000-00000000001a";
const FORK = "5e551073-0000-4000-8000-00000000001f";

let sandbox: Sandbox;
let server: ModelServer;
let work: string;
beforeEach(async () => {
  sandbox = createSandbox();
  work = join(sandbox.root, "work");
  mkdirSync(work);
  server = await startModelServer("As you wish.");
});
afterEach(async () => {
  await server.close();
  sandbox.remove();
});

/** Starts the agent with a prompt, offline; returns the conversation of its last request, without the prompt. */
async function ask(prompt: string, ...options: string[]): Promise<readonly SentMessage[]> {
  const { program } = findAgent("claude-code", agentsFolder ?? "") ?? { program: "" };
  const model = ["--model", "claude-sonnet-4-5"];
  const { env } = driver.prepare(
    { agent: "claude-code", path: "/dev/null" },
    { home: sandbox.home, work, url: server.url },
    "",
  );
  const closed = "http://127.0.0.1:9";
  await run(program, ["-p", ...model, ...options, prompt], {
    cwd: work,
    env: {
      PATH: process.env["PATH"],
      HOME: sandbox.home,
      TMPDIR: sandbox.root,
      HTTPS_PROXY: closed,
      NO_PROXY: "127.0.0.1",
      ...env,
    },
  });
  const asked = server.requests.findLast(({ body }) => Array.isArray(body["tools"]) && body["tools"].length > 0);
  return asked === undefined ? [] : readSent(asked, prompt, driver.own);
}

function fileOf(session: string): string {
  const projects = join(sandbox.home, ".claude/projects");
  const [folder = ""] = readdirSync(projects).filter((name) =>
    readdirSync(join(projects, name)).includes(`${session}.jsonl`),
  );
  return join(projects, folder, `${session}.jsonl`);
}

const wordsOf = (messages: readonly { readonly content: unknown }[]): string[] =>
  messages
    .flatMap(({ content }) => (typeof content === "string" ? [{ type: "text", text: content }] : (content as object[])))
    .flatMap((block) => ("text" in block ? String(block.text).trim() : []))
    .filter((text) => text !== "" && !text.startsWith("<system-reminder>"));

async function viewOf(branch: string): Promise<string[]> {
  const { messages } = await sandbox.json<{ messages: { content: unknown }[] }>([
    "export",
    branch,
    "--to",
    "anthropic",
    "--messages",
  ]);
  return wordsOf(messages);
}

interface Report {
  readonly id: string;
  readonly branch: string;
  readonly status: string;
}
const take = async (session: string): Promise<Report> =>
  (await sandbox.json<Report[]>(["import", fileOf(session)]))[0]!;

describe.skipIf(agentsFolder === undefined)(
  `real agent: copies of a session of Claude Code${why}`,
  { tags: ["slow"] },
  () => {
    it("by --fork-session is a fork that shows what is sent", async () => {
      await ask("How old is the oak?", "--session-id", ID);
      await ask("And the elm?", "--resume", ID);
      const sent = await ask("And the yew?", "--resume", ID, "--fork-session", "--session-id", FORK);
      const [original, fork] = [await take(ID), await take(FORK)];
      expect(fork).toMatchObject({ status: "forked", id: original.id });
      expect(await viewOf(fork.branch)).toEqual([...wordsOf(sent), "And the yew?", "As you wish."]);
    });

    it("by --fork-session after a compaction is one, too", async () => {
      await ask("How old is the oak?", "--session-id", ID);
      await ask("And the elm?", "--resume", ID);
      await ask("/compact", "--resume", ID);
      await ask("And the ash?", "--resume", ID);
      const sent = await ask("And the yew?", "--resume", ID, "--fork-session", "--session-id", FORK);
      const [original, fork] = [await take(ID), await take(FORK)];
      expect(fork).toMatchObject({ status: "forked", id: original.id });
      expect(await viewOf(fork.branch)).toEqual([...wordsOf(sent), "And the yew?", "As you wish."]);
      const [hits] = await Promise.all([sandbox.json<unknown[]>(["search", "the elm"])]);
      expect(JSON.stringify(hits).match(/And the elm\?/g)).toHaveLength(1);
    });
  },
);

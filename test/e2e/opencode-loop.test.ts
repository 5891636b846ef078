// The whole loop with the real OpenCode: import, compact, hand it over, let it go on, import what it exports; from its own sessions
// and from Claude Code's. Nothing may be lost or stand twice on the way. Needs the agents (JPG_AGENTS_DIR) and the corpus.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { corpusMissing, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { variedOpenCodeSession } from "../helpers/opencode-session.ts";
import { installOpenCode, openCodeMissing, type RealOpenCode } from "../helpers/real-opencode.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? openCodeMissing;
const why = missing === null ? "" : ` (SKIPPED: ${missing})`;

type Block = SentBlock & { readonly role: string };

let sandbox: Sandbox;
let agent: RealOpenCode;
beforeEach(async () => {
  sandbox = createSandbox();
  if (missing === null) agent = await installOpenCode(sandbox);
});
afterEach(async () => {
  if (missing === null) await agent.close();
  sandbox.remove();
});

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args, { env: agent.env });
  if (code !== 0) throw new Error(`jpg ${args.join(" ")}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

interface Report {
  readonly status: string;
  readonly branch: string;
  readonly turns: number;
}
const bringIn = async (file: string): Promise<Report> =>
  (JSON.parse(await jpg("import", file, "--json")) as Report[])[0]!;

interface Resumed {
  readonly session: string;
  readonly path: string;
  readonly before: readonly string[];
  readonly command: readonly string[];
  readonly reused: boolean;
}

/** Hands the conversation to OpenCode. */
async function handOver(): Promise<Resumed> {
  const resumed = JSON.parse(await jpg("resume", "--with", "opencode", "--json")) as Resumed;
  const [, ...args] = resumed.before;
  expect(await agent.run(...args)).toContain(`Imported session: ${resumed.session}`);
  return resumed;
}

/** Brings a session back as OpenCode exports it. */
async function bringBack(session: string): Promise<Report> {
  const file = join(sandbox.root, `${session}.json`);
  agent.exportTo(file, session);
  return bringIn(file);
}

/** Words of jpg where OpenCode has its own, and the other way round. */
const SUMMARY_REQUEST = "[Summary of previous conversation]";
const REPAIR = /\[Tool call interrupted: |\[No new message\.\]|\[Earlier messages are not shown\.\]/;

/**
 * The blocks of a history as OpenCode sends them: texts that follow each other are one, reasoning, which the mock's model has
 * not made, is text, and calls are known by their order.
 */
function asSent(messages: readonly SentMessage[]): readonly Block[] {
  const ids = new Map<unknown, string>();
  const idOf = (id: unknown): string => ids.get(id) ?? ids.set(id, `call ${ids.size}`).get(id)!;
  const blocks: Block[] = [];
  for (const { role, blocks: own } of messages) {
    for (const { id, ...block } of own) {
      const text = block.text === SUMMARY_REQUEST ? "What did we do so far?" : block.text;
      const before = blocks.at(-1);
      if (text !== undefined && before?.role === role && before.type === "text" && role === "assistant")
        blocks[blocks.length - 1] = { ...before, text: `${before.text}${text}`.replace(/\n+/g, "") };
      else if (text !== undefined) blocks.push({ role, type: "text", text: text.replace(/\n+/g, "") });
      else blocks.push({ role, ...block, ...(id !== undefined && { id: idOf(id) }) } as Block);
    }
  }
  return blocks.filter((block) => !REPAIR.test(JSON.stringify(block)));
}

/** The view, as it would be sent. */
async function view(): Promise<readonly Block[]> {
  const body = JSON.parse(await jpg("export", "--to", "openai-chat", "--messages")) as { messages: unknown };
  return asSent(await sentHistory(body.messages, { agent: "opencode" }));
}

const REPLY = { role: "assistant", type: "text", text: "MOCK-REPLY-OK" };
const asked = (prompt: string): Block => ({ role: "user", type: "text", text: prompt });
/** OpenCode types what a person gives to `run` between quotes when it has blanks. */
const unquoted = (blocks: readonly Block[]): readonly Block[] =>
  blocks.map((block) => ({
    ...block,
    ...(block.text !== undefined && { text: block.text.replace(/^"(.*)"\s*$/, "$1") }),
  }));

/** A call of Claude Code's as OpenCode would make it. */
function asOwnCall(block: Block): Block {
  const { file_path: filePath, ...input } = (block["input"] ?? {}) as Record<string, unknown>;
  if (block.name === "Read") return { ...block, name: "read", input: { filePath, ...input } };
  return block.name === "Grep" ? { ...block, name: "grep" } : block;
}

/** An index that ends a view and the prompt behind it are two messages to OpenCode, and one where neighbours are joined. */
function joined(blocks: readonly Block[]): readonly Block[] {
  const done: Block[] = [];
  for (const block of blocks) {
    const before = done.at(-1);
    const goesOn = before?.role === "user" && block.role === "user" && before.type === "text" && block.type === "text";
    if (goesOn) done[done.length - 1] = { ...before, text: `${before.text}${block.text}` };
    else done.push(block);
  }
  return done;
}

/** Lets OpenCode go on, and brings the session back: nothing but the new turn may change. */
async function goOn(session: string, { prompt, turns }: { prompt: string; turns: number }): Promise<void> {
  const before = await view();
  const sent = unquoted(asSent(await agent.continueSession(session, prompt)));
  expect(joined(sent)).toEqual(joined([...before.map(asOwnCall), asked(prompt)]));
  expect(await bringBack(session)).toMatchObject({ status: "updated", turns });
  expect(joined(unquoted(await view()))).toEqual(joined([...before, asked(prompt), REPLY]));
  expect(await bringBack(session)).toMatchObject({ status: "unchanged", turns });
}

describe.skipIf(missing !== null)(`real agent: the loop with OpenCode${why}`, { timeout: 300_000 }, () => {
  const [, golden] = listGoldens("opencode");
  // What the mock's model is sent of reasoning, which it has not made, is text: the default profile takes it out.
  const strip = ["compact", "--keep", "0", "--force"];

  it("closes twice, and hands nothing over a second time that OpenCode went on with", async () => {
    const { turns } = await bringIn(join(sharedFolder, "corpus", golden?.file ?? ""));
    await jpg(...strip);
    const { session } = await handOver();
    expect(await handOver()).toMatchObject({ session, reused: true });
    expect(await bringBack(session)).toMatchObject({ status: "unchanged", turns });
    await goOn(session, { prompt: "proceed", turns: turns + 1 });
    await goOn(session, { prompt: "again", turns: turns + 2 });
    const next = await handOver();
    expect(next.session).not.toBe(session);
    await agent.continueSession(next.session, "unseen");
    const other = await handOver();
    expect(other).toMatchObject({ reused: false });
    expect(other.session).not.toBe(next.session);
    // All three are asked for where nothing is named; what was said in the second one is not here yet.
    const found = JSON.parse(await jpg("import", "--json")) as readonly Report[];
    expect(found.map(({ status }) => status).sort()).toEqual(["unchanged", "unchanged", "updated"]);
    expect(Math.max(...found.map((report) => report.turns))).toBe(turns + 3);
  });

  it("begins with a summary as with one of OpenCode's own", async () => {
    const { turns } = await bringIn(
      sandbox.session("varied.json", variedOpenCodeSession("ses_varied00000000000000000001").bytes()),
    );
    await jpg(...strip);
    const summary = join(sandbox.root, "summary.md");
    writeFileSync(summary, "## TASK STATE\nEverything until here was done.\n");
    await jpg("compact", "--from", "0", "--keep", "1", "--accept", summary, "--force");
    const { session } = await handOver();
    await goOn(session, { prompt: "proceed", turns: turns + 1 });
  });

  it("takes a conversation of Claude Code", async () => {
    const [claude] = listGoldens("claude-code").filter(({ file }) => file.includes("entireio__cli"));
    const { turns, branch } = await bringIn(join(sharedFolder, "corpus", claude?.file ?? ""));
    await jpg(...strip);
    const { session } = await handOver();
    await goOn(session, { prompt: "proceed", turns: turns + 1 });
    expect(await bringBack(session)).toMatchObject({ branch });
  });
});

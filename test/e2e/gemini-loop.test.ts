// The whole loop with the real Gemini CLI: import, compact, export, let it go on, import its file; from its own sessions and from
// Claude Code's. Nothing may be lost or stand twice on the way. Needs the agents (JPG_AGENTS_DIR) and the corpus (../shared or
// JPG_CORPUS).
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { corpusMissing, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import { type Json, sessionBytes, variedGeminiSession } from "../helpers/gemini-session.ts";
import { type SentBlock, sentHistory } from "../helpers/normalizer.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { continueInGemini, geminiMissing, plain, resumeInGemini } from "../helpers/real-gemini.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? geminiMissing;
const because = (reason: string | null): string => (reason === null ? "" : ` (SKIPPED: ${reason})`);
const REPLY = 'assistant {"type":"text","text":"MOCK-REPLY-OK"}';
const CORPUS = ["c9_45f262e88d_0", "9c_53780d06b7_0", "ab_2b9748b105_0"].map((name) =>
  join(sharedFolder, "corpus/gemini/entireio__cli", `${name}.json`),
);
const NEWEST = CORPUS[2] ?? "";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args);
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

type Messages = readonly { readonly role: string; readonly blocks: readonly SentBlock[] }[];
const REPAIR = /\[Tool call interrupted: |\[No new message\.\]|No response requested\./;
const blocks = (messages: Messages): readonly string[] =>
  messages
    .flatMap(({ role, blocks: own }) => own.map(({ thought: _, ...block }) => `${role} ${JSON.stringify(block)}`))
    .filter((block) => !REPAIR.test(block));

/** The view as Google's API is sent it. */
async function view(): Promise<readonly string[]> {
  const { contents } = JSON.parse(await jpg("export", "--to", "google", "--messages")) as { contents: unknown };
  return blocks(plain(await sentHistory(contents, { agent: "gemini-cli" })));
}

async function resume(agent = "gemini-cli"): Promise<string> {
  return (JSON.parse(await jpg("resume", "--with", agent, "--json")) as { path: string }).path;
}

/** Blocks without the names of tools and of their arguments: those go out as the agent itself has them. */
const unnamed = (all: readonly string[]): readonly string[] =>
  all.map((block) => {
    const { name: _, input, ...rest } = JSON.parse(block.slice(block.indexOf("{"))) as Json;
    return `${block.split(" ", 1)[0]} ${JSON.stringify({ ...rest, values: Object.values((input ?? {}) as Json) })}`;
  });

/** Lets Gemini CLI go on in an exported session and brings its file back: nothing but the new turn may change. */
async function goOn(exported: string, { prompt, turns }: { prompt: string; turns: number }): Promise<void> {
  const before = await view();
  const { sent, withPrompt } = await continueInGemini(exported, { prompt });
  expect(blocks(sent)).toEqual(before);
  expect(await bringIn(exported)).toMatchObject({ status: "updated", turns });
  expect(await view()).toEqual([...blocks(withPrompt), REPLY]);
  expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });
}

function summaryFile(): string {
  const file = join(sandbox.root, "summary.md");
  writeFileSync(file, "## TASK STATE\nEverything until here was done.\n");
  return file;
}

/** What is done to the conversation before it is exported. */
const COMPACTIONS: Readonly<Record<string, () => readonly string[] | null>> = {
  nothing: () => null,
  "the default": () => ["--keep", "0"],
  "a summary of all": () => ["--from", "0", "--to", "0", "--accept", summaryFile(), "--force"],
};

describe.skipIf(missing !== null)(`real agent: the loop with Gemini CLI${because(missing)}`, () => {
  it.each(Object.entries(COMPACTIONS))("closes twice after %s", { timeout: 300_000 }, async (_, args) => {
    const { turns } = await bringIn(NEWEST);
    const compaction = args();
    if (compaction !== null) await jpg("compact", ...compaction);
    const exported = await resume();
    expect(exported).toMatch(/\.gemini\/tmp\/[a-z0-9-]+\/chats\/session-2026-01-15T20-51-[0-9a-f]{8}\.jsonl$/);
    expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });
    await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    await goOn(exported, { prompt: "and once more", turns: turns + 2 });
    const original = join(sandbox.root, "original");
    await jpg("export", "--original", "--output", original);
    expect(readFileSync(original).equals(readFileSync(NEWEST))).toBe(true);
  });

  it("takes a session with records of every kind, as the agent reads it itself", { timeout: 300_000 }, async () => {
    const file = sandbox.session("varied.jsonl", sessionBytes(variedGeminiSession()).toString());
    const { turns } = await bringIn(file);
    const own = await resumeInGemini(file);
    // What begins with a sign of the agent's own was said, and is only left out when the agent resumes its own file.
    expect((await view()).filter((block) => !block.includes("/etc/hosts"))).toEqual(blocks(own.sent));
    const exported = await resume();
    await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    expect((await view()).some((block) => block.includes("/etc/hosts"))).toBe(true);
  });

  it("goes on in its own file, from a document to lines", { timeout: 300_000 }, async () => {
    const { branch } = await bringIn(CORPUS[0] ?? "");
    expect(await bringIn(CORPUS[1] ?? "")).toMatchObject({ status: "updated", turns: 1, branch });
    expect(await bringIn(NEWEST)).toMatchObject({ status: "updated", turns: 1, branch });
    expect(await bringIn(CORPUS[0] ?? "")).toMatchObject({ status: "unchanged", turns: 1, branch });
    const before = await view();
    const first = await resumeInGemini(NEWEST, { prompt: "go on, please" });
    expect(blocks(first.sent)).toEqual(before);
    const lines = sandbox.session("lines.jsonl", first.after);
    expect(await bringIn(lines)).toMatchObject({ status: "updated", turns: 2, branch });
    expect(await view()).toEqual([...blocks(first.withPrompt), REPLY]);
    expect(await bringIn(NEWEST)).toMatchObject({ status: "unchanged", turns: 2, branch });
    const { withPrompt } = await continueInGemini(lines, { prompt: "and once more" });
    expect(await bringIn(lines)).toMatchObject({ status: "updated", turns: 3, branch });
    expect(await view()).toEqual([...blocks(withPrompt), REPLY]);
  });

  it("is no trouble by what the agent leaves beside a session that it opens", { timeout: 300_000 }, async () => {
    await bringIn(NEWEST);
    const exported = await resume();
    const { beside } = await continueInGemini(exported, { prompt: "go on, please" });
    expect(beside).toHaveLength(1);
    writeFileSync(join(dirname(exported), "session-2026-11-24T02-18-aaaaaaaa.jsonl"), beside[0] ?? "");
    const { stdout, code } = await sandbox.jpg(["import", "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, [{ status: "updated", turns: 2 }]]);
  });

  it("never overwrites a session that Gemini CLI went on with", { timeout: 300_000 }, async () => {
    await bringIn(NEWEST);
    const exported = await resume();
    expect(await resume()).toBe(exported);
    await continueInGemini(exported, { prompt: "go on, please" });
    const text = readFileSync(exported, "utf8");
    expect(await resume()).not.toBe(exported);
    expect(readFileSync(exported, "utf8")).toBe(text);
  });

  it("knows a session again that the agent took from a file", { timeout: 300_000 }, async () => {
    const { turns, branch } = await bringIn(NEWEST);
    const text = await jpg("export", "--to", "gemini-cli");
    const [header = "{}", ...messages] = text.trimEnd().split("\n");
    // As `gemini --session-file` writes it: another id, a word on where it comes from.
    const copied = { ...(JSON.parse(header) as Json), sessionId: "11111111-2222-4333-8444-555555555555" };
    const word = { id: "import-1", type: "info", content: "Imported session", timestamp: "2026-11-24T00:00:00.000Z" };
    const copy = [copied, word].map((line) => JSON.stringify(line)).concat(messages);
    const file = sandbox.session("copy.jsonl", `${copy.join("\n")}\n`);
    expect(await bringIn(file)).toMatchObject({ status: "unchanged", turns, branch });
    await continueInGemini(file, { prompt: "go on, please" });
    expect(await bringIn(file)).toMatchObject({ status: "updated", turns: turns + 1, branch });
  });

  it.skipIf(agentMissing !== null)(
    "hands a conversation of Claude Code to Gemini CLI, and back",
    { timeout: 300_000 },
    async () => {
      const [claude] = listGoldens("claude-code").filter(({ file }) => file.includes("entireio__cli"));
      const { turns, branch } = await bringIn(join(sharedFolder, "corpus", claude?.file ?? ""));
      const before = await view();
      const atGemini = await resume();
      const { sent, withPrompt } = await continueInGemini(atGemini, { prompt: "go on in Gemini CLI" });
      expect(unnamed(blocks(sent))).toEqual(unnamed(before));
      expect(blocks(sent).some((block) => block.includes('"name":"replace"'))).toBe(true);
      expect(await bringIn(atGemini)).toMatchObject({ status: "updated", turns: turns + 1, branch });
      expect(unnamed(await view())).toEqual(unnamed([...blocks(withPrompt), REPLY]));
      const atClaude = await resume("claude-code");
      await letAgentGoOn(atClaude, { prompt: "go on in Claude Code", model: claude?.model ?? "" });
      expect(await bringIn(atClaude)).toMatchObject({ status: "updated", turns: turns + 2, branch });
    },
  );
});

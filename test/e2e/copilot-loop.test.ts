// The whole loop with the real Copilot CLI: import, compact, export, let it go on, import its file; from its own sessions and from Claude
// Code's. Nothing may be lost or stand twice on the way. Needs the agents (JPG_AGENTS_DIR) and the corpus (../shared or JPG_CORPUS).
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compacted } from "../helpers/copilot-cases.ts";
import { begun, type CopilotLine, done, resumableCopilot, said, typed } from "../helpers/copilot-session.ts";
import { corpusMissing, listCorpus, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import type { SentBlock, SentMessage } from "../helpers/normalizer.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { copilotMissing, letCopilotGoOn, sentMessages } from "../helpers/real-copilot.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? agentMissing ?? copilotMissing;
const why = missing === null ? "" : ` (SKIPPED: ${missing})`;
const SLOW = { timeout: 300_000 };

/** What jpg's request for a model, or an agent, puts in by itself. */
const REPAIR = /^(?:No response requested\.|\[No new message\.\]|\[Earlier messages are not shown\.\])$/;

type Block = SentBlock & { readonly role: string };

function blocksOf(messages: readonly SentMessage[]): readonly Block[] {
  return messages
    .flatMap(({ role, blocks }) => blocks.map((block) => ({ ...block, role }) as Block))
    .filter(({ text = "" }) => !REPAIR.test(text));
}

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
  readonly id: string;
  readonly status: string;
  readonly branch: string;
  readonly turns: number;
}
const bringIn = async (file: string): Promise<Report> =>
  (JSON.parse(await jpg("import", file, "--json")) as Report[])[0]!;

/** The view as a model is sent it. */
async function view(): Promise<readonly Block[]> {
  return blocksOf(sentMessages(JSON.parse(await jpg("export", "--to", "anthropic", "--messages"))));
}

async function resume(agent: string): Promise<string> {
  return (JSON.parse(await jpg("resume", "--with", agent, "--json")) as { path: string }).path;
}

const REPLY = { role: "assistant", type: "text", text: "That is my answer." };

/** Lets Copilot CLI go on in an exported session and brings its file back: nothing but the new turn may change. */
async function goOn(exported: string, { prompt, turns }: { prompt: string; turns: number }): Promise<void> {
  const before = await view();
  const { sent, withPrompt } = await letCopilotGoOn(exported, { prompt });
  expect(blocksOf(sent)).toEqual(before);
  expect(await bringIn(exported)).toMatchObject({ status: "updated", turns });
  expect(await view()).toEqual([...blocksOf(withPrompt), REPLY]);
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
  "the default": () => ["--keep", "1"],
  "a summary of everything but the newest turn": () => [
    "--from",
    "0",
    "--keep",
    "1",
    "--accept",
    summaryFile(),
    "--force",
  ],
  "a summary in the middle": () => ["--from", "2", "--to", "4", "--accept", summaryFile(), "--force"],
};

/** A session of seven turns, each with calls. */
function longSession(...more: readonly CopilotLine[]): string {
  const turns = Array.from({ length: 7 }, (_, n): readonly CopilotLine[] => [
    typed(`Question ${n}`, `<current_datetime>day ${n}</current_datetime>\n\nQuestion ${n}`),
    said("", [`a${n}`, `b${n}`]),
    done(`b${n}`, `second ${n}`),
    done(`a${n}`, `first ${n} ${"kelp ".repeat(50)}`),
    said(`Answer ${n}`),
  ]);
  return resumableCopilot([begun(), ...turns.flat(), ...more]);
}

const [published = ""] = listCorpus("copilot-cli").filter((file) => !file.endsWith("copilot_small.jsonl"));

describe.skipIf(missing !== null)(`real agent: the loop with Copilot CLI${why}`, () => {
  it.each(Object.entries(COMPACTIONS))("closes twice after %s", SLOW, async (_, args) => {
    const text = longSession();
    const path = sandbox.session("events.jsonl", text);
    const { turns } = await bringIn(path);
    const compaction = args();
    if (compaction !== null) await jpg("compact", ...compaction);
    const exported = await resume("copilot-cli");
    expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });
    await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    await goOn(exported, { prompt: "and once more", turns: turns + 2 });
    const original = join(sandbox.root, "original");
    await jpg("export", "--original", "--output", original);
    expect(readFileSync(original, "utf8")).toBe(text);
  });

  it("takes a session that somebody published", SLOW, async () => {
    const { turns } = await bringIn(join(sharedFolder, "corpus", published));
    await goOn(await resume("copilot-cli"), { prompt: "go on, please", turns: turns + 1 });
  });

  it("takes one that Copilot CLI compacted, and one that it compacts after the export", SLOW, async () => {
    const { turns } = await bringIn(sandbox.session("events.jsonl", longSession(compacted("Kelp was seen."))));
    const exported = await resume("copilot-cli");
    await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    await letCopilotGoOn(exported, { prompt: "/compact" });
    expect(await bringIn(exported)).toMatchObject({ status: "updated", turns: turns + 1 });
    const shown = await view();
    expect(shown).toHaveLength(1);
    expect(shown[0]?.text).toContain("<user_message>\ngo on, please\n</user_message>");
    expect(shown[0]?.text).toContain("<summary>\nThat is my answer.\n</summary>");
    await goOn(exported, { prompt: "and once more", turns: turns + 2 });
    await jpg("undo");
    expect((await view()).length).toBeGreaterThan(shown.length + 2);
    await goOn(await resume("copilot-cli"), { prompt: "the last one", turns: turns + 3 });
  });

  it("goes on with its own file, and keeps what the agent repairs away", SLOW, async () => {
    const torn = '{"type":"user.message","data":{"content":"half of a wo';
    const file = sandbox.session("events.jsonl", `${longSession()}${torn}`);
    const { turns } = await bringIn(file);
    const before = await view();
    const { sent, withPrompt } = await letCopilotGoOn(file, { prompt: "go on, please" });
    expect(blocksOf(sent)).toEqual(before);
    expect(readFileSync(file, "utf8")).not.toContain(torn);
    expect(await bringIn(file)).toMatchObject({ turns: turns + 1 });
    expect(await view()).toEqual([...blocksOf(withPrompt), REPLY]);
  });

  it("never overwrites a session that Copilot CLI went on with, nor one that is there", SLOW, async () => {
    await bringIn(sandbox.session("events.jsonl", longSession()));
    const exported = await resume("copilot-cli");
    expect(await resume("copilot-cli")).toBe(exported);
    await letCopilotGoOn(exported, { prompt: "go on, please" });
    const text = readFileSync(exported, "utf8");
    expect(await resume("copilot-cli")).not.toBe(exported);
    expect(readFileSync(exported, "utf8")).toBe(text);
  });

  it("hands a conversation of Claude Code to Copilot CLI, and back", SLOW, async () => {
    const [claude] = listGoldens("claude-code").filter(({ file }) => file.includes("entireio__cli"));
    const { turns, branch } = await bringIn(join(sharedFolder, "corpus", claude?.file ?? ""));
    const there = await resume("copilot-cli");
    const before = await view();
    const { sent } = await letCopilotGoOn(there, { prompt: "go on in Copilot CLI" });
    // Copilot CLI sees the calls as its own; reasoning is not sent.
    const said = before.filter(({ type }) => type === "text");
    expect(blocksOf(sent).filter(({ type }) => type === "text")).toEqual(said);
    expect(await bringIn(there)).toMatchObject({ status: "updated", turns: turns + 1, branch });
    const after = await view();
    expect(after.slice(0, before.length)).toEqual(before);

    const back = await letAgentGoOn(await resume("claude-code"), { prompt: "go on there", model: claude?.model ?? "" });
    const texts = JSON.stringify(back.sent);
    expect(texts).toContain("go on in Copilot CLI");
    expect(texts).toContain("That is my answer.");
  });
});

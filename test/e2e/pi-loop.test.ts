// The whole loop with the real pi: import, compact, export, let it go on, import its file; from its own sessions and from Claude
// Code's. Nothing may be lost or stand twice on the way. Needs the agents (JPG_AGENTS_DIR) and the corpus (../shared or JPG_CORPUS).
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { corpusMissing, listGoldens, sharedFolder } from "../helpers/corpus.ts";
import { type SentBlock, type SentMessage, sentHistory } from "../helpers/normalizer.ts";
import { variedPiSession } from "../helpers/pi-session.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { letPiGoOn, type PiProgram, piPrograms } from "../helpers/real-pi.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const missing = corpusMissing ?? agentMissing;
const why = missing === null ? "" : ` (SKIPPED: ${missing})`;

type Block = SentBlock & { readonly role: string };

const SUMMARY_REQUEST = "[Summary of previous conversation]";
/** What an agent, or the request that jpg writes, puts in by itself. */
const REPAIR =
  /No response requested\.|\[No new message\.\]|\[Earlier messages are not shown\.\]|\[Tool call interrupted: /;

/** The blocks of a history; a summary in the frame in which pi sends it. */
function asPiSends(messages: readonly SentMessage[]): readonly Block[] {
  const blocks = messages
    .flatMap(({ role, blocks: own }) => own.map((block) => ({ ...block, role }) as Block))
    .filter((block) => !REPAIR.test(JSON.stringify(block)));
  const [request, summary, ...rest] = blocks;
  if (request?.text !== SUMMARY_REQUEST) return blocks;
  const frame = "The conversation history before this point was compacted into the following summary:";
  return [{ role: "user", type: "text", text: `${frame}\n\n<summary>\n${summary?.text}\n</summary>` }, ...rest];
}

/** A call of Claude Code's as pi would make it. */
function asCallOfPi(block: Block): Block {
  const { file_path: path, ...input } = (block["input"] ?? {}) as Record<string, unknown>;
  if (block.name === "Read") return { ...block, name: "read", input: { path, ...input } };
  return block.name === "Grep" ? { ...block, name: "grep" } : block;
}

let sandbox: Sandbox;
/** The version under test. */
let program: PiProgram | undefined;
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

/** The view, without what an agent injects when it resumes. */
async function view(agent: "claude-code" | "pi" = "pi"): Promise<readonly Block[]> {
  const body = JSON.parse(await jpg("export", "--to", "anthropic", "--messages")) as { messages: unknown };
  return asPiSends(await sentHistory(body.messages, { agent }));
}

async function resume(agent: string): Promise<string> {
  return (JSON.parse(await jpg("resume", "--with", agent, "--json")) as { path: string }).path;
}

const REPLY = { role: "assistant", type: "text", text: "MOCK-REPLY-OK" };

/** Lets pi go on in an exported session and brings its file back: nothing but the new turn may change. */
async function goOn(exported: string, { prompt, turns }: { prompt: string; turns: number }): Promise<void> {
  const before = await view();
  const { sent, withPrompt } = await letPiGoOn(exported, { prompt, program });
  expect(asPiSends(sent)).toEqual(before);
  expect(await bringIn(exported)).toMatchObject({ status: "updated", turns });
  expect(await view()).toEqual([...asPiSends(withPrompt), REPLY]);
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
  default: () => ["--keep", "1"],
  "a summary of everything but the newest turn": () => [
    "--from",
    "0",
    "--keep",
    "1",
    "--accept",
    summaryFile(),
    "--force",
  ],
  "a summary in the middle": () => ["--from", "2", "--to", "5", "--accept", summaryFile(), "--force"],
};

const versions = piPrograms.length === 0 ? [undefined] : piPrograms;

describe.skipIf(missing !== null).each(versions)(`real agent: the loop with pi $version${why}`, (installed) => {
  beforeEach(() => {
    program = installed;
  });
  const [golden] = listGoldens("pi");

  it.each(Object.entries(COMPACTIONS))("closes twice after %s", { timeout: 300_000 }, async (_, args) => {
    const path = join(sharedFolder, "corpus", golden?.file ?? "");
    const { turns } = await bringIn(path);
    const compaction = args();
    if (compaction !== null) await jpg("compact", ...compaction);
    const exported = await resume("pi");
    expect(await bringIn(exported)).toMatchObject({ status: "unchanged", turns });
    await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    await goOn(exported, { prompt: "and once more", turns: turns + 2 });
    const original = join(sandbox.root, "original");
    await jpg("export", "--original", "--output", original);
    expect(readFileSync(original).equals(readFileSync(path))).toBe(true);
  });

  it.each([1, 2, 3] as const)(
    "takes a session with entries of every kind, version %i",
    { timeout: 300_000 },
    async (version) => {
      const file = sandbox.session(`varied-${version}.jsonl`, variedPiSession("varied", version).bytes().toString());
      const { turns } = await bringIn(file);
      const exported = await resume("pi");
      await goOn(exported, { prompt: "go on, please", turns: turns + 1 });
    },
  );

  it("knows a file of the first version again, to which pi gave ids", { timeout: 300_000 }, async () => {
    const bytes = readFileSync(join(sharedFolder, "corpus", golden?.file ?? ""));
    const file = sandbox.session("first.jsonl", bytes.toString());
    const { turns, branch } = await bringIn(file);
    const before = await view();
    const { sent } = await letPiGoOn(file, { prompt: "go on, please", program });
    expect(readFileSync(file, "utf8").slice(0, 300)).toContain('"version":3');
    expect(asPiSends(sent)).toEqual(before);
    expect(await bringIn(file)).toMatchObject({ status: "updated", turns: turns + 1, branch });
    expect(await bringIn(file)).toMatchObject({ status: "unchanged", turns: turns + 1, branch });
  });

  it("never overwrites a session that pi went on with, nor one that stands there", { timeout: 300_000 }, async () => {
    await bringIn(sandbox.session("varied.jsonl", variedPiSession("varied").bytes().toString()));
    const exported = await resume("pi");
    expect(await resume("pi")).toBe(exported);
    await letPiGoOn(exported, { prompt: "go on, please", program });
    const text = readFileSync(exported, "utf8");
    expect(await resume("pi")).not.toBe(exported);
    expect(readFileSync(exported, "utf8")).toBe(text);
  });

  it("hands a conversation of Claude Code to pi, and back", { timeout: 300_000 }, async () => {
    const [claude] = listGoldens("claude-code").filter(({ file }) => file.includes("entireio__cli"));
    const { turns, branch } = await bringIn(join(sharedFolder, "corpus", claude?.file ?? ""));
    const atPi = await resume("pi");
    const before = await view();
    const { sent, withPrompt } = await letPiGoOn(atPi, { prompt: "go on in pi", program });
    // pi sees the calls as its own; in jpg they stay as they were made.
    expect(before.some(({ name }) => name === "Read")).toBe(true);
    expect(asPiSends(sent)).toEqual(before.map(asCallOfPi));
    expect(await bringIn(atPi)).toMatchObject({ status: "updated", turns: turns + 1, branch });
    const after = await view();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.map(asCallOfPi)).toEqual([...asPiSends(withPrompt), REPLY]);

    const atClaude = await resume("claude-code");
    const beforeClaude = await view("claude-code");
    const back = await letAgentGoOn(atClaude, { prompt: "go on in Claude Code", model: claude?.model ?? "" });
    expect(asPiSends(back.sent)).toEqual(beforeClaude);
    expect(await bringIn(atClaude)).toMatchObject({ status: "updated", turns: turns + 2, branch });
    expect(await view("claude-code")).toEqual([...asPiSends(back.withPrompt), REPLY]);
  });
});

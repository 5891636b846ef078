// The real Claude Code resumes what we export: what it then sends is the thread, and what it appends leaves our bytes as
// they are. Needs the agent (JPG_AGENTS_DIR) and the runner beside the project (../shared or JPG_CORPUS).
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { View } from "../../src/core/conversation/event.ts";
import { projectTurns } from "../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../src/core/model/anthropic-rules.ts";
import { toAnthropicThread } from "../../src/core/model/anthropic-thread.ts";
import type { Thread } from "../../src/core/model/thread.ts";
import { readClaudeSession } from "../../src/formats/claude-code/agent.ts";
import { type ClaudeExport, exportClaudeCode } from "../../src/formats/claude-code/write.ts";
import { lineUuid, readExportOrigin } from "../../src/formats/imported-session.ts";
import { EXPORT_CASES, plainThread } from "../formats/claude-code/export-views.ts";
import { agentsFolder } from "../helpers/real-agent.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));
const shared = process.env["JPG_CORPUS"] ?? join(root, "../shared");
const tools = join(shared, "agents");
const agents = agentsFolder;
const isReady = agents !== undefined && existsSync(join(tools, "resume.mjs"));

const SESSION = "6f1a2b3c-0000-4000-8000-00000000abcd";
const ORIGIN = { conversation: "kelp-k3f9", branch: "kelp-k3f9/main", commit: "a".repeat(40) };
const lineId = (source: string): string =>
  lineUuid(SESSION, source, (bytes) => createHash("sha1").update(bytes).digest());

interface Normalizer {
  readonly normalize: (messages: unknown, options: { agent: string; prompt?: string }) => unknown[];
  readonly history: (messages: unknown[]) => unknown[];
}
const tool = isReady ? ((await import(pathToFileURL(join(tools, "normalize.mjs")).href)) as Normalizer) : null;

interface Resumed {
  /** Normalised messages the agent sent. */
  readonly messages: unknown[];
  /** The session file after the agent has appended to it. */
  readonly after: string;
}

async function resume(session: ClaudeExport, model: string): Promise<Resumed> {
  const folder = await mkdtemp(join(tmpdir(), "jpg-e2e-"));
  const file = join(folder, `${SESSION}.jsonl`);
  await writeFile(file, session.text);
  const args = [
    join(tools, "resume.mjs"),
    "claude-code",
    file,
    "--agents",
    agents ?? "",
    "--model",
    model,
    "--json",
    "--keep",
  ];
  const { stdout, stderr } = await run(process.execPath, args, { maxBuffer: 1 << 28 });
  const kept = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  const after = await readFile(join(kept, "work/session", `${SESSION}.jsonl`), "utf8");
  await Promise.all([folder, kept].map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })));
  return { messages: (JSON.parse(stdout) as { messages: unknown[] }).messages, after };
}

function write(view: View, thread: Thread): ClaudeExport {
  return exportClaudeCode({
    thread,
    view,
    sessionId: SESSION,
    lineId,
    origin: ORIGIN,
    cwd: "/tmp/kelp",
    title: "Kelp beds",
  });
}

/** The messages of a thread as the API takes them. */
function wire(thread: Thread): { role: string; content: Readonly<Record<string, unknown>>[] }[] {
  return thread.messages.map(({ role, blocks }) => ({ role, content: blocks.map(({ block }) => block) }));
}

/** What the agent adds by itself to a history that ends with the user. */
const REPAIR = JSON.stringify({ role: "assistant", blocks: [{ type: "text", text: "No response requested." }] });

function history(messages: unknown[]): unknown[] {
  const all = tool?.history(messages) ?? [];
  return JSON.stringify(all.at(-1)) === REPAIR ? all.slice(0, -1) : all;
}

function expected(thread: Thread): unknown[] {
  return history(tool?.normalize(wire(thread), { agent: "claude-code" }) ?? []);
}

describe.skipIf(!isReady)("Claude Code resumes an export (real agent: needs JPG_AGENTS_DIR)", () => {
  const runs = EXPORT_CASES.flatMap((one) => (one.models ?? ["claude-sonnet-4-5"]).map((model) => ({ ...one, model })));

  it.each(runs)("sends exactly the thread and leaves our bytes: $name ($model)", async ({ view, model }) => {
    const thread = plainThread(view);
    const session = write(view, thread);
    const { messages, after } = await resume(session, model);
    expect(history(messages)).toEqual(expected(thread));

    expect(after.startsWith(session.text)).toBe(true);
    expect(readExportOrigin(JSON.parse(after.slice(0, after.indexOf("\n"))))).toEqual(ORIGIN);
    const added = after.slice(session.text.length).trimEnd().split("\n");
    const nodes = added
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter((line) => line["uuid"] !== undefined);
    expect(nodes.map((line) => line["uuid"]).filter((uuid) => session.lines.has(String(uuid)))).toEqual([]);
    expect([...session.lines.keys()].at(-1)).toBe(nodes[0]?.["parentUuid"]);
  });

  it("sends the agent's own attachments again as it stored them", async () => {
    const view = EXPORT_CASES.find(({ name }) => name.startsWith("harness"))?.view ?? { turns: [] };
    const { messages } = await resume(write(view, plainThread(view)), "claude-sonnet-4-5");
    const sent = JSON.stringify(messages);
    expect(sent.split("The date has changed.").length - 1).toBe(1);
    expect(sent.split("The file was formatted.").length - 1).toBe(1);
  });
});

const index = join(shared, "goldens/INDEX.tsv");
const sessions = existsSync(index)
  ? readFileSync(index, "utf8")
      .split("\n")
      .map((row) => row.split("\t"))
      .filter(([golden]) => golden?.startsWith("claude-code-"))
  : [];
const STRIP: Compaction = {
  type: "compaction",
  id: "strip1",
  timestamp: "2030-01-01T00:00:00.000Z",
  from_turn: 0,
  to_turn: Number.MAX_SAFE_INTEGER,
  reasoning: "strip",
  tool_calls: { policy: "strip", request: true, response: true },
};
/** Hides the first half of the conversation. */
const summarise = (turnCount: number): Compaction => ({
  type: "compaction",
  id: "summ1",
  timestamp: "2030-01-02T00:00:00.000Z",
  from_turn: 0,
  to_turn: Math.floor((turnCount - 1) / 2),
  ...(turnCount > 1 ? { summary: { summary: "We mapped the beds." } } : { reasoning: "strip" }),
});

describe.skipIf(!isReady || sessions.length === 0)(
  "Claude Code resumes real sessions after a round trip (real agent and corpus: needs JPG_AGENTS_DIR, ../shared or JPG_CORPUS)",
  () => {
    it.each(sessions)("sends the view, as imported and compacted: %s", async (_, file = "", model = "") => {
      const source = createBufferSource(readFileSync(join(shared, "corpus", file)));
      const imported = readClaudeSession(source);
      const turns = Array.from({ length: imported.turnCount }, (__, turn) => ({
        index: turn,
        events: imported.readTurn(turn),
      }));
      for (const added of [[], [STRIP], [STRIP, summarise(turns.length)]]) {
        const view = projectTurns(turns, [...imported.compactions, ...added]);
        const thread = toAnthropicThread(view, { model, systemMessages: true });
        const errors = checkAnthropic(wire(thread), { complete: false }).filter(({ severity }) => severity === "error");
        expect(errors).toEqual([]);
        const { messages } = await resume(write(view, thread), model);
        expect(history(messages)).toEqual(expected(thread));
      }
    });
  },
);

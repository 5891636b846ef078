// The main loop with the real agent: import, compact, resume; the agent is sent exactly the projected messages, and what it
// appends comes back into the same conversation. Needs the agent (JPG_AGENTS_DIR) and its runner (../shared or JPG_CORPUS).
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { exportConversation } from "../../src/app/import/export.ts";
import { importSessions } from "../../src/app/import/import.ts";
import { prepareResume } from "../../src/app/import/resume.ts";
import { readCompactionLog } from "../../src/app/look/log.ts";
import { parseBound } from "../../src/core/conversation/range-bound.ts";
import { sharedFolder } from "../helpers/corpus.ts";
import { agentsFolder } from "../helpers/real-agent.ts";
import { buildSession, plainTurns } from "../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../helpers/workspace.ts";

const run = promisify(execFile);
const tools = join(sharedFolder, "agents");
const agents = agentsFolder ?? "";
const isReady = agents !== "" && existsSync(join(tools, "resume.mjs"));
const why = isReady ? "" : " (SKIPPED: set JPG_AGENTS_DIR to a folder with the real agents)";
if (!isReady) console.warn(`real agent: the resume loop is not run${why}`);

interface Normalizer {
  readonly normalize: (messages: unknown, options: { agent: string }) => unknown[];
  readonly history: (messages: unknown[]) => unknown[];
}
const tool = isReady ? ((await import(pathToFileURL(join(tools, "normalize.mjs")).href)) as Normalizer) : null;

let workspace: GitWorkspace;
let branch: string;
const kept: string[] = [];

beforeEach(async () => {
  if (!isReady) return;
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(5)).text()));
});
afterEach(async () => {
  if (!isReady) return;
  await removeWorkspace(workspace);
  await Promise.all(kept.splice(0).map((path) => rm(path, { recursive: true, force: true, maxRetries: 5 })));
});

const treeOf = async (name = branch): Promise<BranchTree> =>
  loadBranchTree(workspace.store, name, await tipOf(workspace, name));

interface Resumed {
  /** History the agent sent, normalised, without its prompt. */
  readonly sent: unknown[];
  /** The session file as the agent left it. */
  readonly path: string;
  readonly text: string;
}

/** Lets the agent go on in a copy of a session file; the copy keeps the file's name, as the agent's own file would. */
async function letAgentWork(path: string, prompt: string): Promise<Resumed> {
  const args = [
    join(tools, "resume.mjs"),
    "claude-code",
    path,
    "--agents",
    agents,
    "--json",
    "--keep",
    "--prompt",
    prompt,
  ];
  // A `/compact` sends no history of its own, which the runner takes for a refusal; the file tells what happened.
  const tolerate = (error: { stdout: string; stderr: string }) => {
    if (prompt !== "/compact") throw error;
    return error;
  };
  const { stdout, stderr } = await run(process.execPath, args, { maxBuffer: 1 << 28 }).catch(tolerate);
  const folder = /^kept: (.*)$/m.exec(stderr)?.[1] ?? "";
  kept.push(folder);
  const session = join(folder, "work/session");
  const [name = ""] = (await readdir(session)).filter((file) => file.endsWith(".jsonl"));
  const left = join(await mkdtemp(join(tmpdir(), "jpg-e2e-")), basename(path));
  kept.push(join(left, ".."));
  const text = await readFile(join(session, name), "utf8");
  await writeFile(left, text);
  const sent = stdout === "" ? [] : history((JSON.parse(stdout) as { messages: unknown[] }).messages);
  return { sent, path: left, text };
}

/** What the agent adds by itself to a history that ends with the user. */
const REPAIR = JSON.stringify({ role: "assistant", blocks: [{ type: "text", text: "No response requested." }] });

function history(messages: unknown[]): unknown[] {
  const all = tool?.history(messages) ?? [];
  return JSON.stringify(all.at(-1)) === REPAIR ? all.slice(0, -1) : all;
}

/** What the projection says the agent must be sent. */
async function projected(name = branch): Promise<unknown[]> {
  const request = { to: "anthropic", fullHistory: false, messages: true, model: "claude-sonnet-4-5-20250929" };
  const { messages } = JSON.parse(await exportConversation(workspace, await treeOf(name), request)) as {
    messages: unknown[];
  };
  return history(tool?.normalize(messages, { agent: "claude-code" }) ?? []);
}

async function summarise(to: number): Promise<string> {
  const request = { range: { to: parseBound(String(to)) }, summary: { summary: "The first steps were taken." } };
  const { compaction } = await compact(workspace, await treeOf(), {
    ...request,
    dryRun: false,
    fork: false,
    activate: false,
  });
  return compaction!.id;
}

async function bringBack(path: string) {
  const { sessions } = await importSessions(workspace, { paths: [path], allBranches: false });
  return sessions[0]!;
}

const loop = describe.skipIf(!isReady);

loop(`real agent: the resume loop${why}`, () => {
  it("real agent: is sent exactly the view, and its turns come back into the conversation, round after round", async () => {
    const strip = { tool_calls: { policy: "strip", request: true, response: true } } as const;
    const range = { to: parseBound("3") };
    await compact(workspace, await treeOf(), { range, policies: strip, dryRun: false, fork: false, activate: false });
    await summarise(1);
    const before = await treeOf();

    const first = await letAgentWork(
      (await prepareResume(workspace, before, { name: "claude-code" })).path,
      "go on please",
    );
    expect(first.sent).toEqual(await projected());
    expect(await bringBack(first.path)).toMatchObject({ status: "updated", branch, turns: 6, turns_added: 1 });
    const after = await treeOf();
    expect(after.turnOids.slice(0, 5)).toEqual(before.turnOids);
    expect(after.compactions).toEqual(before.compactions);
    expect(await bringBack(first.path)).toMatchObject({ status: "unchanged", branch });

    const second = await letAgentWork((await prepareResume(workspace, after, { name: "claude-code" })).path, "and on");
    expect(second.sent).toEqual(await projected());
    expect(JSON.stringify(second.sent)).toContain("go on please");
    expect(await bringBack(second.path)).toMatchObject({ status: "updated", branch, turns: 7, turns_added: 1 });

    const same = await letAgentWork(second.path, "in the same session");
    expect(await bringBack(same.path)).toMatchObject({ status: "updated", branch, turns: 8, turns_added: 1 });
    expect((await readCompactionLog(workspace, await treeOf())).map(({ kind }) => kind)).toEqual([
      "compaction",
      "compaction",
    ]);
  });

  it("real agent: its /compact becomes a compaction of the conversation", async () => {
    await summarise(1);
    const { path } = await prepareResume(workspace, await treeOf(), { name: "claude-code" });
    const worked = await letAgentWork(path, "first some work");
    await bringBack(worked.path);
    const compacted = await letAgentWork(worked.path, "/compact");
    const report = await bringBack(compacted.path);
    expect(report).toMatchObject({ status: "updated", branch, compactions: 2 });
    const [row, ...rest] = await readCompactionLog(workspace, await treeOf());
    expect(row).toMatchObject({ kind: "compaction", from_turn: 0, source: "import", live: true });
    expect(row?.not_applied).toBeUndefined();
    expect(rest.map(({ live }) => live)).toEqual([true]);
    expect(await bringBack(compacted.path)).toMatchObject({ status: "unchanged" });

    const next = await letAgentWork(compacted.path, "after the compaction");
    expect(next.sent).toEqual(await projected());
    expect(await bringBack(next.path)).toMatchObject({ status: "updated", branch, turns_added: 1 });
    const again = await letAgentWork(
      (await prepareResume(workspace, await treeOf(), { name: "claude-code" })).path,
      "once more",
    );
    expect(again.sent).toEqual(await projected());
  });

  it("real agent: a first /compact right after the resume is one, too", async () => {
    const { path } = await prepareResume(workspace, await treeOf(), { name: "claude-code" });
    const compacted = await letAgentWork(path, "/compact");
    expect(await bringBack(compacted.path)).toMatchObject({ status: "updated", branch, compactions: 1 });
    const [row] = await readCompactionLog(workspace, await treeOf());
    expect(row).toMatchObject({ from_turn: 0, live: true });
    expect(await bringBack(compacted.path)).toMatchObject({ status: "unchanged" });
    const next = await letAgentWork(compacted.path, "go on");
    expect(next.sent).toEqual(await projected());
  });

  it("real agent: a session that it went on writing is never overwritten by the next resume", async () => {
    const tree = await treeOf();
    const first = await prepareResume(workspace, tree, { name: "claude-code" });
    expect(await prepareResume(workspace, tree, { name: "claude-code" })).toMatchObject({
      path: first.path,
      reused: true,
    });
    const worked = await letAgentWork(first.path, "some work");
    await writeFile(first.path, worked.text);
    const next = await prepareResume(workspace, tree, { name: "claude-code" });
    expect(next.path).not.toBe(first.path);
    expect(await readFile(first.path, "utf8")).toBe(worked.text);
    const other = await letAgentWork(next.path, "other work");
    expect(await bringBack(first.path)).toMatchObject({ status: "updated", branch, turns: 6 });
    const forked = await bringBack(other.path);
    expect(forked).toMatchObject({ status: "forked", turns: 6, turns_added: 1 });
    expect(await workspace.store.readActiveBranch()).toBe(forked.branch);
    expect(JSON.stringify(await projected(forked.branch))).toContain("other work");
    expect(JSON.stringify(await projected(forked.branch))).not.toContain("some work");
  });
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compactHistory, type HistoryRequest } from "../../../src/app/compact/history.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { undoCompaction } from "../../../src/app/manage/revert.ts";
import { emptyStatus, loadChatStatus } from "../../../src/app/talk/chat-model.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;

const load = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const lines = async (): Promise<readonly string[]> =>
  (await loadView(workspace.store, await load())).view.turns.map(({ events }) => JSON.stringify(events));
const compact = async (request: Partial<HistoryRequest> = {}) =>
  compactHistory(workspace, await load(), { model: "extractive", preview: false, ...request });

async function importTurns(turns: number): Promise<void> {
  branch = (await importBytes(workspace, smallSession({ turns }))).branch;
}

beforeEach(async () => {
  workspace = await createGitWorkspace();
});

afterEach(() => removeWorkspace(workspace));

const model = (contextWindow: number | null) => ({ name: "anthropic/claude-sonnet", facts: { contextWindow } });

describe("compacting the history of a chat", () => {
  // Each turn has three messages.
  beforeEach(() => importTurns(20));

  it("replaces what is older than the newest 15 messages by one summary; these stay as they were", async () => {
    const before = await lines();
    const outcome = await compact();
    expect(outcome).toMatchObject({ kind: "compacted", messages: 45 });
    const after = await lines();
    expect(after.slice(1)).toEqual(before.slice(15));
    expect(after[0]).toContain("[CONVERSATION HISTORY SUMMARY - 45 messages]");
    expect(after[0]).toContain("[END SUMMARY - Recent conversation continues below]");
    expect(await loadChatStatus(workspace, await load(), { model: model(1000), tools: null })).toMatchObject({
      messages: 15,
      summaries: 1,
      window: 1000,
      sinceCompaction: 0,
    });
  });

  it("keeps whole turns, so that at least as many stay", async () => {
    await compact({ keep: 4 });
    expect(await loadChatStatus(workspace, await load(), { model: null, tools: null })).toMatchObject({
      messages: 6,
      summaries: 1,
    });
  });

  it("can leave nothing but the summary", async () => {
    expect(await compact({ keep: 0 })).toMatchObject({ kind: "compacted", messages: 60 });
    expect(await loadChatStatus(workspace, await load(), { model: null, tools: null })).toMatchObject({
      messages: 0,
      summaries: 1,
    });
  });

  it("is nothing when all messages stay", async () => {
    const tip = await tipOf(workspace, branch);
    expect(await compact({ keep: 60 })).toEqual({ kind: "nothing", reason: "the newest 60 of 60 messages stay" });
    expect(await tipOf(workspace, branch)).toBe(tip);
  });

  it("shows in a preview what would go, and commits nothing", async () => {
    const tip = await tipOf(workspace, branch);
    const outcome = await compact({ preview: true });
    expect(outcome).toMatchObject({
      kind: "planned",
      messages: 45,
      report: { from_turn: 0, to_turn: 14, commit: null },
    });
    expect(await tipOf(workspace, branch)).toBe(tip);
  });

  it("commits nothing when it is stopped", async () => {
    const tip = await tipOf(workspace, branch);
    await expect(compact({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "interrupted" });
    expect(await tipOf(workspace, branch)).toBe(tip);
  });

  it("is refused for what is short, also after it was compacted", async () => {
    await compact();
    expect(await compact()).toEqual({ kind: "too_short", messages: 15, keep: 7 });
  });

  it("is reverted as a whole", async () => {
    const before = await lines();
    await compact();
    await undoCompaction(workspace, await load());
    expect(await lines()).toEqual(before);
    expect(await loadChatStatus(workspace, await load(), { model: null, tools: null })).toMatchObject({
      messages: 60,
      sinceCompaction: null,
    });
  });
});

describe("a chat's history in one long turn", () => {
  it("is compacted up to the newest messages of that turn", async () => {
    const writer = createClaudeWriter();
    writer.prompt("Measure everything");
    for (let step = 0; step < 40; step++) {
      writer.tools(1);
      writer.say(`Measured ${step}.`);
    }
    branch = (await importBytes(workspace, sessionBytes(writer.lines))).branch;
    const outcome = await compact();
    expect(outcome).toMatchObject({ kind: "compacted", messages: 26 });
    expect(await loadChatStatus(workspace, await load(), { model: null, tools: null })).toMatchObject({
      messages: 15,
      summaries: 1,
    });
  });
});

describe("the status of a chat", () => {
  it("of a conversation that has not begun is empty", () => {
    expect(emptyStatus(1000)).toMatchObject({ messages: 0, tokens: 0, isNearlyFull: false, window: 1000 });
  });

  it("says when the view comes near the window", async () => {
    await importTurns(4);
    const { tokens } = await loadChatStatus(workspace, await load(), { model: null, tools: null });
    const isNearlyFull = async (window: number | null) =>
      (await loadChatStatus(workspace, await load(), { model: model(window), tools: null })).isNearlyFull;
    expect(tokens).toBeGreaterThan(0);
    expect(await isNearlyFull(Math.floor(tokens / 0.71))).toBe(true);
    expect(await isNearlyFull(Math.ceil(tokens / 0.69))).toBe(false);
    expect(await isNearlyFull(null)).toBe(false);
  });
});

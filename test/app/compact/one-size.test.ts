// One size for one view: whatever measures a conversation gets the same size.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { measureView } from "../../../src/app/compact/auto.ts";
import { type CompactRequest, compact } from "../../../src/app/compact/compact.ts";
import { loadConversationConfig } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { listConversations } from "../../../src/app/look/list.ts";
import { show } from "../../../src/app/look/show.ts";
import { readStats } from "../../../src/app/look/stats.ts";
import { undoCompaction } from "../../../src/app/manage/revert.ts";
import { loadChatStatus } from "../../../src/app/talk/chat-model.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { corpusMissing, GROWTH_SERIES, listGoldens, readCorpusFile } from "../../helpers/corpus.ts";
import { runs } from "../../helpers/runs.ts";
import {
  createMemoryWorkspace,
  createTestRuntime,
  importBytes,
  NO_FOLDER,
  type TestWorkspace,
  tipOf,
} from "../../helpers/workspace.ts";

/** After every session. */
const open = (): Promise<TestWorkspace> =>
  createMemoryWorkspace(NO_FOLDER, undefined, createTestRuntime(NO_FOLDER, {}, "2027-01-01T00:00:00Z"));

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await open();
});
afterEach(() => workspace.close());

const REQUEST: CompactRequest = { range: {}, dryRun: false, fork: false, activate: false };

const treeOf = async (branch: string): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

/** The size of a branch's view by everything that says one. */
async function sizesOf(branch: string): Promise<Record<string, number | undefined>> {
  const tree = await treeOf(branch);
  const { config } = await loadConversationConfig(workspace, tree);
  const { rows } = await listConversations(workspace, { all: true });
  const next = { model: "local/harbour", window: 1_000_000 };
  const shown = await show(workspace, branch);
  return {
    stats: (await readStats(workspace, tree)).tokens.view,
    ls: rows.find((row) => row.branch === branch)?.tokens.view,
    show: shown.kind === "conversation" ? shown.tokens.view : undefined,
    compact: (await compact(workspace, tree, { ...REQUEST, dryRun: true, force: true })).tokens.before,
    chat: (await loadChatStatus(workspace, tree, { model: null, tools: null })).tokens,
    auto: (await measureView(workspace, { tree, config }, next))?.tokens,
  };
}

async function sizeOf(branch: string): Promise<number> {
  const sizes = await sizesOf(branch);
  expect(sizes).toEqual(Object.fromEntries(Object.keys(sizes).map((name) => [name, sizes["stats"]])));
  return sizes["stats"] ?? 0;
}

/** Compacts; the size after it is the size that was promised, and undone it is the size before. */
async function compacted(branch: string, request: Partial<CompactRequest>): Promise<void> {
  const before = await sizeOf(branch);
  const report = await compact(workspace, await treeOf(branch), { ...REQUEST, force: true, ...request });
  const after = await sizeOf(branch);
  expect(report.tokens.before).toBe(before);
  expect(after).toBe(report.further?.tokens.after ?? report.tokens.after);
  if (report.compaction === null || report.further !== undefined) return;
  const undone = await undoCompaction(workspace, await treeOf(branch));
  expect(undone.tokens).toEqual({ before: after, after: before });
  expect(await sizeOf(branch)).toBe(before);
  await compact(workspace, await treeOf(branch), { ...REQUEST, force: true, ...request });
}

const TO_TURN_0 = { range: { to: { type: "turn", turn: 0 } } } as const satisfies Partial<CompactRequest>;
const SUMMARY = { ...TO_TURN_0, summary: { summary: "They talked about the harbour wall." } } as const;
const WAYS: readonly Partial<CompactRequest>[] = [
  { range: { keep: 1 } },
  { strategies: choosePipelines(["tiered"], {}, { tokens: 1000 }) },
  SUMMARY,
];

/** A session with usage or without, of some turns, that its agent may have compacted. */
function randomSession(seed: number): Buffer {
  const writer = createClaudeWriter();
  const turns = 2 + (seed % 6);
  let sent = 21_000;
  for (let turn = 0; turn < turns; turn++) {
    writer.prompt(`request ${turn}: ${"some words ".repeat(40 * (1 + (seed % 5)))}`);
    writer.tools(1 + (seed % 2));
    if (seed % 3 === 0 && turn === 1) {
      writer.compact("What was said before.");
      sent = 21_500;
    }
    writer.say(`done ${turn}`);
    sent += 600;
    const message = writer.lines.at(-1)?.["message"] as Record<string, unknown>;
    if (seed % 4 !== 0) message["usage"] = { input_tokens: sent, output_tokens: 5 };
  }
  return sessionBytes(writer.lines);
}

describe("the size of a view", () => {
  it("is the same wherever it is said, whatever was compacted by whom", { tags: ["slow"] }, async () => {
    for (let seed = 0; seed < runs(12); seed++) {
      workspace = await open();
      const { branch } = await importBytes(workspace, randomSession(seed));
      await sizeOf(branch);
      for (const way of WAYS.slice(seed % 2)) await compacted(branch, way);
    }
  });
});

/** One state of each session. */
const FILES = listGoldens("claude-code")
  .map(({ file }) => file)
  .filter((file) => !GROWTH_SERIES.slice(0, -1).includes(file));

describe.skipIf(corpusMissing !== null)(
  `the size of a real session's view${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    it.each(FILES)("is the same wherever it is said: %s", async (file) => {
      const { branch } = await importBytes(workspace, readCorpusFile(file));
      for (const way of WAYS) await compacted(branch, way);
    });
  },
);

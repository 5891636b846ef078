// The log of a branch's compactions is read once: looking again asks the store for nothing, a commit more for the newest few,
// and whatever does not simply follow is read anew.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { readBranchLog, readRecordLog } from "../../../src/app/conversation/log.ts";
import { addPin } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { undoCompaction } from "../../../src/app/manage/revert.ts";
import { parseTurnBound } from "../../../src/core/conversation/range-bound.ts";
import type { ConversationStore, LogEntry, LogQuery } from "../../../src/store/store.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;
let asked: LogQuery[] = [];
let spied: ConversationStore;

beforeEach(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(6)).text()));
  asked = [];
  spied = Object.create(workspace.store, {
    readLog: {
      value: (query: LogQuery) => {
        asked.push(query);
        return workspace.store.readLog(query);
      },
    },
  }) as ConversationStore;
});
afterEach(() => removeWorkspace(workspace));

const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
const treeOf = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function hide(turn: number): Promise<void> {
  const range = { from: parseTurnBound(String(turn)), to: parseTurnBound(String(turn)) };
  const request = { range, policies: { turns: "omit" }, dryRun: false, fork: false, activate: false } as const;
  await compact(workspace, await treeOf(), request);
}

/** The log as it is read with what is kept, and which logs the store was asked for. */
async function look(): Promise<{ readonly log: readonly LogEntry[]; readonly asked: readonly string[] }> {
  asked = [];
  const log = await readBranchLog(spied, await treeOf());
  return { log, asked: asked.map(({ limit }) => (limit === undefined ? "all" : "newest")) };
}

async function expectRight({ log }: { readonly log: readonly LogEntry[] }): Promise<void> {
  const right = await readRecordLog(workspace.store, await tipOf(workspace, branch));
  const files = ({ commit, parents, author, committer, message, added, removed }: LogEntry): LogEntry => ({
    commit,
    parents,
    author,
    committer,
    message,
    added,
    removed,
  });
  expect(log.map(files)).toEqual(right.map(files));
}

it("is read whole once, not at all where the branch stands, and by its newest commits when it grew", async () => {
  await hide(1);
  const first = await look();
  expect(first.asked).toEqual(["all"]);
  expect(first.log).toHaveLength(1);
  await expectRight(first);
  const second = await look();
  expect(second.asked).toEqual([]);
  await expectRight(second);
  await hide(2);
  await addPin(workspace, await treeOf(), parseTurnBound("4"));
  await undoCompaction(workspace, await treeOf());
  const third = await look();
  expect(third.log).toHaveLength(3);
  expect(third.asked).toEqual(["newest"]);
  await expectRight(third);
  await importBytes(workspace, buildSession(plainTurns(8)).text());
  const fourth = await look();
  expect(fourth.asked).toEqual(["newest"]);
  await expectRight(fourth);
});

it("tells a record that was changed in place among the newest commits", async () => {
  await hide(1);
  await look();
  const [path = ""] = (await treeOf()).compactions.map((file) => file.path);
  stockGit("switch", "--quiet", "--ignore-other-worktrees", branch);
  appendFileSync(join(workspace.temp.root, path), "\n");
  stockGit("commit", "--quiet", "--no-verify", "-am", "changed in place");
  const changed = await look();
  expect(changed.log.map(({ added }) => added.length)).toEqual([0, 1]);
  expect(changed.asked).toEqual(["newest"]);
  await expectRight(changed);
});

it("is read anew where the branch went back, took another way, or was merged", async () => {
  await hide(1);
  const before = await tipOf(workspace, branch);
  await hide(2);
  await look();
  stockGit("update-ref", `refs/heads/${branch}`, before);
  const back = await look();
  expect(back.asked).toEqual(["newest", "all"]);
  await expectRight(back);
  const other = stockGit("commit-tree", "-p", `${before}~1`, "-m", "side", `${before}^{tree}`);
  const merged = stockGit("commit-tree", "-p", before, "-p", other, "-m", "merge", `${before}^{tree}`);
  stockGit("update-ref", `refs/heads/${branch}`, merged);
  const joined = await look();
  expect(joined.asked).toEqual(["newest", "all"]);
  expect(joined.log.map(({ commit }) => commit)).toContain(other);
  await expectRight(joined);
});

it("is neither kept nor taken from what is kept where history is cut off", async () => {
  await hide(1);
  await look();
  const cut = Object.create(spied, {
    cutOffCommits: { value: () => Promise.resolve(new Set(["0".repeat(40)])) },
  }) as ConversationStore;
  asked = [];
  await readBranchLog(cut, await treeOf());
  expect(asked).toHaveLength(1);
});

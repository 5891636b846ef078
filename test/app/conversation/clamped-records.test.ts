// What a fork of the first turns keeps of compactions that reach past them.

import { beforeEach, describe, expect, it } from "vitest";
import type { CompactRequest } from "../../../src/app/compact/compact.ts";
import { compact } from "../../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadView } from "../../../src/app/conversation/view.ts";
import { checkStore } from "../../../src/app/integrity/fsck.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { type ForkReport, forkConversation } from "../../../src/app/manage/fork.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { treeAt } from "../../../src/app/names/revision.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
let main: string;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  ({ branch: main } = await importBytes(workspace, buildSession(plainTurns(8)).text()));
});

const treeOf = async (branch = main): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const viewOf = async (branch?: string): Promise<View> => (await loadView(workspace.store, await treeOf(branch))).view;

async function compactTo(last: number, content: Partial<CompactRequest>): Promise<string> {
  const range = { from: parseBound("0"), to: parseBound(String(last)) };
  const request = { range, ...content, dryRun: false, fork: false, activate: false };
  return (await compact(workspace, await treeOf(), request)).compaction!.id;
}

async function forkFirst(first: number, name?: string): Promise<ForkReport> {
  return forkConversation(workspace, await treeOf(), {
    first,
    activate: false,
    ...(name === undefined ? {} : { name }),
  });
}

describe("a fork of the first turns", () => {
  it("shows them as the whole conversation does, by a copy that ends with the fork", async () => {
    const id = await compactTo(7, { policies: STRIP_TOOLS });
    const [original] = (await loadCompactions(workspace.store, await treeOf())).all;
    const whole = await viewOf();
    const { branch, ...report } = await forkFirst(5);
    expect(report).not.toHaveProperty("left_out");
    expect((await viewOf(branch)).turns).toEqual(whole.turns.slice(0, 5));
    const { all, unapplied } = await loadCompactions(workspace.store, await treeOf(branch));
    const newest = whole.turns[4]?.events.at(-1)?.id;
    expect(all).toMatchObject([{ id: `${id}-4`, to_turn: 4, to_event: newest, timestamp: original?.timestamp }]);
    expect(unapplied).toEqual([]);
    expect(all[0]).not.toHaveProperty("stats");
    expect(await checkStore(workspace, new Set([branch]))).toMatchObject({ findings: [] });
  });

  it("is the same whoever makes it, and reads like the first turns without a fork", async () => {
    await compactTo(7, { policies: STRIP_TOOLS });
    await compactTo(6, { policies: { tool_calls: { policy: "omit" } } });
    const [a, b] = [await forkFirst(5), await forkFirst(5)].map(({ branch }) => branch) as [string, string];
    const files = (await treeOf(a)).compactions;
    expect(files).toHaveLength(2);
    expect((await treeOf(b)).compactions).toEqual(files);
    const there = await treeAt(workspace, await treeOf(), "4");
    expect((await loadView(workspace.store, there)).view).toEqual(await viewOf(a));
  });

  it("may be reverted by the copy's own id, and forked again", async () => {
    const id = await compactTo(7, { policies: STRIP_TOOLS });
    const { branch } = await forkFirst(5);
    const again = await forkConversation(workspace, await treeOf(branch), { first: 3, activate: false });
    expect((await loadCompactions(workspace.store, await treeOf(again.branch))).all).toMatchObject([
      { id: `${id}-4-2`, to_turn: 2 },
    ]);
    await revertCompactions(workspace, [`${id}-4`], branch);
    expect((await readCompactionLog(workspace, await treeOf(branch))).map(({ kind }) => kind)).toEqual([
      "revert",
      "compaction",
    ]);
    expect(JSON.stringify(await viewOf(branch))).not.toContain("[compacted]");
  });

  it("has no summary of later turns, and says which", async () => {
    const id = await compactTo(6, { summary: { summary: "what seven turns said" } });
    const report = await forkFirst(3);
    expect(report.left_out).toEqual([id]);
    expect((await viewOf(report.branch)).turns.map(({ origin }) => origin.kind)).toEqual(["kept", "kept", "kept"]);
  });
});

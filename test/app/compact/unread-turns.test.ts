// A compaction over a summary leaves unread what it hides, and is the one that reading all of it would have made.

import { afterEach, beforeEach, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadForPlan, planOnBranch } from "../../../src/app/compact/plan.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { planCompaction } from "../../../src/core/compact/plan.ts";
import { isNothing } from "../../../src/core/conversation/bound-resolution.ts";
import { parseTurnBound } from "../../../src/core/conversation/range-bound.ts";
import { buildSession, type SessionStep } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const CALLING: SessionStep[] = ["prompt", "think", { tools: 2 }, "say"];
const NOTHING = { dryRun: false, fork: false, activate: false };

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const treeOf = async (branch: string) => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

/** Turns that call a tool, the first under a summary. */
async function summarised(turns: readonly SessionStep[], to: number): Promise<string> {
  const { branch } = await importBytes(workspace, buildSession(turns).text());
  const range = { from: parseTurnBound("0"), to: parseTurnBound(String(to)) };
  await compact(workspace, await treeOf(branch), { ...NOTHING, range, summary: { summary: "in short" } });
  return branch;
}

const repeat = (count: number, steps: readonly SessionStep[] = CALLING): SessionStep[] =>
  Array.from({ length: count }, () => steps).flat();

it("has the hints and counts of the turns that it does not read, whole folders of them, too", {
  tags: ["slow"],
}, async () => {
  for (const count of [8, 230]) {
    const branch = await summarised(repeat(count), count - 5);
    const tree = await treeOf(branch);
    const [few, many] = [
      await loadForPlan(workspace, tree, { range: {} }),
      await loadForPlan(workspace, tree, { range: {} }, { isWhole: true }),
    ];
    expect([...few.turns.keys()]).toEqual([0, count - 4, count - 3, count - 2, count - 1]);
    expect(many.turns.size).toBe(count);
    const [known, read] = [planCompaction(few.request), planCompaction(many.request)];
    if (isNothing(known) || isNothing(read)) throw new Error("nothing planned");
    const compaction = { ...known.compaction, stats: { ...known.compaction.stats, events_removed: 0 } };
    expect(compaction).toEqual({ ...read.compaction, stats: { ...read.compaction.stats, events_removed: 0 } });
    expect(compaction.tool_overrides).toEqual({ Bash: { request: "keep" } });
    expect(compaction.stats.original_message_count).toBe((count - 3) * 3);
    expect(known.segments).toEqual(read.segments);
    await removeWorkspace(workspace);
    workspace = await createGitWorkspace();
  }
});

it("reads hidden turns whose calls are left out by name, and those alone", async () => {
  const silent = (count: number): SessionStep[] => repeat(count, ["prompt", "say"]);
  const branch = await summarised([...silent(3), ...repeat(2), ...silent(5), ...repeat(5)], 9);
  const overrides = ["tools.Bash.compaction.response=remove"];
  const place = await openWorkspace(workspace.runtime, { store: workspace.temp.root, overrides });
  const { turns } = await loadForPlan(place, await treeOf(branch), { range: {} });
  expect([...turns.keys()]).toEqual([0, 3, 4, 10, 11, 12, 13, 14]);
  await place.close();
});

it("says from a few hidden turns that all is compacted already", { tags: ["slow"] }, async () => {
  for (const steps of [CALLING, ["prompt", "think", "say"]] as const) {
    const branch = await summarised(repeat(230, steps), 225);
    await compact(workspace, await treeOf(branch), { ...NOTHING, range: {} });
    const tree = await treeOf(branch);
    const turns = new Set(tree.turnOids);
    let read = 0;
    const store = Object.create(workspace.store, {
      readBlobs: {
        value: (oids: readonly string[]) => {
          read += oids.filter((oid) => turns.has(oid)).length;
          return workspace.store.readBlobs(oids);
        },
      },
    }) as typeof workspace.store;
    const found = await planOnBranch({ ...workspace, store }, tree, { range: {} });
    expect(found).toMatchObject({ nothing: "everything that may be removed is already compacted" });
    expect(read).toBeLessThanOrEqual(steps === CALLING ? 5 + 16 : 5 + 100);
    const { request } = await loadForPlan(workspace, tree, { range: {} }, { isWhole: true });
    expect(found).toMatchObject(planCompaction(request));
    await removeWorkspace(workspace);
    workspace = await createGitWorkspace();
  }
});

it("is in force in the turns that it did not read once the summary is reverted", async () => {
  const branch = await summarised(repeat(10), 5);
  const [summary] = (await loadView(workspace.store, await treeOf(branch))).live.applied;
  await compact(workspace, await treeOf(branch), { ...NOTHING, range: {} });
  await revertCompactions(workspace, [summary!.id]);
  const { view } = await loadView(workspace.store, await treeOf(branch));
  const calls = view.turns
    .filter(({ origin }) => origin.kind === "kept" && origin.turn === 3)
    .flatMap(({ events }) => events)
    .filter(({ type }) => type.startsWith("tool_call_"));
  const asked = { arguments: { command: expect.stringMatching(/^echo /) as string } };
  const answered = { content: "[compacted] Bash: success" };
  expect(calls).toMatchObject([asked, asked, answered, answered]);
});

it("reads for its index what an agent's own summary hides, until an index tells of it", async () => {
  const steps: SessionStep[] = [...repeat(6), { compact: 0 }, ...repeat(70)];
  const { branch } = await importBytes(workspace, buildSession(steps).text());
  const reading = async (index: boolean): Promise<readonly number[]> =>
    [...(await loadForPlan(workspace, await treeOf(branch), { range: {}, index })).turns.keys()].filter(
      (turn) => turn > 0 && turn < 6,
    );
  expect(await reading(true)).toEqual([1, 2, 3, 4, 5]);
  expect(await reading(false)).toEqual([]);
  const range = { from: parseTurnBound("6"), to: parseTurnBound("66") };
  const omitting = { ...NOTHING, range, policies: { turns: "omit" } } as const;
  const { compaction } = await compact(workspace, await treeOf(branch), omitting);
  expect(compaction?.index?.entries).toBeGreaterThan(0);
  expect(await reading(true)).toEqual([]);
});

// Strategies, and what is kept by name, over a summary: what it hides is left unread, and the compaction is the one that reading all
// of it would have made.

import { afterEach, beforeEach, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { type CompactInput, type LoadedForPlan, loadForPlan, strategyRequest } from "../../../src/app/compact/plan.ts";
import { addPin, removePin } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { type CompactionPlan, planCompaction, trialOf } from "../../../src/core/compact/plan.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { isNothing } from "../../../src/core/conversation/bound-resolution.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { parseTurnBound } from "../../../src/core/conversation/range-bound.ts";
import { createPiWriter, piCall } from "../../helpers/pi-session.ts";
import { buildSession, type SessionStep } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

/** Smaller than what stands there, in short turns too. */
const OMITTING = { range: {}, policies: { reasoning: "strip", tool_calls: { policy: "omit" } } } as const;
const NOTHING = { dryRun: false, fork: false, activate: false };
const CALLING: SessionStep[] = ["prompt", "think", { tools: 2 }, "say"];
const repeat = (count: number, steps: readonly SessionStep[] = CALLING): SessionStep[] =>
  Array.from({ length: count }, () => steps).flat();

let workspace: GitWorkspace;
let branch: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const treeOf = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const pin = async (place: string) => addPin(workspace, await treeOf(), parseTurnBound(place));
const strategies = (...names: string[]) => ({ ...choosePipelines(names), protectTokens: 20, minGainTokens: 1 });

async function summarise(from: number, to: number): Promise<void> {
  const range = { from: parseTurnBound(String(from)), to: parseTurnBound(String(to)) };
  await compact(workspace, await treeOf(), { ...NOTHING, range, summary: { summary: "in short" } });
}

/** The plan from a load, with the view that it comes to. */
async function planFrom(loaded: LoadedForPlan, input: CompactInput): Promise<CompactionPlan> {
  const known = { ...loaded, hints: {}, workspace, tree: await treeOf(), viewTokens: 1000 };
  const asked = input.strategies === undefined ? null : await strategyRequest(input.strategies, known);
  const plan = planCompaction({ ...loaded.request, ...(asked === null ? {} : { strategies: asked.request }) });
  if (isNothing(plan)) throw new Error(`nothing planned: ${plan.nothing}`);
  return plan;
}

/** Plans with what a summary hides left unread, and with all of it; the turns that the first read. */
async function planBoth(input: CompactInput): Promise<readonly number[]> {
  const tree = await treeOf();
  const [few, many] = [
    await loadForPlan(workspace, tree, input),
    await loadForPlan(workspace, tree, input, { isWhole: true }),
  ];
  const [known, read] = [await planFrom(few, input), await planFrom(many, input)];
  const told = ({ compaction: { stats, ...rest } }: CompactionPlan) => ({
    ...rest,
    stats: { ...stats, events_removed: 0 },
  });
  expect(told(known)).toEqual(told(read));
  expect(known.steps).toEqual(read.steps);
  expect(known.segments).toEqual(read.segments);
  const view = ({ turns, live }: LoadedForPlan, { compaction }: CompactionPlan) =>
    project({ turnCount: tree.turnOids.length, turns, compactions: [...live.applied, trialOf(compaction, false)] });
  expect(view(few, known)).toEqual(view(many, read));
  expect([few.model, few.pinned]).toEqual([many.model, many.pinned]);
  return [...few.turns.keys()];
}

it("leaves what a summary hides unread for strategies, whole folders of it, too", { tags: ["slow"] }, async () => {
  for (const count of [12, 230]) {
    ({ branch } = await importBytes(workspace, buildSession(repeat(count)).text()));
    await summarise(0, count - 9);
    const shown = [0, ...Array.from({ length: 8 }, (_, at) => count - 8 + at)];
    for (const names of [["auto"], ["mask-results"], ["strip-tools"], ["prune-tools", "strip-reasoning"]])
      expect(await planBoth({ range: {}, strategies: strategies(...names) })).toEqual(shown);
    await removeWorkspace(workspace);
    workspace = await createGitWorkspace();
  }
});

it("reads of what is hidden the turns in which the tokens that are left alone end", async () => {
  ({ branch } = await importBytes(workspace, buildSession([...repeat(10), ...repeat(3, ["prompt", "say"])]).text()));
  await summarise(3, 11);
  // Of the turn at which the summary stands, too, messages are counted once.
  expect(await planBoth({ range: {} })).toEqual([0, 1, 2, 3, 9, 12]);
  const input = { range: {}, strategies: { ...strategies("auto"), protectTokens: 100 } };
  expect(await planBoth(input)).toEqual([0, 1, 2, 3, 8, 9, 10, 11, 12]);
});

it("reads all for strategies where the model that answered last may stand in what is hidden", async () => {
  const session = createPiWriter();
  for (let turn = 0; turn < 6; turn += 1) {
    session.user(`Find ${turn}.`);
    session.say(piCall(`c${turn}`));
    session.result(`c${turn}`, "found");
    session.say("Found.");
  }
  for (let turn = 6; turn < 10; turn += 1) session.user(`Find ${turn}.`);
  ({ branch } = await importBytes(workspace, session.bytes()));
  await summarise(1, 5);
  const input = { range: {}, strategies: strategies("strip-tools") };
  expect(await planBoth(input)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

it("takes a read for contained in a later one that is shown, though a hidden one came later still", async () => {
  const session = createPiWriter();
  const read = (id: string, first: number, last: number): void => {
    session.user(`Read ${id}.`);
    session.say(piCall(id, "fs_read_file", { path: "a", start_line: first, end_line: last }));
    session.result(id, Array.from({ length: last - first + 1 }, () => "a line of the file").join("\n"));
    session.say("Read.");
  };
  read("c0", 2, 50);
  read("c1", 1, 100);
  read("c2", 1, 200);
  for (let turn = 3; turn < 8; turn += 1) {
    session.user("And?");
    session.say("Fine.");
  }
  ({ branch } = await importBytes(workspace, session.bytes()));
  await summarise(2, 3);
  await planBoth({ range: {}, strategies: strategies("dedup-tools") });
  const deduping = { ...NOTHING, range: {}, strategies: choosePipelines(["dedup-tools"]) };
  const { report } = await compact(workspace, await treeOf(), deduping);
  expect(report?.events_removed).toBe(2);
});

it("says that all is compacted where only a hidden read is contained in a later one", async () => {
  const session = createPiWriter();
  for (const id of ["c0", "c1"]) {
    session.user(`Read ${id}.`);
    session.say(piCall(id, "fs_read_file", { path: "a", start_line: 1, end_line: id === "c0" ? 2 : 3 }));
    session.result(id, "one\ntwo");
    session.say("Read.");
  }
  for (let turn = 2; turn < 8; turn += 1) {
    session.user("And?");
    session.say("Fine.");
  }
  ({ branch } = await importBytes(workspace, session.bytes()));
  await summarise(0, 2);
  const deduping = { ...NOTHING, range: {}, strategies: choosePipelines(["dedup-tools"]) };
  const { reason } = await compact(workspace, await treeOf(), deduping);
  expect(reason).toBe("everything that may be removed is already compacted");
});

it("knows which tools a hidden turn defines and calls", async () => {
  const timestamp = "2026-11-24 09:00:00.0";
  const turn = (...entries: readonly object[]) => [
    { timestamp, type: "turn_start" },
    { timestamp, type: "chat_request", content: "Find it." },
    ...entries.map((entry) => ({ timestamp, ...entry })),
    { timestamp, type: "chat_response", message: "Found." },
  ];
  const tools = { ls: { command: "ls" }, cat: { command: "cat" }, make: { command: "make" } };
  const call = { type: "tool_call_request", id: "c1", name: "cat", arguments: {} };
  const stream = [
    ...turn(),
    ...turn({ type: "config_delta", delta: { conversation: { tools } } }),
    ...turn(call, { type: "tool_call_response", id: "c1", content: "", is_error: false }),
    ...Array.from({ length: 6 }, () => turn()).flat(),
  ];
  ({ branch } = await importBytes(workspace, Buffer.from(JSON.stringify(stream))));
  await summarise(0, 5);
  expect(await planBoth({ range: {}, strategies: strategies("prune-tools") })).toEqual([0, 4, 5, 6, 7, 8]);
  const pruning = { ...NOTHING, range: {}, strategies: choosePipelines(["prune-tools"]) };
  const { compaction } = await compact(workspace, await treeOf(), pruning);
  expect(compaction?.tools?.names).toEqual(["ls", "make"]);
});

it("reads the pinned turn, and that behind it, of what a summary hides", async () => {
  ({ branch } = await importBytes(workspace, buildSession(repeat(20)).text()));
  await summarise(0, 9);
  await pin("5");
  const shown = Array.from({ length: 10 }, (_, at) => 10 + at);
  expect(await planBoth({ range: {} })).toEqual([0, 1, 5, 6, ...shown]);
  expect(await planBoth({ range: {}, strategies: strategies("auto") })).toEqual([0, 1, 5, 6, ...shown]);
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, ...OMITTING });
  expect(compaction?.keep).toHaveLength(8);
  await removePin(workspace, await treeOf(), parseTurnBound("5"));
  expect(await planBoth({ range: {}, strategies: strategies("auto") })).toEqual([0, 5, ...shown]);
  const { view } = await loadView(workspace.store, await treeOf());
  expect(view.turns.map(({ origin }) => origin.kind)).toEqual(["summary", ...Array.from({ length: 11 }, () => "kept")]);
});

it("leaves unread what a summary hides that keeps something by name and has an index", async () => {
  ({ branch } = await importBytes(workspace, buildSession(repeat(230)).text()));
  await pin("5");
  await summarise(0, 220);
  const { live } = await loadView(workspace.store, await treeOf());
  expect(live.applied).toMatchObject([{ keep: expect.any(Array), index: { entries: expect.any(Number) } }]);
  await removePin(workspace, await treeOf(), parseTurnBound("5"));
  expect(await planBoth({ range: {} })).toEqual([0, 5, ...Array.from({ length: 9 }, (_, at) => 221 + at)]);
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, ...OMITTING });
  expect(compaction).toMatchObject({ from_turn: 0, to_turn: 226, index: { entries: expect.any(Number) } });
});

it("reads all where a pinned call may be answered in a turn that is hidden", async () => {
  const session = createPiWriter();
  for (let turn = 0; turn < 11; turn += 1) {
    session.user(`Find ${turn}.`);
    session.say(piCall(`c${turn}`));
    if (turn !== 5) session.result(`c${turn}`, "found");
    session.say("Found.");
  }
  ({ branch } = await importBytes(workspace, session.bytes()));
  await summarise(0, 4);
  expect(await planBoth({ range: {} })).toEqual([0, 5, 6, 7, 8, 9, 10]);
  await pin("5");
  expect(await planBoth({ range: {} })).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

it("keeps a system prompt that the conversation begins with, and reads nothing for it", async () => {
  const messages = Array.from({ length: 9 }, (_, turn) => [
    { role: "user", content: `Find ${turn}.` },
    {
      role: "assistant",
      tool_calls: [{ id: `c${turn}`, type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: `c${turn}`, content: "found" },
    { role: "assistant", content: "Found." },
  ]).flat();
  const body = { model: "gpt-4.1", messages: [{ role: "system", content: "You look for things." }, ...messages] };
  ({ branch } = await importBytes(workspace, Buffer.from(JSON.stringify(body))));
  await summarise(0, 4);
  expect(await planBoth({ range: {} })).toEqual([0, 1, 5, 6, 7, 8]);
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, ...OMITTING });
  expect(compaction?.keep).toHaveLength(1);
});

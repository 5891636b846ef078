// Compactions over a summary: what it hides is neither counted as shown nor forgotten.

import { afterEach, beforeEach, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { addPin, removePin } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { parseTurnBound } from "../../../src/core/conversation/range-bound.ts";
import { createPiWriter, piCall } from "../../helpers/pi-session.ts";
import { buildSession, type SessionStep } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

/** Smaller than what it replaces, in short turns too. */
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

async function summarise(from: number, to: number): Promise<void> {
  const range = { from: parseTurnBound(String(from)), to: parseTurnBound(String(to)) };
  await compact(workspace, await treeOf(), { ...NOTHING, range, summary: { summary: "in short" } });
}

it("finds a read contained in a later visible one, though a hidden one came later still", async () => {
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
  const deduping = { ...NOTHING, range: {}, strategies: choosePipelines(["dedup-tools"]) };
  const { report } = await compact(workspace, await treeOf(), deduping);
  expect(report?.events_removed).toBe(2);
});

it("says that all is compacted when only a hidden read is contained in a later one", async () => {
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
  const pruning = { ...NOTHING, range: {}, strategies: choosePipelines(["prune-tools"]) };
  const { compaction } = await compact(workspace, await treeOf(), pruning);
  expect(compaction?.tools?.names).toEqual(["ls", "make"]);
});

it("keeps a pinned turn of what a summary hides, though its pin goes later", async () => {
  ({ branch } = await importBytes(workspace, buildSession(repeat(20)).text()));
  await summarise(0, 9);
  await addPin(workspace, await treeOf(), parseTurnBound("5"));
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, ...OMITTING });
  expect(compaction?.keep).toHaveLength(8);
  await removePin(workspace, await treeOf(), parseTurnBound("5"));
  const { view } = await loadView(workspace.store, await treeOf());
  expect(view.turns.map(({ origin }) => origin.kind)).toEqual(["summary", ...Array.from({ length: 11 }, () => "kept")]);
});

it("keeps a system prompt that the conversation begins with", async () => {
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
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, ...OMITTING });
  expect(compaction?.keep).toHaveLength(1);
});

it("is in force in the turns that a summary hides once the summary is reverted", async () => {
  ({ branch } = await importBytes(workspace, buildSession(repeat(10)).text()));
  await summarise(0, 5);
  const [summary] = (await loadView(workspace.store, await treeOf())).live.applied;
  await compact(workspace, await treeOf(), { ...NOTHING, range: {} });
  await revertCompactions(workspace, [summary!.id]);
  const { view } = await loadView(workspace.store, await treeOf());
  const calls = view.turns
    .filter(({ origin }) => origin.kind === "kept" && origin.turn === 3)
    .flatMap(({ events }) => events)
    .filter(({ type }) => type.startsWith("tool_call_"));
  const asked = { arguments: { command: expect.stringMatching(/^echo /) as string } };
  const answered = { content: "[compacted] Bash: success" };
  expect(calls).toMatchObject([asked, asked, answered, answered]);
});

it("freezes the hints of tools that only hidden turns call, and counts their messages", async () => {
  ({ branch } = await importBytes(workspace, buildSession(repeat(8)).text()));
  await summarise(0, 3);
  const { compaction } = await compact(workspace, await treeOf(), { ...NOTHING, range: {} });
  expect(compaction?.tool_overrides).toEqual({ Bash: { request: "keep" } });
  expect(compaction?.stats?.original_message_count).toBe(15);
});

// One turn that grows past the window: its answered calls are compacted as often as it nears the window. Nothing of it is lost, and
// the provider accepts each request.

import { afterEach, beforeEach, expect, it } from "vitest";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import { openWorkspace, type Workspace } from "../../../src/app/conversation/workspace.ts";
import type { ToolBox } from "../../../src/app/models/tool-box.ts";
import { type NewConversation, newConversation } from "../../../src/app/names/conversations.ts";
import { query } from "../../../src/app/talk/query.ts";
import { isReasoning, type View } from "../../../src/core/conversation/event.ts";
import { estimateView } from "../../../src/core/conversation/token-estimate.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { calls, createScriptedModel, type Script, says, stop, thinks } from "../../helpers/scripted-model.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const ROUNDS = 16;
/** Some 12,000 tokens, of a window of 100,000. */
const OUTPUT = "a line of what the tool has found\n".repeat(1200);

let base: GitWorkspace;
let workspace: Workspace;
let branch: string;
beforeEach(async () => {
  base = await createGitWorkspace();
  ({ branch } = await importBytes(base, smallSession({ turns: 2 })));
  workspace = await openWorkspace(base.runtime, { store: base.temp.root, overrides: ["auto.enabled=true"] });
});
afterEach(async () => {
  await workspace.close();
  await removeWorkspace(base);
});

const treeOf = async (): Promise<BranchTree> => loadBranchTree(base.store, branch, await tipOf(base, branch));

function scripts(last: Script): Script[] {
  const round = (at: number): Script => [
    ...thinks(`Step ${at}.`),
    calls("find", { at }, `call-${at}`),
    stop("tool_calls"),
  ];
  return [...Array.from({ length: ROUNDS }, (_, at) => round(at)), last];
}

async function talk(
  last: Script,
  { content = "Find it", root }: { readonly content?: string; readonly root?: NewConversation } = {},
): Promise<{ readonly views: readonly View[]; readonly said: readonly string[]; readonly steps: readonly string[] }> {
  const said: string[] = [];
  const steps: string[] = [];
  const model = createScriptedModel(scripts(last));
  const tools: ToolBox = {
    tools: [
      {
        definition: { name: "find", description: "finds", parameters: { type: "object" } },
        origin: "test",
        confirm: false,
        call: async ({ at }) => ({ content: `${at}: ${OUTPUT}`, isError: false }),
      },
    ],
    problems: [],
    close: () => Promise.resolve(),
  };
  const shown = {
    delta: () => undefined,
    toolCall: () => undefined,
    toolResult: () => undefined,
    notice: (text: string) => void said.push(text),
    asked: () => void steps.push("asked"),
    compacting: () => void steps.push("compacting"),
    confirm: () => Promise.resolve(true),
  };
  const signal = new AbortController().signal;
  const request = { content, opened: model, tools, signal, ...(root === undefined ? {} : { root: root.root }) };
  await query(workspace, root?.branch ?? branch, request, shown).catch((error: unknown) => said.push(String(error)));
  return { views: model.requests.map(({ view }) => view), said, steps };
}

it("is compacted as often as it nears the window, and continues", { tags: ["slow"] }, async () => {
  const { views, said, steps } = await talk([...says("Found."), stop()]);
  expect(views).toHaveLength(ROUNDS + 1);
  // The observer is told what takes so long, after each request and before the next.
  expect(steps).toEqual(Array.from({ length: ROUNDS + 1 }, () => ["asked", "compacting"]).flat());
  const sizes = views.map((view) => estimateView(view));
  expect(Math.max(...sizes)).toBeLessThan(100_000);
  expect(said.filter((line) => line.startsWith("— context compacted")).length).toBeGreaterThan(1);
  // Every step's reasoning and call is sent each time, in order, and what the model has not read yet as it came.
  for (const [at, view] of views.entries()) {
    const events = view.turns.flatMap((turn) => turn.events);
    const own = events.slice(events.findIndex((event) => event.type === "chat_request" && event.content === "Find it"));
    expect(own.filter((event) => isReasoning(event))).toHaveLength(at);
    expect(own.flatMap((event) => (event.type === "tool_call_request" ? [event.call_id] : []))).toEqual(
      Array.from({ length: at }, (_, step) => `call-${step}`),
    );
    const last = own.at(-1);
    if (at > 0) expect(last).toMatchObject({ type: "tool_call_response", content: `${at - 1}: ${OUTPUT}` });
  }
});

it("is stored whole, by one commit as far as it had come and others that continue it", { tags: ["slow"] }, async () => {
  await talk([...says("Found."), stop()]);
  const subjects = git(base.store.root, base.temp.env, ["log", "--format=%s", branch]).split("\n");
  expect(subjects.filter((subject) => subject === "turn 2: Find it")).toHaveLength(1);
  expect(subjects.filter((subject) => subject.startsWith("turn 2 (continued)")).length).toBeGreaterThan(0);
  const tree = await treeOf();
  expect(tree.turnOids).toHaveLength(3);
  const events = (await loadTurns(base.store, tree, [2])).get(2)?.events ?? [];
  expect(events.map(({ type }) => type)).toEqual([
    "turn_start",
    "chat_request",
    ...Array.from({ length: ROUNDS }, () => ["chat_response", "tool_call_request", "tool_call_response"]).flat(),
    "chat_response",
  ]);
  const { live } = await loadView(base.store, tree);
  expect(
    live.applied.every(({ source, from_turn, to_turn }) => source === "auto" && from_turn === 2 && to_turn === 2),
  ).toBe(true);
});

it("is compacted though it is the first of its conversation, which has no branch until then", async () => {
  const root = await newConversation(workspace, "Find it");
  const { views, said } = await talk([...says("Found."), stop()], { root });
  expect(views).toHaveLength(ROUNDS + 1);
  expect(Math.max(...views.map((view) => estimateView(view)))).toBeLessThan(100_000);
  expect(said.some((line) => line.startsWith("— context compacted"))).toBe(true);
  const tree = await loadBranchTree(base.store, root.branch, await tipOf(base, root.branch));
  expect(tree.header.title).toBe("Find it");
  expect((await loadTurns(base.store, tree, [0])).get(0)?.events).toHaveLength(2 + 3 * ROUNDS + 1);
});

it("is kept once, marked, where its provider fails after it was committed as far as it had come", {
  tags: ["slow"],
}, async () => {
  const { said } = await talk([new Error("the line went dead")]);
  expect(said.join("\n")).toContain("the line went dead");
  const tree = await treeOf();
  expect(tree.turnOids).toHaveLength(3);
  const events = (await loadTurns(base.store, tree, [2])).get(2)?.events ?? [];
  expect(events).toHaveLength(2 + 3 * ROUNDS + 1);
  expect(events.at(-1)).toMatchObject({ type: "note", kind: "interrupted" });
});

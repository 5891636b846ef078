// A model that jpg asks is offered `search` and `show`, is told of them where something is hidden, and finds it, in its own
// conversation only.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadHistory, loadView } from "../../../src/app/conversation/view.ts";
import { NO_TOOLS, type ToolResult } from "../../../src/app/models/tool-box.ts";
import { createLookBackTools, openQueryTools } from "../../../src/app/talk/own-tools.ts";
import { query } from "../../../src/app/talk/query.ts";
import type { View } from "../../../src/core/conversation/event.ts";
import type { LlmRequest } from "../../../src/llm/client.ts";
import { calls, createScriptedModel, type Script, says, stop } from "../../helpers/scripted-model.ts";
import { surveyedSession } from "../../helpers/surveyed-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;

beforeEach(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, surveyedSession({ turns: 6, resultChars: 3000 })));
});
afterEach(() => removeWorkspace(workspace));

const treeOf = async () => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const hide = async () =>
  compact(workspace, await treeOf(), {
    range: { to: { type: "turn", turn: 3 } },
    profile: "default",
    dryRun: false,
    activate: false,
  });
const signal = new AbortController().signal;
const noticesIn = ({ turns }: View) =>
  turns.flatMap(({ events }) => events.filter(({ metadata }) => metadata?.origin === "notice"));

/** Asks with jpg's own tools, or none. */
async function ask(scripts: readonly Script[], isOffered = true): Promise<readonly LlmRequest[]> {
  const opened = createScriptedModel(scripts);
  const observer = {
    delta: () => undefined,
    toolCall: () => undefined,
    toolResult: () => undefined,
    notice: () => undefined,
    confirm: () => Promise.resolve(false),
  };
  await query(
    workspace,
    branch,
    {
      content: "How deep is it?",
      opened,
      signal,
      ...(isOffered
        ? { openTools: (opening) => openQueryTools(workspace, { ...opening, branch, signal }) }
        : { tools: NO_TOOLS }),
    },
    observer,
  );
  return opened.requests;
}

const search = (pattern: string): Script => [calls("search", { pattern }), stop("tool_calls")];
const answer: Script = [...says("It is 99 cm."), stop()];

describe("a model that jpg asks", () => {
  it("is told once that something is hidden, and finds it; the notice is not stored", async () => {
    await hide();
    const [first, second] = await ask([search("depth 2 mark"), answer]);
    expect(first?.tools?.map(({ name }) => name)).toEqual(["compact", "search", "show"]);
    expect(noticesIn(first!.view)).toHaveLength(1);
    expect(noticesIn(second!.view)).toHaveLength(1);
    const result = second!.view.turns.at(-1)?.events.at(-1);
    expect(result).toMatchObject({ type: "tool_call_response", is_error: false });
    expect(result?.type === "tool_call_response" && result.content).toContain('"state": "changed"');
    const tree = await treeOf();
    expect(noticesIn((await loadView(workspace.store, tree)).view)).toEqual([]);
    expect(noticesIn(await loadHistory(workspace.store, tree))).toEqual([]);
  });

  it("is told nothing where nothing is hidden, and where it has no tools", async () => {
    expect(noticesIn((await ask([answer]))[0]!.view)).toEqual([]);
    await hide();
    const [request] = await ask([answer], false);
    expect(request?.tools ?? []).toEqual([]);
    expect(noticesIn(request!.view)).toEqual([]);
  });
});

describe("the tools search and show", () => {
  const run = async (name: string, args: Record<string, unknown>): Promise<ToolResult> => {
    const tool = createLookBackTools(workspace, branch).find(({ definition }) => definition.name === name);
    return tool!.call(args, { signal });
  };
  const read = ({ content }: ToolResult) => JSON.parse(String(content)) as Record<string, never>;

  it("give hits with ids, and by an id the whole text, in pieces where it is long", async () => {
    await hide();
    const { hits } = read(await run("search", { pattern: "depth 2 mark" })) as unknown as {
      hits: { id: string; turn: number; type: string; state: string }[];
    };
    const found = hits.find(({ turn, type }) => turn === 2 && type === "tool_call_response");
    expect(found).toMatchObject({ state: "changed" });
    const shown = read(await run("show", { id: found!.id }));
    expect(shown).toMatchObject({ turn: 2, type: "tool_call_response", offset: 0 });
    expect(String(shown["text"])).toContain("depth 2 at mark 60 is 99 cm");
    const rest = read(await run("show", { id: found!.id, offset: 100 }));
    expect(String(rest["text"])).toBe(String(shown["text"]).slice(100));
  });

  it("look into no other conversation", async () => {
    const session = "07ea0000-0000-4000-8000-00000000000b";
    const other = await importBytes(workspace, surveyedSession({ turns: 2, resultChars: 900, session }));
    const { turns } = await loadHistory(
      workspace.store,
      await loadBranchTree(workspace.store, other.branch, await tipOf(workspace, other.branch)),
    );
    const event = turns[0]?.events.find(({ type }) => type === "tool_call_response")?.id ?? "";
    expect(await run("show", { id: event })).toMatchObject({ isError: true });
    expect(await run("show", { id: other.branch })).toMatchObject({ isError: true });
    const { hits } = read(await run("search", { pattern: "depth mark" })) as unknown as { hits: { id: string }[] };
    expect(hits.length).toBeGreaterThan(0);
    expect(hits.map(({ id }) => id)).not.toContain(event);
  });

  it.each([
    ["search", {}, /pattern: expected/],
    ["search", { pattern: "  " }, /pattern: expected/],
    ["search", { pattern: "x".repeat(1001) }, /pattern: expected/],
    ["search", { pattern: "a", conversation: "b" }, /"conversation" is not an argument/],
    ["show", { id: 7 }, /id: expected/],
    ["show", { id: "nothing-like-it" }, /nothing-like-it/],
    ["show", { id: "a", offset: -1 }, /offset: expected/],
  ])("%s refuses %j", async (name, args, says) => {
    expect(await run(name, args)).toMatchObject({ isError: true, content: expect.stringMatching(says) as string });
  });
});

// A sub-agent that Claude Code showed the conversation so far is a fork of it, from the line on that its file names.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { type ClaudeWriter, createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { createTempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
let folder: ReturnType<typeof createTempFolder>;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  folder = createTempFolder();
});
afterEach(() => folder.remove());

const AGENT = "a1b2c3";

/** The file of an agent that saw its parent's conversation up to a line. */
function agentLines(parent: ClaudeWriter, last: string, words: readonly string[]): Json[] {
  const sessionId = String(parent.lines[0]!["sessionId"]);
  const common = { isSidechain: true, agentId: AGENT, sessionId, version: "2.1.332" };
  const lines: Json[] = [
    { type: "fork-context-ref", agentId: AGENT, parentSessionId: sessionId, parentLastUuid: last, contextLength: 3 },
  ];
  for (const [at, text] of words.entries()) {
    const uuid = `a9e00000-0000-4000-8000-${String(at + 1).padStart(12, "0")}`;
    const message = {
      id: `msg_agent${at}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [{ type: "text", text }],
    };
    const parentUuid = at === 0 ? null : lines.at(-1)!["uuid"];
    lines.push({ ...common, type: "assistant", uuid, parentUuid, timestamp: `2026-03-01T10:00:0${at}.000Z`, message });
  }
  return lines;
}

function write(parent: ClaudeWriter, agent: readonly Json[]): string {
  const file = join(folder.path, `${String(parent.lines[0]!["sessionId"])}.jsonl`);
  writeFileSync(file, sessionBytes(parent.lines));
  const side = join(file.slice(0, -".jsonl".length), "subagents");
  mkdirSync(side, { recursive: true });
  writeFileSync(join(side, `agent-${AGENT}.jsonl`), sessionBytes(agent));
  return file;
}

const load = async (file: string) => (await importSessions(workspace, { paths: [file], allBranches: false })).sessions;

async function viewOf(name: string): Promise<string[]> {
  const { view } = await loadView(
    workspace.store,
    await loadBranchTree(workspace.store, name, await tipOf(workspace, name)),
  );
  return view.turns.flatMap(({ events }) =>
    (events as readonly object[] as readonly Json[]).flatMap(({ type, content, message }) =>
      type === "turn_start" || type === "note" ? [] : String(content ?? message),
    ),
  );
}

describe("a forked sub-agent", () => {
  it("shows what it was shown and what it did, and is not made active", async () => {
    const parent = createClaudeWriter();
    parent.prompt("What grows in the dunes?");
    parent.say("Marram grass.");
    const last = parent.prompt("Have somebody look.");
    parent.say("I sent somebody.");
    const file = write(parent, agentLines(parent, last, ["I looked.", "There is sea holly, too."]));
    const [main, agent] = await load(file);
    expect(main).toMatchObject({ status: "created", turns: 2 });
    expect(agent).toMatchObject({ status: "forked", id: main!.id, turns: 2, agent_of: parent.lines[0]!["sessionId"] });
    expect(await viewOf(agent!.branch)).toEqual([
      "What grows in the dunes?",
      "Marram grass.",
      "Have somebody look.",
      "I looked.",
      "There is sea holly, too.",
    ]);
    expect(await workspace.store.readActiveBranch()).toBe(main!.branch);
    expect((await load(file)).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });

  it("grows on its branch while its parent goes on", async () => {
    const parent = createClaudeWriter();
    const last = parent.prompt("Have somebody look.");
    const [, first] = await load(write(parent, agentLines(parent, last, ["I looked."])));
    parent.say("I sent somebody.");
    parent.prompt("And?");
    const reports = await load(write(parent, agentLines(parent, last, ["I looked.", "Sea holly."])));
    expect(reports.map(({ status }) => status)).toEqual(["updated", "updated"]);
    expect(reports[1]!.branch).toBe(first!.branch);
    expect(await viewOf(first!.branch)).toEqual(["Have somebody look.", "I looked.", "Sea holly."]);
  });

  it("was shown a summary if its parent had been compacted", async () => {
    const parent = createClaudeWriter();
    parent.prompt("What grows in the dunes?");
    parent.say("Marram grass.");
    parent.compact("Marram grass was found.");
    const last = parent.prompt("Have somebody look.");
    parent.say("I sent somebody.");
    const [, agent] = await load(write(parent, agentLines(parent, last, ["I looked."])));
    expect(await viewOf(agent!.branch)).toEqual(["Marram grass was found.", "Have somebody look.", "I looked."]);
  });

  it("is a conversation of its own where its parent has no such line", async () => {
    const parent = createClaudeWriter();
    parent.prompt("Have somebody look.");
    const [main, agent] = await load(write(parent, agentLines(parent, "no-such-line", ["I looked."])));
    expect(agent).toMatchObject({ status: "created" });
    expect(agent!.id).not.toBe(main!.id);
    expect(await viewOf(agent!.branch)).toEqual(["I looked."]);
  });
});

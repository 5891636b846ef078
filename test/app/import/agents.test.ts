// What sub-agents wrote becomes conversations of their own, linked with the one that began them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseHeader } from "../../../src/app/conversation/tree.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import { type ListReport, listConversations } from "../../../src/app/look/list.ts";
import { renderPrinted } from "../../../src/app/look/print.ts";
import { type ShowConversation, show } from "../../../src/app/look/show.ts";
import { resolveTree } from "../../../src/app/names/resolve-id.ts";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import { createClaudeWriter, type Json, sessionBytes } from "../../helpers/claude-session.ts";
import { answer, type CodexLine, call, meta, output, prompt, rolloutBytes } from "../../helpers/codex-session.ts";
import * as gemini from "../../helpers/gemini-session.ts";
import { createTempFolder, type TempFolder } from "../../helpers/temp-repository.ts";
import { createMemoryWorkspace, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const SESSION = "5e551073-0000-4000-8000-00000000000a";
let workspace: TestWorkspace;
let folder: TempFolder;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  folder = createTempFolder();
});
afterEach(() => folder.remove());

function put(name: string, bytes: Uint8Array | string): string {
  const path = join(folder.path, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return path;
}

const load = async (...paths: string[]) => importSessions(workspace, { paths, allBranches: false });
const list = async (all = false): Promise<ListReport> => (await listConversations(workspace, { all })).rows;

/** A session that begins an agent by a call `toolu_agent`. */
function mainSession(): Json[] {
  const writer = createClaudeWriter();
  writer.prompt("map the tide pools");
  const message = { id: "msg_agent", type: "message", role: "assistant", model: "claude-sonnet-4-5-20250929" };
  const input = { prompt: "count the anemones", subagent_type: "explorer" };
  const at = writer.node({
    type: "assistant",
    message: { ...message, content: [{ type: "tool_use", id: "toolu_agent", name: "Task", input }] },
  });
  const content = [{ type: "tool_result", tool_use_id: "toolu_agent", content: "41 anemones" }];
  writer.node({ type: "user", message: { role: "user", content }, sourceToolAssistantUUID: at });
  writer.say("There are 41.");
  return writer.lines;
}

/** What the agent wrote: lines in the folder of the session, with a name as today's versions give it, or not. */
function agentLines(agentId?: string): Json[] {
  const writer = createClaudeWriter();
  writer.prompt("count the anemones");
  writer.tools(1);
  writer.say("41 anemones");
  const named = (value: unknown): unknown => (value === null ? null : String(value).replace(/^0/, "a"));
  return writer.lines.map((line) => ({
    ...line,
    uuid: named(line["uuid"]),
    parentUuid: named(line["parentUuid"]),
    isSidechain: true,
    ...(agentId !== undefined && { agentId }),
  }));
}

function putSession(): string {
  put(`${SESSION}/subagents/agent-a1b2.jsonl`, sessionBytes(agentLines("a1b2")));
  put(`${SESSION}/subagents/agent-a1b2.meta.json`, JSON.stringify({ agentType: "explorer", toolUseId: "toolu_agent" }));
  return put(`${SESSION}.jsonl`, sessionBytes(mainSession()));
}

async function headerOf(branch: string) {
  const commit = await tipOf(workspace, branch);
  const oid = (await workspace.store.readEntries(commit, ["conversation.json"])).get("conversation.json") ?? "";
  for await (const bytes of workspace.store.readBlobs([oid])) return parseHeader(Buffer.from(bytes).toString(), branch);
  throw new Error("no header");
}

async function shown(id: string): Promise<ShowConversation> {
  const report = await show(workspace, id);
  if (report.kind !== "conversation") throw new Error(report.kind);
  return report;
}

describe("sub-agents of Claude Code", () => {
  it("are conversations of their own that name the session and the call which began them", async () => {
    const { sessions, failed } = await load(putSession());
    expect(failed).toEqual([]);
    expect(sessions.map(({ agent_of, turns }) => [agent_of, turns])).toEqual([
      [undefined, 1],
      [SESSION, 1],
    ]);
    const [main, agent] = sessions;
    expect((await headerOf(agent!.branch)).source).toMatchObject({
      session: `${SESSION}-agent-a1b2`,
      parent: { kind: "agent", session: SESSION, call: "toolu_agent", name: "a1b2" },
    });
    expect(await workspace.store.readActiveBranch()).toBe(main!.branch);
    const again = await load(putSession());
    expect(again.sessions.map(({ status, agent_of }) => [status, agent_of])).toEqual([
      ["unchanged", undefined],
      ["unchanged", SESSION],
    ]);
  });

  it("are named by their conversation, at the call, and name it", async () => {
    const [main, agent] = (await load(putSession())).sessions;
    expect(await shown(main!.id)).toMatchObject({
      agents: [{ id: agent!.id, title: "count the anemones", turn: 0, call: "toolu_agent" }],
    });
    expect((await shown(agent!.id)).parent).toMatchObject({ id: main!.id, turn: 0, call: "toolu_agent" });
    const print = async (id: string) =>
      renderPrinted(workspace, await resolveTree(workspace, id), { compacted: false, format: "markdown" });
    const text = await print(main!.id);
    const said = `Sub-agent: ${agent!.id} (count the anemones)`;
    expect(text.indexOf(said)).toBeGreaterThan(text.indexOf("**Tool call** `Task`"));
    expect(text.indexOf(said)).toBeLessThan(text.indexOf("41 anemones"));
    expect(await print(agent!.id)).toContain(`Sub-agent of ${main!.id}, turn 0.`);
  });

  it("are counted in a list, and follow their conversation when all are listed", async () => {
    const [main, agent] = (await load(putSession())).sessions;
    expect((await list()).map(({ id, agents }) => [id, agents])).toEqual([[main!.id, 1]]);
    expect((await list(true)).map(({ id, parent }) => [id, parent?.id])).toEqual([
      [main!.id, undefined],
      [agent!.id, main!.id],
    ]);
  });

  it("are linked whichever was imported first, and have rows of their own until then", async () => {
    putSession();
    const { sessions } = await load(join(folder.path, SESSION, "subagents", "agent-a1b2.jsonl"));
    const agent = sessions[0]!;
    expect((await list()).map(({ id }) => id)).toEqual([agent.id]);
    expect((await shown(agent.id)).parent).toEqual({
      kind: "agent",
      session: SESSION,
      call: "toolu_agent",
      name: "a1b2",
    });
    const main = (await load(join(folder.path, `${SESSION}.jsonl`))).sessions[0]!;
    expect(main.id).not.toBe(agent.id);
    expect((await list()).map(({ id, agents }) => [id, agents])).toEqual([[main.id, 1]]);
    expect((await shown(agent.id)).parent).toMatchObject({ id: main.id, turn: 0 });
  });

  it("of old versions, which are in the session's own file, keep their own lines", async () => {
    const lines = agentLines();
    const path = put(`${SESSION}.jsonl`, sessionBytes([...mainSession(), ...lines]));
    const { sessions } = await load(path);
    expect(sessions.map(({ agent_of, turns, status }) => [agent_of, turns, status])).toEqual([
      [undefined, 1, "created"],
      [SESSION, 1, "created"],
    ]);
    const agent = sessions[1]!;
    const session = `${SESSION}-agent-${String(lines[0]!["uuid"])}`;
    const { source } = await headerOf(agent.branch);
    expect(source).toMatchObject({ session, parent: { session: SESSION, call: "toolu_agent" } });
    const chunks: Uint8Array[] = [];
    const commit = await tipOf(workspace, agent.branch);
    for await (const chunk of readSource(workspace.store, { commit }, session)) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(sessionBytes(lines).toString());
  });

  it("that have said nothing yet are left for the next import, without a word", async () => {
    const path = putSession();
    put(`${SESSION}/subagents/agent-new.jsonl`, "");
    const { sessions, failed } = await load(path);
    expect(sessions).toHaveLength(2);
    expect(failed).toEqual([]);
  });
});

describe("sub-agents of Codex", () => {
  const child = "019b2222-2222-7333-8444-555555555555";
  const spawned = {
    subagent: { thread_spawn: { parent_thread_id: "019b1111-2222-7333-8444-555555555555", depth: 1 } },
  };
  const main: CodexLine[] = [
    meta(),
    prompt("map the tide pools"),
    call("call_spawn"),
    output("call_spawn", JSON.stringify({ agent_id: child })),
    answer("begun"),
  ];
  const agent: CodexLine[] = [meta({ id: child, source: spawned }), prompt("count the anemones"), answer("41")];

  it("are linked by the session that they name, at the call whose result names them", async () => {
    const sessions = (await load(put("a.jsonl", rolloutBytes(agent)), put("b.jsonl", rolloutBytes(main)))).sessions;
    const [first, second] = sessions;
    expect(first!.agent_of).toBe("019b1111-2222-7333-8444-555555555555");
    expect(await workspace.store.readActiveBranch()).toBe(second!.branch);
    expect((await shown(second!.id)).agents).toEqual([
      { id: first!.id, title: "count the anemones", turn: 0, call: "call_spawn" },
    ]);
    expect((await list()).map(({ id, agents }) => [id, agents])).toEqual([[second!.id, 1]]);
  });
});

describe("sub-agents of Gemini CLI", () => {
  const child = "a6e17b1a-2222-4333-8444-555555555555";
  const main = gemini.sessionBytes([
    gemini.header(),
    gemini.prompt("u1", "map the tide pools"),
    gemini.answer("g1", "", {
      toolCalls: [{ ...gemini.call("call_agent", "41 anemones", "explorer"), agentId: child }],
    }),
    gemini.answer("g2", "There are 41."),
  ]);
  const agent = gemini.sessionBytes([
    gemini.header({ sessionId: child, kind: "subagent" }),
    gemini.prompt("u2", "count the anemones"),
    gemini.answer("g3", "41"),
  ]);

  it("are linked by the folder that they are in, at the call whose result names them", async () => {
    const beside = put(`chats/${gemini.GEMINI_SESSION}/${child}.jsonl`, agent);
    const [first, second] = (await load(beside, put("chats/session-2026-01-02T10-00-6e31b1ab.jsonl", main))).sessions;
    expect(first!.agent_of).toBe(gemini.GEMINI_SESSION);
    expect(await workspace.store.readActiveBranch()).toBe(second!.branch);
    expect((await shown(second!.id)).agents).toEqual([
      { id: first!.id, title: "count the anemones", turn: 0, call: "call_agent" },
    ]);
    expect((await shown(first!.id)).parent).toMatchObject({ id: second!.id, turn: 0, call: "call_agent" });
  });

  it("have rows of their own where the folder is no session's, and so does what the user asked in such a folder", async () => {
    const sessions = [
      put(`Downloads/${child}.jsonl`, agent),
      put(`${gemini.GEMINI_SESSION.replace("6e", "7f")}/m.jsonl`, main),
    ];
    for (const { agent_of } of (await load(...sessions)).sessions) expect(agent_of).toBeUndefined();
  });
});

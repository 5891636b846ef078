import { beforeEach, describe, expect, it } from "vitest";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadCompactions, loadView } from "../../../src/app/conversation/view.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import type { ToolCallRequest } from "../../../src/core/conversation/event.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { answer, call, meta, output, prompt, rolloutBytes } from "../../helpers/codex-session.ts";
import { type AppendedStep, appendToSession, buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
let main: string;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  ({ branch: main } = await importBytes(workspace, buildSession(plainTurns(4)).text()));
});

async function treeOf(branch: string): Promise<BranchTree> {
  return loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
}

/** Appends a commit by a user. */
async function commit(branch: string, path: string, text: string): Promise<void> {
  const tip = await tipOf(workspace, branch);
  const person = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
  const changes = [{ path, bytes: Buffer.from(text) }];
  const commits = [{ message: "change\n", author: person, committer: person, changes }];
  await workspace.store.write([{ branch, expected: tip, parent: tip, commits }]);
}

async function addCompaction(branch: string, facts: Partial<Compaction> & { id: string }): Promise<void> {
  const timestamp = "2026-05-01T00:00:00.000Z";
  const compaction: Compaction = { type: "compaction", timestamp, from_turn: 0, to_turn: 1, ...facts };
  await commit(branch, recordPath("compactions", timestamp, facts.id), `${formatCompactionLine(compaction, [])}\n`);
}

async function exportText(branch: string): Promise<string> {
  const tree = await treeOf(branch);
  return exportConversation(workspace, tree, { to: "claude-code", fullHistory: false });
}

async function goOn(text: string, name: string, ...steps: AppendedStep[]) {
  const bytes = Buffer.from(appendToSession(text, name, steps));
  return { bytes, report: await importBytes(workspace, bytes) };
}

async function texts(branch: string): Promise<string[]> {
  const { view } = await loadView(workspace.store, await treeOf(branch));
  return view.turns.flatMap(({ events }) =>
    events.flatMap((event) => {
      if (event.type === "chat_request") return [`U ${JSON.stringify(event.content)}`];
      return event.type === "chat_response" && event.message !== undefined
        ? [`A ${JSON.stringify(event.message)}`]
        : [];
    }),
  );
}

describe("import of a session that jpg exported", () => {
  it("has nothing to do while the agent added nothing but notes", async () => {
    const text = await exportText(main);
    const tips = await workspace.store.listBranches();
    expect((await goOn(text, "a")).report).toMatchObject({ status: "unchanged", branch: main, turns: 4 });
    expect((await goOn(text, "a", "note")).report).toMatchObject({ status: "unchanged", branch: main });
    expect(await workspace.store.listBranches()).toEqual(tips);
  });

  it("has nothing to do either when the branch continued meanwhile", async () => {
    const text = await exportText(main);
    await importBytes(workspace, buildSession(plainTurns(6)).text());
    expect((await goOn(text, "a")).report).toMatchObject({ status: "unchanged", branch: main, turns: 6 });
  });

  it.each([
    ["everything", { to_turn: 3 }],
    ["everything but the newest turn", { to_turn: 2 }],
  ])("knows the summary that was exported: over %s", async (_, range) => {
    await addCompaction(main, { id: "sum1", ...range, summary: { summary: "what came before" } });
    const text = await exportText(main);
    expect((await importBytes(workspace, Buffer.from(text))).status).toBe("unchanged");
    const shown = await texts(main);
    const { bytes, report } = await goOn(text, "a", "note", { ask: "and now?" }, { say: "this" });
    expect(report).toMatchObject({ status: "updated", branch: main, turns: 5, turns_added: 1 });
    expect(await texts(main)).toEqual([...shown, 'U "and now?"', 'A "this"']);
    expect((await importBytes(workspace, bytes)).status).toBe("unchanged");
  });

  it("knows the summary of a session that the agent compacted in its newest turn", async () => {
    const steps = [...plainTurns(2), { compact: 0 }, "say"] as const;
    const { branch } = await importBytes(workspace, buildSession(steps, { session: "squeezed" }).text());
    const shown = await texts(branch);
    const { report } = await goOn(await exportText(branch), "a", { ask: "and now?" }, { say: "this" });
    expect(report).toMatchObject({ status: "updated", branch, turns_added: 1 });
    expect(await texts(branch)).toEqual([...shown, 'U "and now?"', 'A "this"']);
  });

  it("keeps a last call without a result, with the result that the agent was told", async () => {
    const whole = buildSession(["prompt", "say", "prompt", { tools: 1 }], { session: "stopped" });
    const lines = whole.text().toString().trimEnd().split("\n");
    const stopped = lines.filter((line) => !line.includes("tool_result"));
    const { branch } = await importBytes(workspace, Buffer.from(`${stopped.join("\n")}\n`));
    const text = await exportText(branch);
    expect((await importBytes(workspace, Buffer.from(text))).status).toBe("unchanged");
    expect((await goOn(text, "a", "note")).report.status).toBe("unchanged");
    const { bytes, report } = await goOn(text, "a", { ask: "and now?" }, { say: "this" });
    expect(report).toMatchObject({ status: "updated", branch, turns: 3, turns_added: 1 });
    const { view } = await loadView(workspace.store, await treeOf(branch));
    const [call, result] = view.turns[1]!.events.slice(-2);
    expect(call).toMatchObject({ type: "tool_call_request" });
    expect(result).toMatchObject({
      type: "tool_call_response",
      call_id: (call as ToolCallRequest).call_id,
      is_error: true,
    });
    expect((await importBytes(workspace, bytes)).status).toBe("unchanged");
  });

  it("continues the conversation with the new turns only, compactions in place", async () => {
    await addCompaction(main, { id: "sum1", summary: { summary: "what came before" } });
    const before = await treeOf(main);
    const text = await exportText(main);
    expect(text).toContain("what came before");
    const { bytes, report } = await goOn(text, "a", "note", { ask: "and now?" }, { say: "this" });
    expect(report).toMatchObject({ status: "updated", branch: main, turns: 5, turns_added: 1, compactions: 1 });
    const after = await treeOf(main);
    expect(after.turnOids.slice(0, 4)).toEqual(before.turnOids);
    expect(after.compactions).toEqual(before.compactions);
    expect((await texts(main)).slice(-2)).toEqual(['U "and now?"', 'A "this"']);
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged", branch: main, turns: 5 });

    const more = appendToSession(bytes.toString(), "b", [{ ask: "more?" }, { say: "no" }]);
    const grown = await importBytes(workspace, Buffer.from(more));
    expect(grown).toMatchObject({ status: "updated", branch: main, turns: 6, turns_added: 1 });
    expect((await treeOf(main)).turnOids.slice(0, 5)).toEqual(after.turnOids);
  });

  it("lets what the agent says before any request grow the newest turn", async () => {
    const before = await treeOf(main);
    const { bytes, report } = await goOn(await exportText(main), "a", { say: "one more thing" });
    expect(report).toMatchObject({ status: "updated", branch: main, turns: 4, turns_added: 0 });
    const after = await treeOf(main);
    expect(after.turnOids.slice(0, 3)).toEqual(before.turnOids.slice(0, 3));
    expect((await texts(main)).at(-1)).toContain("one more thing");
    // The commit that the session names stays in history: its next state must find it.
    const log = await workspace.store.readLog({ from: after.commit });
    expect(log.map((entry) => entry.commit)).toContain(before.commit);
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged" });
  });

  it("takes the agent's own compaction for one of the conversation, also when nothing else was added", async () => {
    const { bytes, report } = await goOn(await exportText(main), "a", { compact: "all that was said" });
    expect(report).toMatchObject({ status: "updated", branch: main, turns: 4, compactions: 1 });
    const [row] = await readCompactionLog(workspace, await treeOf(main));
    expect(row).toMatchObject({ from_turn: 0, to_turn: 3, source: "import", live: true });
    expect(row?.not_applied).toBeUndefined();
    expect(await texts(main)).toEqual(['U "all that was said"']);
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged" });

    const more = appendToSession(bytes.toString(), "b", [{ ask: "go on" }, { say: "yes" }]);
    expect(await importBytes(workspace, Buffer.from(more))).toMatchObject({ status: "updated", turns: 5 });
    expect((await texts(main))[0]).toBe('U "all that was said"');
    expect(await texts(main)).toHaveLength(3);
  });

  it.each([
    ["an index", { to_turn: 3, reasoning: "strip", index: { text: "what is hidden", entries: 1 }, needs: ["index"] }],
    [
      "an index inside",
      { to_turn: 2, reasoning: "strip", index: { text: "what is hidden", entries: 1 }, needs: ["index"] },
    ],
    ["a summary", { to_turn: 3, summary: { summary: "what came before" } }],
  ] as const)(
    "ends the agent's own compaction of a view with %s at its end where the conversation ended",
    async (_, facts) => {
      await addCompaction(main, { id: "made1", ...facts });
      const { bytes, report } = await goOn(await exportText(main), "a", { compact: "all that was said" });
      expect(report).toMatchObject({ status: "updated", branch: main, turns: 4, compactions: 2 });
      const tree = await treeOf(main);
      const { applied } = await loadCompactions(workspace.store, tree);
      const own = applied.find(({ source }) => source === "import");
      // A bound that is no event of the branch leaves a compaction without what it was made over.
      expect(own).toMatchObject({ from_turn: 0, to_turn: 3, covers: expect.any(String) });
      expect(own?.to_event).toBeUndefined();
      // What the agent sends from now on: nothing of the view that it was handed, its index neither.
      expect(await texts(main)).toEqual(['U "all that was said"']);
      expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged" });
    },
  );

  it("continues in a fork of what was exported when the branch has other turns meanwhile", async () => {
    await addCompaction(main, { id: "sum1", summary: { summary: "what came before" } });
    const text = await exportText(main);
    const exported = await tipOf(workspace, main);
    await importBytes(workspace, buildSession(plainTurns(5)).text());
    const tip = await tipOf(workspace, main);
    const { bytes, report } = await goOn(text, "a", { ask: "and now?" }, { say: "this" });
    expect(report).toMatchObject({ status: "forked", turns: 5, turns_added: 1, compactions: 1 });
    expect(await tipOf(workspace, main)).toBe(tip);
    const log = await workspace.store.readLog({ from: await tipOf(workspace, report.branch) });
    expect(log[0]?.parents).toEqual([exported]);
    expect((await texts(report.branch)).some((line) => line.includes("what came before"))).toBe(true);
    expect(await importBytes(workspace, bytes)).toMatchObject({ status: "unchanged", branch: report.branch });
  });

  it("continues in a fork when the agent went back in it", async () => {
    const { bytes, report } = await goOn(await exportText(main), "a", { ask: "one" }, { say: "1" }, { ask: "two" });
    expect(report).toMatchObject({ status: "updated", turns: 6 });
    const back = bytes.toString().trimEnd().split("\n").slice(0, -1).join("\n");
    const rewound = bytes.toString() + appendToSession(`${back}\n`, "c", [{ ask: "other" }]).slice(back.length + 1);
    const forked = await importBytes(workspace, Buffer.from(rewound));
    expect(forked).toMatchObject({ status: "forked", turns: 6, turns_added: 1 });
    expect(forked.branch).not.toBe(main);
  });

  it("forks where the agent went back to in what was exported, with what compactions did to what lies before", async () => {
    await addCompaction(main, { id: "sum1", summary: { summary: "what came before" } });
    await addCompaction(main, { id: "strip1", to_turn: 3, tool_calls: { policy: "omit" } });
    const text = await exportText(main);
    const lines = text.trimEnd().split("\n");
    const answer = lines.findIndex((line) => line.includes("answer 6"));
    const head = `${lines.slice(0, answer + 1).join("\n")}\n`;
    const rewound = text + appendToSession(head, "a", [{ ask: "other" }, { say: "yes" }]).slice(head.length);
    const tip = await treeOf(main);
    const report = await importBytes(workspace, Buffer.from(rewound));
    expect(report).toMatchObject({ status: "forked", turns: 4, turns_added: 1, compactions: 2 });
    const fork = await treeOf(report.branch);
    expect(fork.turnOids.slice(0, 3)).toEqual(tip.turnOids.slice(0, 3));
    expect((await texts(report.branch)).slice(-2)).toEqual(['U "other"', 'A "yes"']);
    expect((await texts(report.branch))[1]).toContain("what came before");
    expect(fork.compactions.map(({ path }) => path).join()).toMatch(/-strip1-2\.jsonl/);
    expect(await importBytes(workspace, Buffer.from(rewound))).toMatchObject({ status: "unchanged" });
  });

  it("knows its own lines also when the full history was exported", async () => {
    await addCompaction(main, { id: "sum1", to_turn: 2, summary: { summary: "what came before" } });
    const tree = await treeOf(main);
    const text = await exportConversation(workspace, tree, { to: "claude-code", fullHistory: true });
    expect((await goOn(text, "a")).report).toMatchObject({ status: "unchanged", branch: main });
    const { report } = await goOn(text, "a", { ask: "and now?" });
    expect(report).toMatchObject({ status: "updated", branch: main, turns: 5, turns_added: 1 });
  });

  it("becomes a conversation of its own in a store that has not what it came from", async () => {
    const text = appendToSession(await exportText(main), "a", [{ ask: "and now?" }, { say: "this" }]);
    workspace = await createMemoryWorkspace();
    const report = await importBytes(workspace, Buffer.from(text));
    expect(report).toMatchObject({ status: "created", turns: 5 });
    expect(report.branch).not.toBe(main);
    expect(await importBytes(workspace, Buffer.from(text))).toMatchObject({
      status: "unchanged",
      branch: report.branch,
    });
  });

  it.each([
    ["a commit that is none", { commit: "HEAD\nHEAD" }],
    ["a branch that no name can be", { branch: "../../x/main", conversation: "../../x" }],
    ["a branch of another conversation", { conversation: "somebody-else" }],
  ])("trusts nothing that the file says of itself: %s", async (_, wrong) => {
    const text = appendToSession(await exportText(main), "a", [{ ask: "and now?" }]);
    const [first, ...rest] = text.split("\n");
    const forged = [JSON.stringify({ ...(JSON.parse(first!) as object), ...wrong }), ...rest].join("\n");
    const tip = await tipOf(workspace, main);
    expect(await importBytes(workspace, Buffer.from(forged))).toMatchObject({ status: "created" });
    expect(await tipOf(workspace, main)).toBe(tip);
  });

  it("keeps the result that the export made up next to a real one, once the agent has continued", async () => {
    const broken = createClaudeWriter();
    broken.prompt("go");
    broken.tools(2, [0]);
    ({ branch: main } = await importBytes(workspace, sessionBytes(broken.lines)));
    const text = await exportText(main);
    expect((await goOn(text, "a")).report).toMatchObject({ status: "unchanged", branch: main });
    await goOn(text, "a", { ask: "and now?" }, { say: "this" });
    const { view } = await loadView(workspace.store, await treeOf(main));
    const events = view.turns.flatMap((turn) => turn.events);
    const ids = (type: string) =>
      events.flatMap((event) => (event.type === type && "call_id" in event ? [event.call_id] : []));
    expect(ids("tool_call_request")).toHaveLength(2);
    expect(ids("tool_call_response")).toEqual(ids("tool_call_request"));
  });

  it("keeps such a result of Codex, too", async () => {
    const broken = [meta(), prompt("go"), call("a"), call("b"), output("a")];
    ({ branch: main } = await importBytes(workspace, rolloutBytes(broken)));
    const text = await exportConversation(workspace, await treeOf(main), { to: "codex", fullHistory: false });
    expect(await importBytes(workspace, Buffer.from(text))).toMatchObject({ status: "unchanged", branch: main });
    const grown = `${text}${rolloutBytes([prompt("and now?"), answer("this")])}`;
    expect(await importBytes(workspace, Buffer.from(grown))).toMatchObject({ status: "updated", branch: main });
    const { view } = await loadView(workspace.store, await treeOf(main));
    const results = view.turns.flatMap((turn) => turn.events.filter(({ type }) => type === "tool_call_response"));
    expect(results.map((event) => ("call_id" in event ? event.call_id : ""))).toEqual(["a", "b"]);
  });
});

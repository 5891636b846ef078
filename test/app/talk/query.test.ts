// The result of a turn: one commit when it is complete, what had arrived when it was broken off, nothing when nothing was said.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { commitChange, recordChange } from "../../../src/app/conversation/append.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import type { Tool, ToolBox } from "../../../src/app/models/tool-box.ts";
import { newConversation } from "../../../src/app/names/conversations.ts";
import { loadStart, openTurn } from "../../../src/app/talk/open-turn.ts";
import { type QueryObserver, type QueryReport, type QueryRequest, query } from "../../../src/app/talk/query.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import {
  calls,
  createScriptedModel,
  type Script,
  type ScriptedModel,
  says,
  stop,
  thinks,
} from "../../helpers/scripted-model.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;

beforeEach(async () => {
  ({ workspace, branch } = await createImportedWorkspace(smallSession({ turns: 4 })));
});

afterEach(() => removeWorkspace(workspace));

interface Shown extends QueryObserver {
  readonly text: string[];
  readonly notices: string[];
  readonly results: string[];
}

function observer(overrides: Partial<QueryObserver> = {}): Shown {
  const shown = { text: [] as string[], notices: [] as string[], results: [] as string[] };
  return {
    ...shown,
    delta: (kind, text) => void shown.text.push(kind === "message" ? text : `(${text})`),
    toolCall: () => undefined,
    toolResult: ({ name, isError, text }) => void shown.results.push(`${name} ${isError ? "failed" : "ok"}: ${text}`),
    notice: (text) => void shown.notices.push(text),
    confirm: () => Promise.resolve(true),
    ...overrides,
  };
}

function ask(
  scripts: readonly Script[] | ScriptedModel,
  request: Partial<QueryRequest> = {},
  shown: QueryObserver = observer(),
): Promise<QueryReport> {
  const opened = "requests" in scripts ? scripts : createScriptedModel(scripts);
  const signal = new AbortController().signal;
  return query(workspace, branch, { content: "How high is it?", opened, signal, ...request }, shown);
}

async function turnsOf(name = branch): Promise<readonly (readonly Event[])[]> {
  const tree = await loadBranchTree(workspace.store, name, await tipOf(workspace, name));
  return [...(await loadTurns(workspace.store, tree)).values()].map(({ events }) => events);
}

const lastTurn = async (name = branch): Promise<readonly Event[]> => (await turnsOf(name)).at(-1) ?? [];
const journals = (): string[] => {
  try {
    return readdirSync(join(workspace.store.gitDir, "jpg-journal"));
  } catch {
    return [];
  }
};
const failure = (promise: Promise<unknown>): Promise<JpgError> =>
  promise.then(
    () => {
      throw new Error("expected a failure");
    },
    (error: unknown) => error as JpgError,
  );

function tool(name: string, call: Tool["call"], more: Partial<Tool> = {}): Tool {
  const definition = { name, description: "", parameters: { type: "object" } };
  return { definition, origin: "jpg", confirm: false, call, ...more };
}

function box(...tools: readonly Tool[]): ToolBox {
  return { tools, problems: [], close: () => Promise.resolve() };
}

describe("a whole turn", () => {
  it("streams, and becomes one commit of the user", async () => {
    const asked: string[] = [];
    const shown = observer({ asked: (model) => void asked.push(model) });
    const report = await ask([[...thinks("Let me ", "look."), ...says("Four ", "metres."), stop()]], {}, shown);
    expect(asked).toEqual(["test/model-1"]);
    expect(shown.text).toEqual(["(Let me )", "(look.)", "Four ", "metres."]);
    expect(report).toMatchObject({ branch, turn: 4, text: "Four metres.", stop: "complete", interrupted: false });
    expect(report).toMatchObject({
      usage: { input: 100, output: 10 },
      price: null,
      tokens: { view: 110, window: 100_000 },
    });
    expect(await lastTurn()).toMatchObject([
      { type: "turn_start", prev: expect.stringMatching(/^[0-9a-f]{40}$/) },
      { type: "chat_request", content: "How high is it?" },
      { type: "chat_response", reasoning: "Let me look.", metadata: { provider: "test", model: "model-1" } },
      {
        type: "chat_response",
        message: "Four metres.",
        metadata: { usage: { prompt_tokens: 100 }, response_id: "resp-1" },
      },
    ]);
    const [reasoning, message] = (await lastTurn()).slice(2);
    expect(reasoning?.metadata?.message_id).toBe(message?.metadata?.message_id);
    expect(message?.metadata).not.toHaveProperty("stop");
    const log = git(workspace.store.root, workspace.temp.env, [
      "log",
      "-1",
      "--format=%s|%an|%G?",
      "--name-only",
      branch,
    ]);
    expect(log).toBe("turn 4: How high is it?|Ada Test|N\n\nturns/0000/000004.jsonl");
    expect(journals()).toEqual([]);
  });

  it("is sent after the branch's view, and what follows is sent after it", async () => {
    const model = createScriptedModel([
      [...says("One."), stop()],
      [...says("Two."), stop()],
    ]);
    await ask(model, { content: "first" });
    await ask(model, { content: "second" });
    const [first, second] = model.requests;
    expect(first?.view.turns).toHaveLength(5);
    expect(first?.view.turns.at(-1)).toMatchObject({ origin: { kind: "kept", turn: 4 } });
    expect(second?.view.turns.slice(0, 4)).toEqual(first?.view.turns.slice(0, 4));
    expect(JSON.stringify(second?.view.turns[4])).toContain("One.");
  });

  it("begins a conversation with its root, and makes it active", async () => {
    const { branch: name, root } = await newConversation(workspace, "Fix the parser\nplease");
    const model = createScriptedModel([[...says("Done."), stop()]]);
    const signal = new AbortController().signal;
    const report = await query(workspace, name, { content: "Fix the parser", opened: model, signal, root }, observer());
    expect(name).toMatch(/^fix-the-parser-please-[0-9a-z]{4}\/main$/);
    expect(report).toMatchObject({ branch: name, turn: 0 });
    expect(await workspace.store.readActiveBranch()).toBe(name);
    const subjects = git(workspace.store.root, workspace.temp.env, ["log", "--format=%s|%an", name]);
    expect(subjects).toBe("turn 0: Fix the parser|Ada Test\nconversation: Fix the parser please|Ada Test");
    expect((await lastTurn(name))[0]).not.toHaveProperty("prev");
    expect(git(workspace.store.root, workspace.temp.env, ["status", "--porcelain"])).toBe("");
  });

  it("keeps the model that was named, once", async () => {
    const scripts = [
      [...says("One."), stop()],
      [...says("Two."), stop()],
    ];
    const model = createScriptedModel(scripts, "anthropic/claude-x");
    await ask(model, { model: "anthropic/claude-x" });
    await ask(model, { model: "anthropic/claude-x" });
    const subjects = git(workspace.store.root, workspace.temp.env, ["log", "-3", "--format=%s", branch]).split("\n");
    expect(subjects).toEqual(["turn 5: How high is it?", "turn 4: How high is it?", "config: conversation.model"]);
  });

  it("keeps long payloads as attachments, and sends them whole", async () => {
    const text = "x".repeat(300 * 1024);
    const content = [
      { type: "text", text: "Read it" },
      { type: "attachment", name: "long.txt", text },
    ] as const;
    const model = createScriptedModel([
      [...says("Read."), stop()],
      [...says("Again."), stop()],
    ]);
    await ask(model, { content });
    await ask(model);
    const files = git(workspace.store.root, workspace.temp.env, [
      "ls-tree",
      "-r",
      "--name-only",
      branch,
      "attachments/",
    ]);
    expect(files).toMatch(/^attachments\/[0-9a-f]{2}\/[0-9a-f]{64}\.txt$/);
    expect(model.requests[1]?.view.turns[4]?.events[1]).toMatchObject({ content });
  });
});

describe("tools", () => {
  it("are called in the model's order, and their results sent back", async () => {
    const order: string[] = [];
    const run = (name: string) =>
      tool(name, async (args) => {
        order.push(`${name} ${JSON.stringify(args)}`);
        return { content: `${name} says hello`, isError: false };
      });
    const model = createScriptedModel([
      [...says("Looking."), calls("b", { x: 1 }), calls("a", { y: 2 }), stop("tool_calls")],
      [...says("Both said hello."), stop()],
    ]);
    const shown = observer();
    const report = await ask(model, { tools: box(run("a"), run("b")) }, shown);
    expect(order).toEqual(['b {"x":1}', 'a {"y":2}']);
    expect(shown.results).toEqual(["b ok: b says hello", "a ok: a says hello"]);
    expect(report).toMatchObject({
      text: "Looking.\n\nBoth said hello.",
      usage: { input: 200, output: 20 },
      tokens: { view: 110 },
    });
    expect((await lastTurn()).map(({ type }) => type)).toEqual([
      "turn_start",
      "chat_request",
      "chat_response",
      "tool_call_request",
      "tool_call_request",
      "tool_call_response",
      "tool_call_response",
      "chat_response",
    ]);
    expect(model.requests[1]?.view.turns.at(-1)?.events).toHaveLength(7);
  });

  it("answer what is wrong with a call, and the turn continues", async () => {
    const model = createScriptedModel([
      [calls("read_file", '{"path": '), calls("raed_file", {}), calls("read_file", { path: "x" }), stop("tool_calls")],
      [...says("Sorry."), stop()],
    ]);
    const shown = observer();
    const broken = tool("read_file", () => Promise.reject(new Error("no such file")));
    await ask(model, { tools: box(broken) }, shown);
    expect(shown.results).toEqual([
      expect.stringMatching(/^read_file failed: The arguments of read_file are not a JSON object: .*JSON/),
      "raed_file failed: There is no tool raed_file. Did you mean read_file? The tools are: read_file.",
      "read_file failed: The tool read_file failed: no such file",
    ]);
    expect(await lastTurn()).toMatchObject([
      {},
      {},
      { arguments: '{"path": ' },
      {},
      {},
      {},
      {},
      {},
      { message: "Sorry." },
    ]);
  });

  it("that need it are confirmed by the user, and the model is told a no", async () => {
    const asked: unknown[] = [];
    const model = createScriptedModel([
      [calls("rm", { all: true }), stop("tool_calls")],
      [...says("Then not."), stop()],
    ]);
    const shown = observer({
      confirm: (call) => {
        asked.push(call);
        return Promise.resolve(false);
      },
    });
    const remove = tool("rm", () => Promise.reject(new Error("called")), { confirm: true, origin: "files" });
    await ask(model, { tools: box(remove) }, shown);
    expect(asked).toEqual([{ name: "rm", arguments: { all: true }, origin: "files" }]);
    expect(shown.results).toEqual(["rm failed: The user declined this call."]);
  });

  it("end the turn after so many rounds, with every call answered", async () => {
    const loop = [calls("again", {}), stop("tool_calls")];
    const shown = observer();
    const again = tool("again", () => Promise.resolve({ content: "ok", isError: false }));
    const report = await ask([loop, loop, loop], { tools: box(again), maxToolRounds: 2 }, shown);
    expect(report).toMatchObject({ stop: "tool_calls", turn: 4 });
    expect(shown.notices.join()).toContain("after 2 rounds of tool calls");
    const events = await lastTurn();
    expect(events.filter(({ type }) => type === "tool_call_request")).toHaveLength(3);
    expect(events.at(-1)).toMatchObject({ type: "tool_call_response", is_error: true });
  });

  it("that compact the branch change what the model is sent next", async () => {
    const compacting = tool("compact", async () => {
      const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
      await compact(workspace, tree, { range: {}, profile: "light", dryRun: false, fork: false, activate: false });
      return { content: "done", isError: false };
    });
    const model = createScriptedModel([
      [calls("compact", {}), stop("tool_calls")],
      [...says("Smaller."), stop()],
    ]);
    await ask(model, { tools: box(compacting) });
    const thoughts = (request: number): number =>
      model.requests[request]?.view.turns.flatMap(({ events }) => events).filter((event) => "reasoning" in event)
        .length ?? 0;
    expect(thoughts(1)).toBeLessThan(thoughts(0));
    const subjects = git(workspace.store.root, workspace.temp.env, ["log", "-2", "--format=%s", branch]);
    expect(subjects).toMatch(/^turn 4: How high is it\?\ncompact 0\.\.0/);
  });
});

describe("a turn that is broken off", () => {
  const cut = new JpgError("provider", "stream_cut", "the stream was cut", { hints: ["ask again"] });

  it("keeps what came, marked, and says so with the provider's error", async () => {
    const error = await failure(ask([[{ type: "delta", kind: "message", text: "Four me" }, cut]]));
    expect(error).toMatchObject({ kind: "provider", code: "stream_cut", data: { branch, turn: 4 } });
    expect(error.hints).toEqual([
      "ask again",
      `What had arrived by then is kept as turn 4 of ${branch}, marked as interrupted.`,
    ]);
    expect(await lastTurn()).toMatchObject([
      {},
      {},
      { message: "Four me", metadata: { interrupted: true, model: "model-1" } },
      { type: "note", kind: "interrupted", data: { reason: "provider" } },
    ]);
    expect(journals()).toEqual([]);
  });

  it("does not change the conversation when the model said nothing, and keeps the request's text", async () => {
    const before = await tipOf(workspace, branch);
    const error = await failure(ask([[cut]], { content: "a long question" }));
    const kept = join(workspace.store.gitDir, "jpg-unsent.txt");
    expect(error.hints.at(-1)).toContain(`jpg query - < '${kept}'`);
    expect(readFileSync(kept, "utf8")).toBe("a long question");
    expect(await tipOf(workspace, branch)).toBe(before);
    expect(journals()).toEqual([]);
  });

  it("by the user keeps what came, and is no error", async () => {
    const controller = new AbortController();
    const shown = observer();
    const script: Script = [{ type: "delta", kind: "message", text: "Four" }, () => controller.abort(), ...says("x")];
    const report = await ask([script], { signal: controller.signal }, shown);
    expect(report).toMatchObject({ stop: "aborted", interrupted: true, turn: 4, text: "Four" });
    expect(shown.notices).toEqual([`Interrupted: what had arrived is kept as turn 4 of ${branch}.`]);
    expect(await lastTurn()).toMatchObject([
      {},
      {},
      { message: "Four", metadata: { interrupted: true } },
      { type: "note" },
    ]);
  });

  it("by the user before an answer leaves no turn", async () => {
    const controller = new AbortController();
    const before = await tipOf(workspace, branch);
    const shown = observer();
    const report = await ask([[() => controller.abort()]], { signal: controller.signal }, shown);
    expect(report).toMatchObject({ stop: "aborted", interrupted: true, turn: null, commit: null });
    expect(shown.notices.join()).toContain("the conversation is unchanged");
    expect(await tipOf(workspace, branch)).toBe(before);
  });

  it("during tool calls leaves no call without a result", async () => {
    const controller = new AbortController();
    const slow = tool("slow", (_, { signal }) => {
      controller.abort();
      return Promise.reject(signal.reason);
    });
    const next = tool("next", () => Promise.reject(new Error("called")));
    const shown = observer();
    await ask(
      [[calls("slow", {}), calls("next", {}), stop("tool_calls")]],
      { tools: box(slow, next), signal: controller.signal },
      shown,
    );
    expect(shown.results).toEqual([
      "slow failed: Interrupted by the user: no result was recorded, the outcome is unknown.",
      "next failed: Interrupted by the user before this call was made.",
    ]);
    expect((await lastTurn()).map(({ type }) => type).slice(2)).toEqual([
      "tool_call_request",
      "tool_call_request",
      "tool_call_response",
      "tool_call_response",
      "note",
    ]);
  });

  it("by a question that nobody can answer keeps what came, and throws it", async () => {
    const nobody = new JpgError("provider", "needs_terminal", "jpg cannot ask without a terminal");
    const shown = observer({ confirm: () => Promise.reject(nobody) });
    const remove = tool("rm", () => Promise.reject(new Error("called")), { confirm: true });
    const error = await failure(
      ask([[...says("I will."), calls("rm", {}), stop("tool_calls")]], { tools: box(remove) }, shown),
    );
    expect(error).toMatchObject({ kind: "provider", code: "needs_terminal", data: { turn: 4 } });
    expect((await lastTurn()).map(({ type }) => type).slice(2)).toEqual(["chat_response", "tool_call_request", "note"]);
  });

  it("marks an answer that was cut off at its longest length, refused, or ended unknown", async () => {
    for (const [reason, says_] of [
      ["length", "cut off"],
      ["refusal", "refused to continue"],
      ["unknown", "may be incomplete"],
    ] as const) {
      const shown = observer();
      const report = await ask([[...says("Well, "), stop(reason)]], {}, shown);
      expect(report.stop).toBe(reason);
      expect(shown.notices.join()).toContain(says_);
      expect((await lastTurn()).at(-1)).toMatchObject({ metadata: { stop: reason, stop_reason: `raw_${reason}` } });
    }
  });

  it("is an error when the answer is empty or refused without a word", async () => {
    const before = await tipOf(workspace, branch);
    expect(await failure(ask([[stop()]]))).toMatchObject({ kind: "provider", code: "empty_answer" });
    expect(await failure(ask([[stop("refusal")]]))).toMatchObject({ kind: "provider", code: "refused" });
    expect(await failure(ask([[]]))).toMatchObject({ kind: "provider", code: "stream_cut" });
    expect(await tipOf(workspace, branch)).toBe(before);
  });
});

describe("others who write meanwhile", () => {
  it("add a compaction: the turn is built on it", async () => {
    const script: Script = [
      ...says("Four"),
      async () => {
        const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
        await compact(workspace, tree, { range: {}, profile: "light", dryRun: false, fork: false, activate: false });
      },
      stop(),
    ];
    expect(await ask([script])).toMatchObject({ branch, turn: 4 });
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    expect(tree.compactions).toHaveLength(1);
    expect((await loadView(workspace.store, tree)).view.turns).toHaveLength(5);
  });

  it("add a turn: this one goes to a fork that holds what it was talked on", async () => {
    const intruder = async (): Promise<void> => {
      const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
      const event = { type: "turn_start", id: "other", timestamp: "2026-05-01T12:00:00Z" };
      const bytes = new TextEncoder().encode(`${JSON.stringify(event)}\n`);
      await commitChange(workspace, tree, async () => ({
        message: "turn 4: other\n",
        changes: [{ path: "turns/0000/000004.jsonl", bytes }],
        sign: false,
      }));
    };
    const shown = observer();
    const report = await ask([[...says("Four"), intruder, stop()]], {}, shown);
    expect(report.branch).toMatch(/\/fork-[0-9a-z]{4}$/);
    expect(shown.notices.join()).toContain(`on the new fork ${report.branch}`);
    expect((await turnsOf()).at(-1)?.[0]?.id).toBe("other");
    expect((await lastTurn(report.branch)).at(-1)).toMatchObject({ message: "Four" });
    expect(await turnsOf(report.branch)).toHaveLength(5);
  });

  it("add a turn before this one is open, and take it back: this one is talked on the turns it was opened on", async () => {
    const start = await loadStart(workspace, branch, {});
    const before = await tipOf(workspace, branch);
    await ask([[...says("Theirs."), stop()]], { content: "theirs" });
    const turn = await openTurn(workspace, start, "mine");
    git(workspace.store.root, workspace.temp.env, [
      "update-ref",
      `refs/heads/${branch}`,
      before,
      await tipOf(workspace, branch),
    ]);
    const {
      view: { turns },
    } = await turn.sent();
    expect(turn.head.turn).toBe(5);
    expect(turns.map(({ origin }) => origin)).toEqual(
      [0, 1, 2, 3, 4, 5].map((position) => ({ kind: "kept", turn: position })),
    );
    await turn.journal.remove();
  });

  it("cannot open a second turn on the branch, and can on a fork", async () => {
    let second: JpgError | null = null;
    const script: Script = [
      ...says("Four"),
      async () => {
        second = await failure(ask([[...says("x"), stop()]], { content: "and now?" }));
      },
      stop(),
    ];
    await ask([script]);
    expect(second).toMatchObject({ kind: "user", code: "turn_open", data: { branch, pid: process.pid } });
    expect(second!.hints.join()).toContain("--fork");
    expect(await turnsOf()).toHaveLength(5);
    expect(await ask([[...says("Again"), stop()]])).toMatchObject({ turn: 5 });
  });

  it("write a record that is no turn: nothing is forked", async () => {
    const script: Script = [
      ...says("Four"),
      async () => {
        const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
        const record = { type: "meta", id: "m1", timestamp: "2026-05-01T12:00:00.000Z", title: "Tides" };
        await commitChange(workspace, tree, async () => ({
          message: "title: Tides\n",
          changes: [recordChange(workspace, "meta", record)],
          sign: false,
        }));
      },
      stop(),
    ];
    expect(await ask([script])).toMatchObject({ branch, turn: 4 });
  });
});

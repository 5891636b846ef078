// What a merge of a fork summarises, in both engines: what is new, once, from either side and however history was cut.
import { afterEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { commitChange, currentSignatures } from "../../../src/app/conversation/append.ts";
import { openJournal } from "../../../src/app/conversation/journal.ts";
import { recordTurn } from "../../../src/app/conversation/record-turn.ts";
import { findBrokenLinks } from "../../../src/app/conversation/spliced-turns.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns, loadView } from "../../../src/app/conversation/view.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { type MergeReport, type MergeRequest, mergeFork } from "../../../src/app/manage/merge.ts";
import { revertCompactions, undoCompaction } from "../../../src/app/manage/revert.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { markThisProcess } from "../../../src/store/running-process.ts";
import { createScriptedModel } from "../../helpers/scripted-model.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { good } from "../../helpers/summaries.ts";
import {
  createGitWorkspace,
  createMemoryWorkspace,
  type GitWorkspace,
  importBytes,
  removeWorkspace,
  type TestWorkspace,
  tipOf,
} from "../../helpers/workspace.ts";

const opened: GitWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

/** A conversation of three turns with forks `a` and `b` of it. */
interface Forks {
  readonly workspace: TestWorkspace;
  /** The full name of a fork. */
  name(fork: string): string;
  tree(fork: string): Promise<BranchTree>;
  /** Adds a turn in which `said` is answered. */
  turn(fork: string, said: string): Promise<void>;
  /** Lets the newest turn of a fork grow by an answer. */
  grow(fork: string, said: string): Promise<void>;
  compact(fork: string, to: number): Promise<string>;
  merge(fork: string, into: string, request?: Partial<MergeRequest>): Promise<MergeReport>;
}

async function forksIn(workspace: TestWorkspace): Promise<Forks> {
  const { branch } = await importBytes(workspace, buildSession(plainTurns(3)).text());
  const conversation = branch.slice(0, branch.indexOf("/"));
  const name = (fork: string): string => `${conversation}/${fork}`;
  const { store, runtime } = workspace;
  for (const fork of ["a", "b"]) await store.createBranch(name(fork), await tipOf(workspace, branch));
  const tree = async (fork: string): Promise<BranchTree> =>
    loadBranchTree(store, name(fork), await tipOf(workspace, name(fork)));
  const answer = (said: string): Event => ({
    type: "chat_response",
    id: `answer-${said}`,
    timestamp: runtime.now().toISOString(),
    message: `answer ${said}`,
  });
  return {
    workspace,
    name,
    tree,
    async turn(fork, said) {
      const { commit, turnOids } = await tree(fork);
      const timestamp = runtime.now().toISOString();
      await recordTurn(workspace, {
        branch: name(fork),
        turn: turnOids.length,
        start: `start-${said}`,
        parent: commit,
        prev: turnOids.at(-1) ?? null,
        events: [
          { type: "turn_start", id: `start-${said}`, timestamp },
          { type: "chat_request", id: `request-${said}`, timestamp, content: `request ${said}` },
          answer(said),
        ],
      });
    },
    async grow(fork, said) {
      const held = await tree(fork);
      const turn = held.turnOids.length - 1;
      const events = (await loadTurns(store, held, [turn])).get(turn)?.events ?? [];
      const { turnOids, commit } = held;
      await recordTurn(workspace, {
        branch: name(fork),
        turn,
        start: events[0]?.id ?? "",
        parent: `${commit.slice(0, 39)}${commit.endsWith("0") ? "1" : "0"}`,
        prev: turnOids.at(-2) ?? null,
        events: [...events, answer(said)],
      });
    },
    async compact(fork, to) {
      const { compaction } = await compact(workspace, await tree(fork), {
        range: { to: parseBound(String(to), runtime) },
        policies: { turns: "omit" },
        dryRun: false,
        activate: false,
      });
      return compaction?.id ?? "";
    },
    merge: async (fork, into, request = {}) =>
      mergeFork(workspace, {
        into: await tree(into),
        fork: await tree(fork),
        text: `what ${fork} did`,
        dryRun: false,
        summary: {},
        ...request,
      }),
  };
}

const told = ({ from_turn, to_turn, turn }: MergeReport): string => `${from_turn}..${to_turn} as ${turn}`;

async function lastTurn({ workspace, tree }: Forks, fork: string): Promise<string> {
  const held = await tree(fork);
  expect(await findBrokenLinks(workspace.store, held)).toEqual([]);
  const { view } = await loadView(workspace.store, held);
  return JSON.stringify(view.turns.at(-1)?.events);
}

const ENGINES = {
  "with git": async () => {
    const workspace = await createGitWorkspace();
    opened.push(workspace);
    return workspace;
  },
  "without git": () => createMemoryWorkspace(),
} as const;

describe.each(Object.entries(ENGINES))("a merge of a fork, %s", (_, open) => {
  it("has the branch's own tree and one turn more, and nothing else of the fork", async () => {
    const forks = await forksIn(await open());
    const { store } = forks.workspace;
    await forks.turn("a", "a0");
    await forks.turn("b", "b0");
    const hidden = await forks.compact("b", 1);
    await forks.turn("b", "b1");
    const before = await forks.tree("a");
    const report = await forks.merge("b", "a");
    expect(told(report)).toBe("3..4 as 4");
    const [after, fork] = [await forks.tree("a"), await forks.tree("b")];
    expect(report.commit).toBe(after.commit);
    const files = async (commit: string) => (await store.listTree(commit)).map(({ path, oid }) => `${oid} ${path}`);
    const there = new Set(await files(before.commit));
    const added = (await files(after.commit)).filter((file) => !there.delete(file));
    expect(there.size).toBe(0);
    expect(added).toEqual([expect.stringContaining("turns/0000/000004.jsonl")]);
    const [merge] = await store.readLog({ from: after.commit, limit: 1 });
    expect(merge?.parents).toEqual([before.commit, fork.commit]);
    expect(await lastTurn(forks, "a")).toContain("what b did");
    expect(await readCompactionLog(forks.workspace, after)).toEqual([]);
    expect((await readCompactionLog(forks.workspace, fork)).map(({ compaction }) => compaction)).toEqual([hidden]);
  });

  it("summarises only what is new when it is repeated", async () => {
    const forks = await forksIn(await open());
    await forks.turn("b", "b0");
    expect(told(await forks.merge("b", "a"))).toBe("3..3 as 3");
    expect(await forks.merge("b", "a")).toMatchObject({ commit: null, turn: null, reason: expect.any(String) });
    await forks.turn("a", "a0");
    await forks.turn("b", "b1");
    await forks.turn("b", "b2");
    expect(told(await forks.merge("b", "a"))).toBe("4..5 as 5");
    await forks.grow("b", "more");
    expect(told(await forks.merge("b", "a"))).toBe("5..5 as 6");
    expect(await forks.merge("b", "a")).toMatchObject({ commit: null });
  });

  it("knows what was summarised if history is squashed", async () => {
    const forks = await forksIn(await open());
    const { workspace, name } = forks;
    await forks.turn("b", "b0");
    await forks.merge("b", "a");
    const { commit, branch } = await forks.tree("a");
    const signatures = await currentSignatures(workspace);
    const changes = await workspace.store.listTree(commit);
    await workspace.store.write([
      { branch, expected: commit, parent: null, commits: [{ message: "all\n", ...signatures, changes }] },
    ]);
    expect(await forks.merge("b", "a")).toMatchObject({ commit: null });
    await forks.turn("b", "b1");
    expect(told(await forks.merge("b", "a"))).toBe("4..4 as 4");
    expect((await forks.tree("a")).branch).toBe(name("a"));
  });

  it("does not summarise a fork's own turns for it", async () => {
    const forks = await forksIn(await open());
    await forks.turn("b", "b0");
    await forks.merge("b", "a");
    expect(await forks.merge("a", "b")).toMatchObject({ commit: null });
    await forks.turn("a", "a0");
    const report = await forks.merge("a", "b", { text: undefined, summary: { model: "extractive" } } as object);
    expect(told(report)).toBe("3..4 as 4");
    const text = await lastTurn(forks, "b");
    expect(text).toContain("request a0");
    expect(text).not.toContain("what b did");
  });

  it("includes what the fork's merges summarised of others", async () => {
    const forks = await forksIn(await open());
    await forks.turn("a", "a0");
    await forks.turn("b", "b0");
    await forks.merge("a", "b");
    expect(told(await forks.merge("b", "main"))).toBe("3..4 as 3");
    expect(await forks.merge("a", "main")).toMatchObject({ commit: null });
    await forks.turn("a", "a1");
    expect(told(await forks.merge("a", "main"))).toBe("4..4 as 4");
  });

  it("knows a turn that has grown on one side as the same turn", async () => {
    const forks = await forksIn(await open());
    await forks.grow("b", "more");
    expect(await forks.merge("a", "b")).toMatchObject({ commit: null });
    const report = await forks.merge("b", "a", { text: undefined, summary: { model: "extractive" } } as object);
    expect(told(report)).toBe("2..2 as 3");
    expect(await lastTurn(forks, "a")).toContain("answer more");
  });

  it("asks the model for the fork's raw turns", async () => {
    const forks = await forksIn(await open());
    await forks.turn("b", "b0");
    await forks.compact("b", 3);
    const model = createScriptedModel([good("b was tried")]);
    const summary = { model: "anthropic/claude-test", openModel: () => Promise.resolve(model) };
    const asked = { text: undefined, summary } as object;
    expect(await forks.merge("b", "a", { ...asked, dryRun: true })).toMatchObject({ commit: null, turn: 3 });
    expect(model.requests).toEqual([]);
    const report = await forks.merge("b", "a", asked);
    expect(report).toMatchObject({ model: "anthropic/claude-test", summary: { source: "generated" } });
    expect(JSON.stringify(model.requests[0]?.view)).toContain("request b0");
    expect(JSON.stringify(model.requests[0]?.view)).not.toContain("request 0");
    expect(await lastTurn(forks, "a")).toContain("b was tried");
  });

  it("refuses itself, other conversations and an open turn, and changes nothing", async () => {
    const forks = await forksIn(await open());
    const { workspace } = forks;
    await forks.turn("b", "b0");
    const other = await importBytes(workspace, buildSession(plainTurns(1), { session: "other" }).text());
    const stranger = await loadBranchTree(workspace.store, other.branch, await tipOf(workspace, other.branch));
    const { commit, branch } = await forks.tree("a");
    await expect(forks.merge("a", "a")).rejects.toMatchObject({ code: "merge_itself" });
    await expect(forks.merge("b", "a", { fork: stranger })).rejects.toMatchObject({ code: "unrelated_conversation" });
    await expect(forks.merge("b", "a", { text: " " })).rejects.toMatchObject({ code: "empty_summary" });
    expect((await forks.tree("a")).commit).toBe(commit);
    expect(branch).toBe(forks.name("a"));
  });

  it("says what to do to take back a merge", async () => {
    const forks = await forksIn(await open());
    const { workspace } = forks;
    await forks.compact("a", 1);
    await forks.turn("b", "b0");
    const { commit } = await forks.merge("b", "a");
    await expect(revertCompactions(workspace, [commit ?? ""], forks.name("a"))).rejects.toMatchObject({
      code: "merge_stays",
      hints: [expect.stringContaining("--tangents 3")],
    });
    const undone = await undoCompaction(workspace, await forks.tree("a"));
    expect(undone.reverted).toHaveLength(1);
    expect(undone.warnings).toEqual([expect.stringContaining("turn 3, which summarises a merged fork, stays")]);
  });

  it("keeps a compaction that was picked from the fork", async () => {
    const forks = await forksIn(await open());
    await forks.turn("b", "b0");
    const id = await forks.compact("b", 1);
    await forks.merge("b", "a");
    // As stock `git cherry-pick` does.
    const held = (await forks.tree("b")).compactions;
    await commitChange(forks.workspace, await forks.tree("a"), async () => ({
      message: "pick\n",
      changes: held.map(({ path, oid }) => ({ path, oid })),
      sign: false,
    }));
    const log = await readCompactionLog(forks.workspace, await forks.tree("a"));
    expect(log).toMatchObject([{ compaction: id, live: true, commit: await tipOf(forks.workspace, forks.name("a")) }]);
  });
});

describe("a merge of a fork while a turn is in progress", () => {
  it("is refused for the branch's, and notes the fork's", async () => {
    const workspace = await createGitWorkspace();
    opened.push(workspace);
    const forks = await forksIn(workspace);
    await forks.turn("b", "b0");
    const { commit, turnOids } = await forks.tree("a");
    const head = { journal: 1, turn: 3, start: "live0", parent: commit, prev: turnOids.at(-1) ?? null } as const;
    const begin = async (fork: string) =>
      openJournal(workspace.store.journal(), { ...head, branch: forks.name(fork), writer: await markThisProcess() });
    const journal = await begin("a");
    await expect(forks.merge("b", "a")).rejects.toMatchObject({ code: "turn_open" });
    await journal.remove();
    const other = await begin("b");
    expect((await forks.merge("b", "a")).notes).toEqual([
      expect.stringContaining("is still in progress: merge again"),
      expect.stringContaining("jpg use"),
    ]);
    await other.remove();
  });
});

// Positions come from the tree: where git squashed a history or left it out, a fork, a rewound session and an export after
// some turn hold the turns that they say, as they do where every turn has its commit.

import { mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { addPin } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { diffConversation } from "../../../src/app/diff/diff.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { revertCompactions, undoCompaction } from "../../../src/app/manage/revert.ts";
import { treeAt } from "../../../src/app/names/revision.ts";
import { parseTurnBound } from "../../../src/core/conversation/range-bound.ts";
import { appendToSession, buildSession, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import {
  createImportedWorkspace,
  type GitWorkspace,
  importBytes,
  inFolder,
  removeWorkspace,
  type TestWorkspace,
  tipOf,
} from "../../helpers/workspace.ts";

const TURNS = 8;
const STEPS: readonly SessionStep[] = plainTurns(TURNS);

let workspace: GitWorkspace;
let main: string;
beforeEach(async () => {
  ({ workspace, branch: main } = await createImportedWorkspace(buildSession(STEPS).text()));
});
afterEach(() => removeWorkspace(workspace));

const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
const treeOf = async (branch: string, of: TestWorkspace = workspace): Promise<BranchTree> =>
  loadBranchTree(of.store, branch, await tipOf(of, branch));

async function summarise(from: number, to: number): Promise<string> {
  const range = { from: parseTurnBound(String(from)), to: parseTurnBound(String(to)) };
  const summary = { summary: `what turns ${from} to ${to} said` };
  const request = { range, summary, dryRun: false, fork: false, activate: false };
  return (await compact(workspace, await treeOf(main), request)).compaction!.id;
}

/** Puts the tree of a branch on one commit without parents, as a squash does. */
function squash(branch: string): void {
  stockGit("update-ref", `refs/heads/${branch}`, stockGit("commit-tree", "-m", "Squashed", `${branch}^{tree}`));
}

async function originalOf(tree: BranchTree): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await exportOriginal(workspace, tree)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function forkFirst(turns: number, name: string) {
  return forkConversation(workspace, await treeOf(main), { first: turns, name, activate: false });
}

describe("a fork of the first turns", () => {
  it.each([1, 3, 7])("has, of squashed history, the tree that whole history gives: %i turns", async (turns) => {
    await summarise(1, 2);
    await summarise(4, 5);
    const range = { from: parseTurnBound("0"), to: parseTurnBound("7") };
    const policies = { tool_calls: { policy: "omit" as const } };
    await compact(workspace, await treeOf(main), { range, policies, dryRun: false, fork: false, activate: false });
    await addPin(workspace, await treeOf(main), parseTurnBound("7"));
    const whole = await forkFirst(turns, "whole");
    squash(main);
    const cut = await forkFirst(turns, "cut");
    expect(cut).toMatchObject({ turns, cut: true });
    expect(whole).not.toHaveProperty("cut");
    const parts = ["turns", "sources", "compactions", "conversation.json"];
    const entries = async (branch: string) => workspace.store.readEntries(await tipOf(workspace, branch), parts);
    expect(await entries(cut.branch)).toEqual(await entries(whole.branch));
    expect((await treeOf(cut.branch)).metas).toEqual([]);
    expect(stockGit("log", "--format=%s", cut.branch).split("\n")).toEqual([
      `fork at turn ${turns - 1}: later turns removed, history here is squashed`,
      "Squashed",
    ]);
  });

  it("removes the attachments of later turns, and no others", async () => {
    const long = (letter: string): string => `${letter} `.repeat(200_000);
    const [first = {}, ...rest] = buildSession(STEPS).lines;
    const last = rest.pop() ?? {};
    const withText = (line: Record<string, unknown>, text: string) => ({
      ...line,
      sessionId: "5e55-0002",
      message: { ...(line["message"] as object), content: text },
    });
    const lines = [withText(first, long("a")), ...rest, withText(last, long("z"))];
    const { branch } = await importBytes(
      workspace,
      Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    );
    squash(branch);
    const fork = await forkConversation(workspace, await treeOf(branch), { first: 2, activate: false });
    const kept = await workspace.store.listTree(await tipOf(workspace, fork.branch), { under: ["attachments"] });
    expect(kept).toHaveLength(1);
    const text = await exportConversation(workspace, await treeOf(fork.branch), {
      to: "openai-chat",
      messages: true,
      fullHistory: true,
    });
    expect(text).toContain(long("a"));
  });

  it("keeps the definitions of tools that its turns were offered, and no others", async () => {
    const steps = ["prompt", { offers: 1 }, "say", "prompt", { offers: 2 }, "say"] as const;
    const { branch } = await importBytes(workspace, buildSession(steps, { session: "5e55-0003" }).text());
    squash(branch);
    const fork = await forkConversation(workspace, await treeOf(branch), { first: 1, activate: false });
    const kept = await workspace.store.listTree(await tipOf(workspace, fork.branch), { under: ["attachments"] });
    expect(kept).toHaveLength(1);
    expect((await treeOf(fork.branch)).configs).toHaveLength(1);
  });

  it("starts at the squashed commit, not at the tip, when turns came after it", async () => {
    squash(main);
    await importBytes(workspace, buildSession(plainTurns(TURNS + 2)).text());
    expect((await forkFirst(TURNS, "at")).cut).toBeUndefined();
    const squashed = stockGit("rev-parse", `${main}~2`);
    expect(stockGit("rev-parse", `${main.split("/")[0]}/at`)).toBe(squashed);
    const { branch } = await forkFirst(3, "three");
    expect(stockGit("rev-parse", `${branch}~1`)).toBe(squashed);
  });

  it("is refused in a shallow clone, which could fetch the commit, and nothing is made", async () => {
    const root = inFolder(workspace, "shallow");
    mkdirSync(root);
    git(root, workspace.temp.env, ["clone", "--quiet", "--depth", "3", `file://${workspace.temp.root}`, "."]);
    const clone = { ...(await openWorkspace(workspace.runtime, { store: root })), runtime: workspace.runtime };
    try {
      const tree = await treeOf(main, clone);
      const fork = (first: number) => forkConversation(clone, tree, { first, name: `of-${first}`, activate: false });
      await expect(fork(TURNS - 4)).rejects.toMatchObject({
        kind: "repository",
        code: "shallow_history",
        hints: [expect.stringContaining("git fetch --unshallow")],
      });
      expect(await clone.store.listBranches()).toHaveLength(1);
      expect((await fork(TURNS - 1)).turns).toBe(TURNS - 1);
    } finally {
      await clone.close();
    }
  });
});

describe("a rewound session over squashed history", () => {
  const rewound: readonly SessionStep[] = [...STEPS, { rewind: 3 }, "say"];

  it("becomes a fork that holds what it says, and exports its file again", async () => {
    squash(main);
    const bytes = buildSession(rewound).text();
    const report = await importBytes(workspace, bytes);
    expect(report).toMatchObject({ status: "forked", turns: 6 });
    const tree = await treeOf(report.branch);
    expect(tree.turnOids).toHaveLength(6);
    expect(await originalOf(tree)).toBe(bytes.toString());
    expect(stockGit("diff", "--name-only", "--diff-filter=A", main, report.branch, "--", "turns")).toBe("");
  });

  it("has the branches that the agent left as forks with their own turns only", async () => {
    await importBytes(workspace, buildSession(rewound).text());
    const [{ branch }] = [await importBytes(workspace, buildSession(rewound, { session: "5e55-0003" }).text())];
    squash(branch);
    const bytes = buildSession(rewound, { session: "5e55-0003" }).text();
    const { abandoned } = await importBytes(workspace, bytes, { allBranches: true });
    expect(abandoned).toHaveLength(1);
    expect((await treeOf(abandoned![0]!)).turnOids).toHaveLength(TURNS);
  });
});

describe("export --at TURN", () => {
  const jsonl = async (tree: BranchTree): Promise<string> =>
    exportConversation(workspace, tree, { to: "jsonl", fullHistory: false });

  it("exports the turns up to it, read as a fork there reads them, in whole and in squashed history", async () => {
    await summarise(0, 1);
    await summarise(3, 5);
    const fork = await jsonl(await treeOf((await forkFirst(5, "five")).branch));
    expect(fork).toContain("what turns 0 to 1 said");
    expect(await jsonl(await treeAt(workspace, await treeOf(main), "4"))).toBe(fork);
    squash(main);
    expect(await jsonl(await treeAt(workspace, await treeOf(main), "4"))).toBe(fork);
  });

  it("exports the original's lines of these turns", async () => {
    squash(main);
    const original = await originalOf(await treeAt(workspace, await treeOf(main), "2"));
    const whole = buildSession(STEPS).text().toString();
    expect(original.length).toBeGreaterThan(0);
    expect(whole.startsWith(original)).toBe(true);
    expect(original).toBe(await originalOf(await treeOf((await forkFirst(3, "three")).branch)));
  });

  it("exports a session that an import recognises: as it is, and continued on a fork of these turns", async () => {
    await summarise(0, 1);
    squash(main);
    const at = async (turn: string): Promise<string> =>
      exportConversation(workspace, await treeAt(workspace, await treeOf(main), turn), {
        to: "claude-code",
        fullHistory: false,
      });
    const text = await at("4");
    expect(await importBytes(workspace, Buffer.from(text))).toMatchObject({ status: "unchanged", branch: main });
    const bytes = Buffer.from(appendToSession(text, "a", [{ ask: "and now?" }, { say: "this" }]));
    const report = await importBytes(workspace, bytes);
    expect(report).toMatchObject({ status: "forked", turns: 6, turns_added: 1, compactions: 1 });
    expect((await treeOf(report.branch)).turnOids).toHaveLength(6);
    expect(new Set([await at("3"), text].map((session) => JSON.parse(session.split("\n")[0]!).sessionId)).size).toBe(2);
  });

  it("takes a commit as it is", async () => {
    const id = await summarise(0, 1);
    const before = stockGit("rev-parse", `${main}~1`);
    expect((await treeAt(workspace, await treeOf(main), before)).compactions).toEqual([]);
    expect((await treeAt(workspace, await treeOf(main), stockGit("rev-parse", main))).compactions[0]!.path).toContain(
      id,
    );
  });
});

describe("compactions of a squashed commit", () => {
  it("are listed by their records, and not as that commit's", async () => {
    const ids = [await summarise(1, 2), await summarise(4, 5)];
    const before = await readCompactionLog(workspace, await treeOf(main));
    squash(main);
    const rows = await readCompactionLog(workspace, await treeOf(main));
    expect(rows.map(({ compaction }) => compaction)).toEqual(ids.reverse());
    expect(rows.map(({ subject }) => subject)).toEqual(before.map(({ subject }) => subject));
    for (const row of rows) {
      expect(row).toMatchObject({ squashed: true, live: true });
      expect(row).not.toHaveProperty("author");
      expect(row).not.toHaveProperty("message");
    }
    expect(new Set(rows.map(({ timestamp }) => timestamp)).size).toBe(2);
    expect(before[0]).not.toHaveProperty("squashed");
  });

  it("are reverted newest first, and not by the name of the commit", async () => {
    const [older, newer] = [await summarise(1, 2), await summarise(4, 5)];
    squash(main);
    const all = revertCompactions(workspace, [stockGit("rev-parse", main)]);
    await expect(all).rejects.toMatchObject({ code: "squashed_commit", message: expect.stringContaining(older) });
    expect((await undoCompaction(workspace, await treeOf(main))).reverted).toEqual([newer]);
    expect((await undoCompaction(workspace, await treeOf(main))).reverted).toEqual([older]);
  });

  it("are compared with the view as the older ones leave it", async () => {
    const ids = [await summarise(1, 2), await summarise(4, 5)];
    const hunks = async (): Promise<unknown[]> =>
      Promise.all(ids.map(async (id) => (await diffConversation(workspace, [id], {})).hunks));
    const before = await hunks();
    squash(main);
    expect(await hunks()).toEqual(before);
  });
});

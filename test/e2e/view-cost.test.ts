// @module-tag slow
// What a view costs: a long conversation under a summary reads what it shows, here and in a partial clone, a new turn writes a bounded number of
// objects, and the views beside checked-out branches are right however the branch was moved.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../src/app/compact/compact.ts";
import { addPin, listPins } from "../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { loadView } from "../../src/app/conversation/view.ts";
import type { Workspace } from "../../src/app/conversation/workspace.ts";
import { exportConversation } from "../../src/app/import/export.ts";
import { renderPrinted } from "../../src/app/look/print.ts";
import { checkoutBranch, useConversation } from "../../src/app/manage/checkout.ts";
import { parseTurnBound } from "../../src/core/conversation/range-bound.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import { startGitHttpServer } from "../helpers/git-http-server.ts";
import { buildSession, plainTurns, type SessionStep } from "../helpers/session-builder.ts";
import { git } from "../helpers/temp-repository.ts";
import {
  createGitWorkspace,
  type GitWorkspace,
  importBytes,
  inFolder,
  removeWorkspace,
  tipOf,
} from "../helpers/workspace.ts";

const treeOf = async (workspace: GitWorkspace, branch: string): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const NOTHING = { dryRun: false, fork: false, activate: false };

describe("a conversation of 10,000 turns", () => {
  // Now and then a tool is called, in what the summary hides, too.
  const turns: SessionStep[] = Array.from({ length: 10_000 }, (_, turn): SessionStep[] =>
    turn % 50 === 7 ? ["prompt", "think", { tools: 2 }, "say"] : ["prompt", "say"],
  ).flat();
  let workspace: GitWorkspace;
  let branch: string;
  const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);

  beforeAll(async () => {
    workspace = await createGitWorkspace();
    ({ branch } = await importBytes(workspace, buildSession(turns).text()));
    const range = { from: parseTurnBound("0"), to: parseTurnBound("9899") };
    await compact(workspace, await treeOf(workspace, branch), { ...NOTHING, range, summary: { summary: "in short" } });
  });
  afterAll(() => removeWorkspace(workspace));

  it("reads the turns it shows and the one at which the summary stands, and no other", async () => {
    const store = await openNativeStore({ root: workspace.temp.root, env: workspace.temp.env });
    const read: string[] = [];
    const spied = Object.create(store, {
      readBlobs: {
        value: (oids: readonly string[]) => {
          read.push(...oids);
          return store.readBlobs(oids);
        },
      },
    }) as typeof store;
    const tree = await loadBranchTree(spied, branch, await tipOf(workspace, branch));
    const { view } = await loadView(spied, tree);
    const positions = new Map(tree.turnOids.map((oid, index) => [oid, index]));
    const shown = Array.from({ length: 100 }, (_, index) => 9900 + index);
    expect(read.flatMap((oid) => positions.get(oid) ?? []).sort((a, b) => a - b)).toEqual([0, ...shown]);
    expect(view.turns).toHaveLength(101);
    // 101 turns, 2 small files; the trees: root, turns/ and none of its full folders, compactions/.
    expect(store.objectsRead).toBeLessThanOrEqual(101 + 2 + 3);
    await store.close();
  });

  it("comes to a partial clone in three requests at most, and three parts in a hundred of the bytes", async () => {
    const served = inFolder(workspace, "served");
    mkdirSync(served);
    stockGit("clone", "--quiet", "--bare", workspace.temp.root, join(served, "talks.git"));
    git(join(served, "talks.git"), workspace.temp.env, ["config", "uploadpack.allowFilter", "true"]);
    const server = await startGitHttpServer(served);
    const url = `${server.url}/talks.git`;
    const [whole, partial] = ["whole", "partial"].map((name) => inFolder(workspace, name)) as [string, string];
    // Not in this process, which answers.
    const clone = async (...words: string[]): Promise<number> => {
      const before = server.state.sent;
      const args = ["clone", "--quiet", "--no-checkout", ...words];
      await promisify(execFile)("git", args, { cwd: workspace.temp.folder, env: workspace.temp.env });
      return server.state.sent - before;
    };
    const bytes = await clone(url, whole);
    await clone("--filter=blob:none", url, partial);
    await fetchOnce(workspace, partial);
    const methods: string[] = [];
    server.state.onRequest = (method) => methods.push(method);
    const before = server.state.sent;
    const store = await openNativeStore({ root: partial, env: workspace.temp.env });
    const commit = await tipOf(workspace, branch);
    const { view } = await loadView(store, await loadBranchTree(store, branch, commit));
    await store.close();
    const own = await loadView(workspace.store, await loadBranchTree(workspace.store, branch, commit));
    expect(view).toEqual(own.view);
    expect(view.turns).toHaveLength(101);
    // Git greets with a GET before it asks with a POST.
    expect(methods.filter((method) => method === "POST").length).toBeLessThanOrEqual(3);
    expect(methods.length).toBeLessThanOrEqual(6);
    expect((server.state.sent - before) / bytes).toBeLessThan(0.03);
    await server.close();
  });

  it("reads no hidden turn to print, export or pin what it shows, and each turn once", async () => {
    const store = await openNativeStore({ root: workspace.temp.root, env: workspace.temp.env });
    const read: string[] = [];
    const spied = Object.create(store, {
      readBlobs: {
        value: (oids: readonly string[], atLeast?: number) => {
          if (atLeast === undefined) for (const oid of oids) read.push(oid);
          return store.readBlobs(oids, atLeast);
        },
      },
    }) as typeof store;
    const place: Workspace = { ...workspace, store: spied };
    const { turnOids } = await treeOf(workspace, branch);
    const shown = new Set(turnOids.filter((_, turn) => turn === 0 || turn >= 9900));
    const hiddenRead = async (command: (tree: BranchTree) => Promise<unknown>): Promise<readonly number[]> => {
      read.length = 0;
      await command(await treeOf(workspace, branch));
      const found = new Set(read);
      return turnOids.flatMap((oid, turn) => (found.has(oid) && !shown.has(oid) ? [turn] : []));
    };
    expect(await hiddenRead((tree) => loadView(spied, tree))).toEqual([]);
    expect(await hiddenRead((tree) => renderPrinted(place, tree, { compacted: true, format: "markdown" }))).toEqual([]);
    expect(await hiddenRead((tree) => exportConversation(place, tree, { to: "jsonl", fullHistory: false }))).toEqual(
      [],
    );
    expect(await hiddenRead((tree) => addPin(place, tree, parseTurnBound("9950")))).toEqual([]);
    expect(await hiddenRead((tree) => addPin(place, tree, parseTurnBound("8")))).toEqual([8]);
    expect(await hiddenRead((tree) => listPins(place, tree))).toEqual([8]);
    // What covers turns is planned from turns: all of them, once.
    expect(await hiddenRead((tree) => compact(place, tree, { ...NOTHING, range: {}, dryRun: true }))).toHaveLength(
      9899,
    );
    expect(new Set(read).size).toBe(read.length);
    await store.close();
  });

  it("writes four objects for a compaction: the record, two folders, the commit", async () => {
    const before = await tipOf(workspace, branch);
    const range = { from: parseTurnBound("9950"), to: parseTurnBound("9960") };
    await compact(workspace, await treeOf(workspace, branch), {
      ...NOTHING,
      range,
      policies: { reasoning: "strip", tool_calls: { policy: "strip", request: false, response: true } },
      force: true,
    });
    expect(stockGit("rev-list", "--objects", `${before}..${branch}`).split("\n")).toHaveLength(4);
  });

  it("writes a bounded number of objects when a turn is appended", async () => {
    const before = await tipOf(workspace, branch);
    const report = await importBytes(workspace, buildSession([...turns, "prompt", "say"]).text());
    expect(report).toMatchObject({ status: "updated", branch, turns: 10_001 });
    const written = stockGit("rev-list", "--objects", `${before}..${branch}`).split("\n");
    // One commit, the turn and its source, and the folders above them.
    expect(written.length).toBeLessThanOrEqual(1 + 2 + 6);
  });
});

/** The user's own fetch: nothing is asked of a remote before. */
async function fetchOnce({ temp }: GitWorkspace, root: string): Promise<void> {
  const store = await openNativeStore({ root, env: temp.env });
  const [origin] = (await store.sharing?.remotes()) ?? [];
  if (origin !== undefined) await store.sharing?.fetch(origin);
  await store.close();
}

describe("VIEW.md and view.jsonl", () => {
  let workspace: GitWorkspace;
  let branch: string;
  let checkout: string;
  const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
  const read = (folder: string): string[] =>
    ["VIEW.md", "view.jsonl"].map((name) => readFileSync(join(folder, name), "utf8"));
  const tree = (): Promise<BranchTree> => treeOf(workspace, branch);
  const grow = (count: number) => importBytes(workspace, buildSession(plainTurns(count)).text());
  const hide = async (turn: number): Promise<string> => {
    const range = { from: parseTurnBound(String(turn)), to: parseTurnBound(String(turn)) };
    const made = await compact(workspace, await tree(), { ...NOTHING, range, policies: { turns: "omit" } });
    return made.compaction!.id;
  };

  /** The files as they are when they are made from nothing. */
  async function regenerated(): Promise<string[]> {
    const scratch = inFolder(workspace, `scratch-${Math.floor(performance.now())}`);
    await checkoutBranch(workspace, await tree(), { directory: scratch, full: false });
    const files = read(scratch);
    stockGit("worktree", "remove", "--force", scratch);
    return files;
  }

  beforeAll(async () => {
    workspace = await createGitWorkspace();
    ({ branch } = await grow(4));
    checkout = inFolder(workspace, "checkout");
    await checkoutBranch(workspace, await tree(), { directory: checkout, full: false });
  });
  afterAll(() => removeWorkspace(workspace));

  const expectRight = async (): Promise<void> => {
    const right = await regenerated();
    expect(read(workspace.temp.root)).toEqual(right);
    expect(read(checkout)).toEqual(right);
  };

  it("are extended in place to what they would be from nothing", async () => {
    const before = read(workspace.temp.root);
    await grow(6);
    const after = read(workspace.temp.root);
    expect(after.every((text, at) => text.length > before[at]!.length && text.startsWith(before[at]!))).toBe(true);
    await expectRight();
    await hide(1);
    await expectRight();
    await grow(7);
    await expectRight();
  });

  it("are made anew when somebody edited or removed them", async () => {
    writeFileSync(join(checkout, "VIEW.md"), "mine");
    rmSync(join(workspace.temp.root, "view.jsonl"));
    await useConversation(workspace, await tree());
    await expectRight();
  });

  it("are caught up with after a reset that fires no hook", async () => {
    await hide(2);
    const after = read(workspace.temp.root);
    stockGit("reset", "--quiet", "--hard", "HEAD~1");
    await useConversation(workspace, await tree());
    expect(read(workspace.temp.root)).not.toEqual(after);
    await expectRight();
    expect(stockGit("status", "--porcelain")).toBe("");
    expect(git(checkout, workspace.temp.env, ["status", "--porcelain"])).toBe("");
  });

  it("are caught up with after update-ref, index and files too", async () => {
    const id = await hide(3);
    stockGit("update-ref", `refs/heads/${branch}`, `${branch}~1`);
    await useConversation(workspace, await tree());
    await expectRight();
    expect(stockGit("status", "--porcelain")).toBe("");
    expect(git(checkout, workspace.temp.env, ["status", "--porcelain"])).toBe("");
    expect(stockGit("ls-files", "compactions")).not.toContain(id);
  });
});

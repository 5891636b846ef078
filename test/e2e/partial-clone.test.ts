// Partial clones: what is read together comes in one request, what is hidden stays where it is, and without a connection the
// turns that are missing are named.
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../src/app/branch/branch-tree.ts";
import { loadView } from "../../src/app/branch/load-view.ts";
import { compact } from "../../src/app/compact/compact.ts";
import type { ListRow } from "../../src/app/inspect/list-row.ts";
import type { StatsReport } from "../../src/app/inspect/stats.ts";
import { parseTurnBound } from "../../src/core/range/range-bound.ts";
import { openNativeStore } from "../../src/store/native/native-store.ts";
import { type GitHttpServer, startGitHttpServer } from "../helpers/git-http-server.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { buildSession, type SessionStep } from "../helpers/session-builder.ts";
import { git } from "../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../helpers/workspace.ts";

describe("a partial clone of a conversation of 10,000 turns, 99 in 100 of them hidden", () => {
  const turns: SessionStep[] = Array.from({ length: 10_000 }, (): SessionStep[] => ["prompt", "say"]).flat();
  let workspace: GitWorkspace;
  let server: GitHttpServer;
  let branch: string;
  const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);

  beforeAll(async () => {
    workspace = await createGitWorkspace();
    ({ branch } = await importBytes(workspace, buildSession(turns).text()));
    const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    const range = { from: parseTurnBound("0"), to: parseTurnBound("9899") };
    await compact(workspace, tree, {
      ...{ dryRun: false, fork: false, activate: false },
      ...{ range, summary: { summary: "in short" } },
    });
    const served = join(workspace.temp.root, "served");
    mkdirSync(served);
    stockGit("clone", "--quiet", "--bare", workspace.temp.root, join(served, "talks.git"));
    git(join(served, "talks.git"), workspace.temp.env, ["config", "uploadpack.allowFilter", "true"]);
    server = await startGitHttpServer(served);
  });
  afterAll(async () => {
    await server.close();
    removeWorkspace(workspace);
  });

  it("gets all that its view is made of in three requests at most, and three parts in a hundred of the bytes", async () => {
    const url = `${server.url}/talks.git`;
    const [whole, partial] = ["whole", "partial"].map((name) => join(workspace.temp.root, name)) as [string, string];
    // Not in this process, which answers.
    const clone = async (...words: string[]): Promise<number> => {
      const before = server.state.sent;
      await gitBeside(workspace, ["clone", "--quiet", "--no-checkout", ...words]);
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
  });
});

/** The user's own fetch: nothing is asked of a remote before. */
async function fetchOnce({ temp }: GitWorkspace, root: string): Promise<void> {
  const store = await openNativeStore({ root, env: temp.env });
  const [origin] = (await store.sharing?.remotes()) ?? [];
  if (origin !== undefined) await store.sharing?.fetch(origin);
  await store.close();
}

async function gitBeside({ temp }: GitWorkspace, args: readonly string[]): Promise<void> {
  await promisify(execFile)("git", args, { cwd: temp.root, env: temp.env });
}

describe("jpg clone --filter=blob:none", () => {
  let sandbox: ImportedSandbox;
  let server: GitHttpServer;
  let main: string;
  let talks: string;
  beforeEach(async () => {
    sandbox = await copyImportedSandbox();
    main = `${sandbox.conversation}/main`;
    talks = join(sandbox.root, "talks");
    const folder = join(sandbox.root, "served");
    mkdirSync(folder);
    const bare = join(folder, "talks.git");
    sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
    for (const key of ["http.receivepack", "uploadpack.allowFilter"]) sandbox.git(["config", key, "true"], bare);
    server = await startGitHttpServer(folder);
    await sandbox.jpg(["compact", "--profile", "heavy", "--to", "3"]);
    await sandbox.jpg(["remote", "add", "team", `${server.url}/talks.git`]);
    await sandbox.jpg(["push"]);
    const cloned = await sandbox.jpg(["clone", "--filter", "blob:none", `${server.url}/talks.git`, talks]);
    expect(cloned).toMatchObject({ code: 0, stderr: "" });
  });
  afterEach(async () => {
    await server.close();
    sandbox.remove();
  });

  const missing = (): number =>
    sandbox.git(["rev-list", "--objects", "--all", "--missing=print"], talks).match(/^\?/gm)?.length ?? 0;

  it("leaves hidden turns there until they are read; what others add comes the same way, and pushes work", async () => {
    const hidden = missing();
    expect(hidden).toBeGreaterThan(2);
    expect((await sandbox.jpg(["log"], { cwd: talks })).code).toBe(0);
    expect((await sandbox.jpg(["print", "--compacted"], { cwd: talks })).stdout).toContain("Summary");
    expect(missing()).toBe(hidden);
    const [row] = await sandbox.json<readonly ListRow[]>(["ls"], { cwd: talks });
    expect(row).toMatchObject({ turns: 6, turns_elsewhere: 3 });
    expect(await sandbox.json(["stats"], { cwd: talks })).toMatchObject({ turns: 6, turns_elsewhere: 3 });
    expect((await sandbox.jpg(["ls"], { cwd: talks })).stdout).toContain(`~? → ${row?.tokens.view}+`);
    expect((await sandbox.jpg(["show"], { cwd: talks })).stdout).toContain(
      "3 turns of this partial clone are not here",
    );
    expect(missing()).toBe(hidden);
    await sandbox.jpg(["title", "@", "The tide"]);
    await sandbox.jpg(["push"]);
    expect(await sandbox.json(["pull"], { cwd: talks })).toMatchObject({ branches: [{ status: "updated" }] });
    expect(sandbox.git(["config", "--get-regexp", "promisor"], talks)).toBe("remote.origin.promisor true");
    expect((await sandbox.jpg(["print"], { cwd: talks })).stdout).toBe((await sandbox.jpg(["print"])).stdout);
    // Now that they are here, they are counted.
    expect((await sandbox.json<readonly ListRow[]>(["ls"], { cwd: talks }))[0]).not.toHaveProperty("turns_elsewhere");
    const [theirs, own] = [
      await sandbox.json<StatsReport>(["stats"], { cwd: talks }),
      await sandbox.json<StatsReport>(["stats"]),
    ];
    expect(theirs).not.toHaveProperty("turns_elsewhere");
    expect([theirs.events, theirs.tokens.by_kind["messages"]]).toEqual([own.events, own.tokens.by_kind["messages"]]);
    expect(await sandbox.jpg(["undo"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["push"], { cwd: talks })).toMatchObject({ code: 0 });
    expect(await sandbox.json(["pull"])).toMatchObject({ branches: [{ status: "updated" }] });
    expect(await sandbox.json(["log"])).toHaveLength(2);
  });

  it("needs of the turns that a compaction hides the first alone, whose time its summary has", async () => {
    await sandbox.jpg(["compact", "--profile", "heavy", "--keep", "0"]);
    await sandbox.jpg(["push"]);
    const all = join(sandbox.root, "all");
    await sandbox.jpg(["clone", "--filter", "blob:none", `${server.url}/talks.git`, all]);
    server.state.fault = "vanish";
    expect(await sandbox.json(["ls"], { cwd: all })).toMatchObject([{ turns: 6, turns_elsewhere: 5 }]);
    expect(await sandbox.jpg(["print", "--compacted"], { cwd: all })).toMatchObject({ code: 0, stderr: "" });
  });

  it("names the turns that are not here when nobody answers, and works again when somebody does", async () => {
    server.state.fault = "vanish";
    const offline = await sandbox.json<{ error: { code: string; message: string } }>(["print"], { cwd: talks });
    expect(offline.error).toMatchObject({
      code: "turns_elsewhere",
      message: expect.stringMatching(
        new RegExp(`^Turns 1\\.\\.3 of ${main} are not in this partial clone\\. Fetching from http\\S+ failed: `),
      ),
    });
    const said = await sandbox.jpg(["print"], { cwd: talks });
    expect([said.code, said.stdout]).toEqual([3, ""]);
    expect(said.stderr).toContain("jpg git fetch --refetch --no-filter origin");
    // What is shown is here.
    expect(await sandbox.jpg(["print", "--compacted"], { cwd: talks })).toMatchObject({ code: 0 });
    server.state.fault = "none";
    expect((await sandbox.jpg(["print"], { cwd: talks })).code).toBe(0);
    expect((await sandbox.jpg(["git", "fetch", "--refetch", "--no-filter", "origin"], { cwd: talks })).code).toBe(0);
    expect(missing()).toBe(0);
  });
});

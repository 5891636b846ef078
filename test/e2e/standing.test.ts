// What `@` is where one stands: in a checkout its branch, in a detached HEAD the commit, which is read and not written to;
// and commits by any name that git reads. With real linked worktrees, bisects, rebases, tags and detached heads.
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beginningOf } from "../helpers/name-beginning.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { type RunOptions, smallSession, storeState } from "../helpers/run-jpg.ts";

let sandbox: ImportedSandbox;
let main: string;
let other: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  main = `${sandbox.conversation}/main`;
  other = `${sandbox.conversation}/other`;
});
afterEach(() => sandbox.remove());

const compactFirst = (options?: RunOptions) => sandbox.jpg(["compact", "--from", "0", "--to", "1"], options);
const tip = (revision: string): string => sandbox.git(["rev-parse", revision]);
const turnsOf = async (...args: string[]): Promise<unknown> => (await sandbox.json(["stats", ...args]))["turns"];

describe("in a checkout of another branch", () => {
  let checkout: string;
  beforeEach(async () => {
    await sandbox.jpg(["fork", "@", "other", "--no-activate"]);
    checkout = (await sandbox.json<{ path: string }>(["checkout", other])).path;
  });

  it("@ is that branch, in sub-folders too: log, compact, undo, fork, use and ls act on it alone", async () => {
    const cwd = join(checkout, "compactions");
    mkdirSync(cwd, { recursive: true });
    const before = tip(main);
    expect((await compactFirst({ cwd })).stdout).toContain(`Compacted ${other}`);
    expect(await sandbox.json(["log"], { cwd })).toHaveLength(1);
    expect(await sandbox.json(["log"])).toHaveLength(0);
    expect((await sandbox.json<{ branch: string; active: boolean }[]>(["ls"], { cwd }))[0]).toMatchObject({
      branch: other,
      active: true,
    });
    expect(await sandbox.json(["undo"], { cwd: checkout })).toMatchObject({ branch: other });
    expect((await sandbox.json(["fork", "@", "third"], { cwd: checkout }))["from"]).toBe(other);
    expect(sandbox.git(["branch", "--show-current"], checkout)).toBe(`${sandbox.conversation}/third`);
    expect(await sandbox.json(["use", "-"], { cwd: checkout })).toMatchObject({ branch: other });
    expect(sandbox.git(["branch", "--show-current"], checkout)).toBe(other);
    expect(sandbox.git(["branch", "--show-current"])).toBe(main);
    expect(tip(main)).toBe(before);
  });

  it("stays so where the folder was moved by hand, with --store, and behind JPG_CONVERSATION", async () => {
    const moved = join(sandbox.root, "moved");
    renameSync(checkout, moved);
    expect((await sandbox.json(["title"], { cwd: moved }))["branch"]).toBe(other);
    expect((await sandbox.json(["title", "--store", sandbox.store], { cwd: moved }))["branch"]).toBe(other);
    const env = { JPG_CONVERSATION: main };
    expect((await sandbox.json(["title"], { cwd: moved, env }))["branch"]).toBe(main);
    expect((await sandbox.json(["title"]))["branch"]).toBe(main);
  });
});

describe("a checkout without a directory", () => {
  it("stands in the project's git dir, where `git add -A` does not see it; with one in the project, neither", async () => {
    const { path } = await sandbox.json<{ path: string }>(["checkout"]);
    expect(path).toBe(join(sandbox.project, ".git", "jpg-worktrees", main));
    expect(readFileSync(join(path, "VIEW.md"), "utf8")).toContain("Request 5");
    expect(await sandbox.json(["checkout"])).toMatchObject({ path });
    const named = await sandbox.jpg(["checkout", "@", "in side *"]);
    expect(named.stderr).toContain("info/exclude names it");
    sandbox.git(["add", "-A"], sandbox.project);
    expect(sandbox.git(["status", "--porcelain"], sandbox.project)).toBe("");
    expect(existsSync(join(sandbox.project, "in side *", "VIEW.md"))).toBe(true);
  });

  it("stands in a standalone store's own git dir", async () => {
    const store = join(sandbox.root, "standalone");
    await sandbox.jpg(["init", store]);
    await sandbox.jpg(["import", sandbox.session("one.jsonl", smallSession({ turns: 2 })), "--store", store]);
    const { path, branch } = await sandbox.json<{ path: string; branch: string }>(["checkout"], { cwd: store });
    expect(path).toBe(join(store, ".git", "jpg-worktrees", branch));
    expect(sandbox.git(["status", "--porcelain"], store)).toBe("");
  });
});

describe("a detached HEAD", () => {
  it("is read, on its commit", async () => {
    await compactFirst();
    sandbox.git(["checkout", "--quiet", "--detach", "HEAD~2"]);
    expect(readFileSync(join(sandbox.store, "VIEW.md"), "utf8")).not.toContain("Request 5");
    expect(await turnsOf()).toBe(5);
    expect(await sandbox.json(["log"])).toEqual([]);
    expect(await sandbox.json(["show"])).toMatchObject({ commit: tip("HEAD"), turns: 5 });
    expect((await sandbox.jpg(["print"])).stdout).not.toContain("Request 5");
    expect((await sandbox.jpg(["export", "--to", "jsonl"])).stdout).not.toContain("Request 5");
    expect((await sandbox.jpg(["diff"])).code).toBe(0);
    expect((await sandbox.jpg(["check"])).code).toBe(0);
    expect((await sandbox.jpg(["search", "Request 5", "@"])).code).toBe(1);
    expect((await sandbox.jpg(["search", "Request 4", "@"])).code).toBe(0);
  });

  it("is not written to: exit 2 says what to do, and nothing changes", async () => {
    await compactFirst();
    sandbox.git(["checkout", "--quiet", "--detach", "HEAD~1"]);
    const before = storeState(sandbox);
    for (const args of [["compact"], ["undo"], ["title", "@", "x"], ["pin", "1"], ["query", "hello"]]) {
      const { stderr, code } = await sandbox.jpg(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(`\`jpg use ${main}\` checks ${main} out again.`)]);
    }
    expect(storeState(sandbox)).toBe(before);
    const grown = sandbox.session("small.jsonl", smallSession({ turns: 7 }));
    expect(await sandbox.json(["import", grown])).toMatchObject([{ status: "updated", turns: 7 }]);
    expect(sandbox.git(["branch", "--show-current"])).toBe("");
    expect(await sandbox.json(["fork", "@", "here"])).toMatchObject({ turns: 6, activated: true });
    expect(sandbox.git(["branch", "--show-current"])).toBe(`${sandbox.conversation}/here`);
  });

  it("of a bisect names the way back, and is not left for another branch", { tags: ["slow"] }, async () => {
    expect((await sandbox.jpg(["git", "bisect", "start", "HEAD", "HEAD~5"])).code).toBe(0);
    expect(await turnsOf()).not.toBe(6);
    const { stderr, code } = await sandbox.jpg(["undo"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`\`jpg git bisect reset\` ends the bisect and goes back to ${main}.`),
    ]);
    expect(await sandbox.json(["fork", "@", "x"])).toMatchObject({ error: { code: "operation_unfinished" } });
    expect(await sandbox.json(["use", main])).toMatchObject({ error: { code: "operation_unfinished" } });
    expect((await sandbox.jpg(["fork", "@", "x", "--no-activate"])).code).toBe(0);
    await sandbox.jpg(["git", "bisect", "reset"]);
    expect(await turnsOf()).toBe(6);
  });

  it("of a rebase that stopped is read, and names the way back", async () => {
    const checkout = (await sandbox.json<{ path: string }>(["checkout"])).path;
    await sandbox.jpg(["git", "-c", "sequence.editor=sed -i 1s/pick/edit/", "rebase", "-i", "HEAD~2"], {
      cwd: checkout,
    });
    expect((await sandbox.json(["stats"], { cwd: checkout }))["turns"]).toBe(5);
    expect((await sandbox.jpg(["undo"], { cwd: checkout })).stderr).toContain(
      `\`jpg git rebase --continue\` or \`jpg git rebase --abort\` ends the rebase and goes back to ${main}.`,
    );
    expect(await turnsOf()).toBe(6);
  });
});

describe("a commit", () => {
  it("goes by any name that git reads, wherever a conversation is read, forked or checked out", {
    tags: ["slow"],
  }, async () => {
    sandbox.git(["tag", "-a", "v1", "-m", "first", "HEAD~2"]);
    sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "nothing"]);
    const commit = tip("v1^{commit}");
    for (const name of [
      "v1",
      "HEAD~3",
      "@~3",
      "main~3",
      `${main}~3`,
      `${sandbox.conversation}~3`,
      commit,
      beginningOf(commit, 8),
    ])
      expect(await turnsOf(name), name).toBe(4);
    expect(await turnsOf("main@{1}")).toBe(6);
    expect(await sandbox.json(["fork", "v1", "tagged", "--no-activate"])).toMatchObject({ turns: 4 });
    const { path } = await sandbox.json<{ path: string }>(["checkout", "main~3"]);
    expect(sandbox.git(["rev-parse", "HEAD"], path)).toBe(commit);
    expect(readFileSync(join(path, "VIEW.md"), "utf8")).not.toContain("Request 4");
    expect((await sandbox.json(["stats"], { cwd: path }))["turns"]).toBe(4);
    expect((await sandbox.jpg(["diff", "v1..main~1"])).code).toBe(0);
    expect((await sandbox.jpg(["export", "--to", "jsonl", "--at", "v1"])).stdout).not.toContain("Request 4");
  });

  it("is what stats and show say that they show, beside the branch as it stands", async () => {
    await compactFirst();
    const commit = tip("HEAD~2");
    for (const args of [["stats"], ["show"]]) {
      const present = await sandbox.json(args);
      expect(present).toMatchObject({ turns: 6, commit: tip("HEAD") });
      expect(present).not.toHaveProperty("revision");
      for (const revision of ["main~2", `${sandbox.conversation}~2`, commit])
        expect(await sandbox.json([...args, revision]), revision).toMatchObject({ turns: 5, commit, revision });
      expect((await sandbox.jpg([...args, "main~2"])).stdout).toMatch(
        new RegExp(`^Commit: +${commit} \\(main~2\\)$`, "m"),
      );
      expect(await sandbox.json([...args, "main@{1}"])).toMatchObject({ commit: tip("HEAD~1"), revision: "main@{1}" });
      expect((await sandbox.jpg(args)).stdout).not.toContain("(main");
    }
    const { branches } = await sandbox.json<{ branches: readonly unknown[] }>(["show", "main~2"]);
    expect(branches).toEqual([{ name: main, turns: 6, active: true }]);
  });

  it("is never taken for an option, a path or a search, nor written to", async () => {
    for (const word of ["--help", "-n1", "HEAD:turns", ":/Request", "HEAD\n@", "^HEAD", "v1..HEAD"])
      expect((await sandbox.jpg(["stats", "--json", "--", word])).stdout, word).toContain('"code": "unknown_id"');
    const { stderr, code } = await sandbox.jpg(["compact", "HEAD~1"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("`jpg fork HEAD~1 NAME` starts a fork at this commit."),
    ]);
  });

  it("of another conversation is not exported as this one's", async () => {
    const file = sandbox.session("two.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000cc" }));
    await sandbox.json(["import", file]);
    const { error } = await sandbox.json<{ error: unknown }>(["export", "--to", "jsonl", "--at", tip(main)]);
    expect(error).toMatchObject({ code: "unknown_revision" });
  });
});

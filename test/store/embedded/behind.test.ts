// The embedded engine leaves git's index alone: where git has a branch checked out it does not move it, and a worktree that never
// had an index is marked, so that the next jpg with git advances it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../../src/store/embedded/store.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let embedded: ConversationStore;
let native: ConversationStore;

beforeEach(async () => {
  temp = await createTempStore();
  const place = { root: temp.root, env: temp.env };
  native = await openNativeStore(place);
  embedded = await openEmbeddedStore({ ...place, now: () => new Date() });
});
afterEach(async () => {
  await Promise.all([embedded.close(), native.close()]);
  temp.remove();
});

const status = (cwd = temp.root): string => git(cwd, temp.env, ["status", "--porcelain"]);
const mark = (): boolean => existsSync(join(temp.root, ".git/jpg-behind"));
const grow = (store: ConversationStore, branch: string, path: string, text = path) =>
  append(store, branch, [commit(path, [file(path, text)])]);

describe("what git has checked out", () => {
  const needsGit = { code: "needs_git", message: expect.stringContaining(`checked out in`) };

  beforeEach(() => grow(native, "main", "conversation.json", "{}"));

  it("is not moved, and a stock commit takes nothing out again", async () => {
    const before = git(temp.root, temp.env, ["rev-parse", "main"]);
    await expect(grow(embedded, "main", "meta/label.jsonl")).rejects.toMatchObject(needsGit);
    expect(git(temp.root, temp.env, ["rev-parse", "main"])).toBe(before);
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    await grow(native, "main", "meta/label.jsonl");
    git(temp.root, temp.env, ["commit", "--allow-empty", "-qm", "a note"]);
    expect((await native.listTree("main")).map(({ path }) => path)).toEqual(["conversation.json", "meta/label.jsonl"]);
  });

  it("does not switch to another branch, whose files the index lacks", async () => {
    const { commit: tip } = await grow(embedded, "talk/main", "compactions/c.jsonl");
    await expect(embedded.useBranch("talk/main")).rejects.toMatchObject(needsGit);
    await native.useBranch("talk/main");
    expect(await embedded.readBranch("talk/main")).toBe(tip);
  });

  it("in a linked worktree, too", async () => {
    await grow(native, "talk/main", "conversation.json", "{}");
    await native.worktrees?.add(join(temp.folder, "beside"), "talk/main", { full: true });
    await expect(grow(embedded, "talk/main", "d")).rejects.toMatchObject(needsGit);
  });

  it("leaves other branches free", async () => {
    expect((await grow(embedded, "other/main", "a")).moved).toBe(true);
    await expect(embedded.worktrees?.add(join(temp.folder, "x"), "main", { full: true })).rejects.toMatchObject({
      code: "needs_git",
    });
  });
});

describe("a worktree that never had an index", () => {
  it("is advanced once by the next that has git", async () => {
    await grow(embedded, "main", "compactions/a.jsonl");
    await grow(embedded, "main", "meta/b.jsonl");
    expect({ mark: mark(), index: existsSync(join(temp.root, ".git/index")) }).toEqual({ mark: true, index: false });
    await native.worktrees?.settle();
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    expect(readFileSync(join(temp.root, "compactions/a.jsonl"), "utf8")).toBe("compactions/a.jsonl");
    expect(readFileSync(join(temp.root, "meta/b.jsonl"), "utf8")).toBe("meta/b.jsonl");
  });

  it("is advanced by a write, too, and follows a HEAD that switched to another branch", async () => {
    await grow(embedded, "main", "compactions/a.jsonl");
    await grow(embedded, "talk/main", "compactions/c.jsonl");
    await embedded.useBranch("talk/main");
    expect(mark()).toBe(true);
    await grow(native, "talk/main", "compactions/d.jsonl");
    expect({ mark: mark(), status: status() }).toEqual({ mark: false, status: "" });
    const present = ["a", "c", "d"].filter((name) => existsSync(join(temp.root, `compactions/${name}.jsonl`)));
    expect(present).toEqual(["c", "d"]);
  });

  it("stays as it is while local changes are in the way: reading works, writing says so", async () => {
    await grow(embedded, "main", "conversation.json", "{}");
    writeFileSync(join(temp.root, "conversation.json"), "mine");
    await native.worktrees?.settle();
    expect(mark()).toBe(true);
    expect(readFileSync(join(temp.root, "conversation.json"), "utf8")).toBe("mine");
    expect(await native.listTree("main")).toHaveLength(1);
    await expect(grow(native, "main", "b")).rejects.toMatchObject({ code: "worktree_in_the_way" });
  });

  it("is not marked when the branch did not move", async () => {
    const write = { branch: "main", expected: "1".repeat(40), parent: null, commits: [commit("x", [file("x", "x")])] };
    const [result] = await embedded.write([write]);
    expect(result?.moved).toBe(false);
    expect(mark()).toBe(false);
  });

  it("is left alone after a jpg that was killed in the middle of it, until git is there", async () => {
    writeFileSync(join(temp.root, ".git/jpg-step.json"), "{}");
    await expect(grow(embedded, "main", "a")).rejects.toMatchObject({ code: "needs_git" });
    expect((await grow(embedded, "other/main", "a")).moved).toBe(true);
  });
});

// What both engines do, on a disk, for the stock git that works on the same store.
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../src/store/embedded/store.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import type { ConversationStore, Worktree, Worktrees } from "../../src/store/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../helpers/temp-repository.ts";

const OPEN: Readonly<Record<string, (temp: TempStore) => Promise<ConversationStore>>> = {
  native: openNativeStore,
  embedded: ({ root, env }) => openEmbeddedStore({ root, env, now: () => new Date("2026-05-01T12:00:00Z") }),
};

describe.each(Object.keys(OPEN))("the %s engine", (engine) => {
  let temp: TempStore;
  let store: ConversationStore;
  beforeEach(async () => {
    temp = await createTempStore();
    const first = await openNativeStore(temp);
    await append(first, "main", [commit("root", [file("conversation.json", "{}")])]);
    await first.close();
    store = (await OPEN[engine]?.(temp)) as ConversationStore;
  });
  afterEach(async () => {
    await store.close();
    temp.remove();
  });

  async function addWorktree(path: string): Promise<{ readonly worktrees: Worktrees; readonly worktree: Worktree }> {
    git(temp.root, temp.env, ["worktree", "add", "--quiet", "--force", path, "main"]);
    const worktree = await store.worktrees?.at(path);
    if (store.worktrees === null || worktree === null || worktree === undefined) throw new Error("no worktree");
    return { worktrees: store.worktrees, worktree };
  }

  it("makes the repository around a worktree ignore it, and says so once", async () => {
    const project = join(realpathSync(temp.folder), "project");
    mkdirSync(project);
    git(project, temp.env, ["init", "--quiet"]);
    const { worktrees, worktree } = await addWorktree(join(project, "chat[1]"));
    expect(git(project, temp.env, ["status", "--porcelain"])).toContain("chat");
    const exclude = join(project, ".git", "info", "exclude");
    expect([await worktrees.exclude(worktree), await worktrees.exclude(worktree)]).toEqual([exclude, exclude]);
    expect(readFileSync(exclude, "utf8").match(/^\/chat\\\[1\\\]\/$/gm)).toHaveLength(1);
    expect(git(project, temp.env, ["status", "--porcelain"])).toBe("");
  });

  it("hides a worktree from nothing where nothing is around", async () => {
    const { worktrees, worktree } = await addWorktree(join(temp.folder, "alone"));
    expect(await worktrees.exclude(worktree)).toBeNull();
  });

  it("gives a branch that stock git made the merge options of every other", async () => {
    git(temp.root, temp.env, ["branch", "talk/by-git", "main"]);
    const options = (): string => git(temp.root, temp.env, ["config", "--get-all", "branch.talk/by-git.mergeOptions"]);
    expect(options).toThrow();
    await store.configureBranches(["talk/by-git"]);
    await store.configureBranches(["talk/by-git"]);
    expect(options()).toBe(git(temp.root, temp.env, ["config", "--get-all", "branch.main.mergeOptions"]));
  });

  it("maintains the store if it has git", async () => {
    const upkeep = await store.upkeep();
    const health = await upkeep?.inspect({ nodePath: process.execPath, jpgPath: "/gone/jpg.js" }, [2, 40, 0]);
    expect(health?.isActive).toBe(engine === "native" ? true : undefined);
  });
});

// Refs of both engines and of git: each reads what the other wrote, under one protocol of locks.

import { existsSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../src/store/embedded/store.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import type { ConversationStore } from "../../src/store/store.ts";
import { append, commit, file, writeOne } from "../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
const inGitDir = (...names: string[]): string => join(temp.root, ".git", ...names);
const run = (...args: string[]): string => git(temp.root, temp.env, args);

async function openStoreAt(engine: "embedded" | "native"): Promise<void> {
  temp = await createTempStore();
  const place = { root: temp.root, env: temp.env, now: () => new Date("2026-05-01T12:00:00Z") };
  store = await (engine === "native" ? openNativeStore(place) : openEmbeddedStore(place));
}
afterEach(async () => {
  await store.close();
  temp.remove();
});

const grow = (branch: string, name: string) => append(store, branch, [commit(name, [file(name, name)])]);

describe.each<"embedded" | "native">(["embedded", "native"])("refs of the %s engine beside git", (engine) => {
  beforeEach(() => openStoreAt(engine));

  it("are read where git packed them, and a loose one counts more", async () => {
    const { commit: first } = await grow("talk/main", "a");
    run("pack-refs", "--all");
    expect(existsSync(inGitDir("refs/heads/talk/main"))).toBe(false);
    expect(await store.readBranch("talk/main")).toBe(first);
    const { commit: second } = await grow("talk/main", "b");
    expect(await store.listBranches()).toEqual([{ name: "talk/main", commit: second }]);
    expect(run("rev-parse", "talk/main")).toBe(second);
  });

  it("are taken out of packed-refs, where that holds them, when they go", async () => {
    // Without git nothing is removed.
    if (engine === "embedded") return expect(store.trash).toBeNull();
    const { commit: tip } = await grow("talk/main", "a");
    await grow("other/main", "b");
    run("tag", "-a", "-m", "a tag, whose commit stands in a line of its own", "kept", tip);
    run("pack-refs", "--all");
    await store.trash?.put([{ name: "talk/main", commit: tip }], "2026-05-01T12:00:00.000Z");
    expect(run("for-each-ref", "--format=%(refname)").split("\n")).toEqual([
      "refs/heads/other/main",
      "refs/tags/kept",
      "refs/trash/20260501T120000.000Z/talk/main",
    ]);
    expect(run("rev-parse", "kept^{commit}")).toBe(tip);
    expect(existsSync(inGitDir("logs/refs/heads/talk"))).toBe(false);
    await store.trash?.restore([{ branch: "talk/main", commit: tip, removedAt: "2026-05-01T12:00:00.000Z" }]);
    expect(await store.readBranch("talk/main")).toBe(tip);
    expect(await store.trash?.list()).toEqual([]);
    expect(run("fsck", "--strict", "--no-dangling")).toBe("");
  });

  it("are remembered in reflogs that git reads, of HEAD too while it names the branch", async () => {
    const { commit: first } = await grow("main", "a");
    const { commit: second } = await grow("main", "b");
    const format = ["--format=%H %gn <%ge> %gs", "--date=unix"];
    const lines = [`${second} Ada Test <ada@example.com> jpg: write`, `${first} Ada Test <ada@example.com> jpg: write`];
    for (const ref of ["main", "HEAD"]) expect(run("reflog", ...format, ref).split("\n")).toEqual(lines);
    await grow("talk/main", "c");
    await store.useBranch("talk/main");
    expect(run("reflog", "-1", "--format=%gs")).toBe("checkout: moving from main to talk/main");
    // What a repository begins with is no conversation.
    expect(await store.previousBranch()).toBe(null);
    await grow("harbour/main", "d");
    await store.useBranch("harbour/main");
    expect(await store.previousBranch()).toBe("talk/main");
    expect(run("rev-parse", "--abbrev-ref", "@{-1}")).toBe("talk/main");
    expect(await store.formerTips("main")).toEqual([first, "0".repeat(40)]);
  });

  it("leave no reflog where the store wants none", async () => {
    run("config", "core.logAllRefUpdates", "false");
    await grow("talk/main", "a");
    expect(existsSync(inGitDir("logs/refs/heads/talk/main"))).toBe(false);
  });

  it("wait for a lock that is held, and name one that stays", { tags: ["slow"] }, async () => {
    const { commit: tip } = await grow("talk/main", "a");
    const lock = inGitDir("refs/heads/talk/main.lock");
    writeFileSync(lock, "");
    setTimeout(() => rmSync(lock), 150);
    expect((await grow("talk/main", "b")).moved).toBe(true);
    await grow("other/main", "a");
    const left = inGitDir("refs/heads/other/main.lock");
    for (const path of [lock, left]) writeFileSync(path, "");
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(left, longAgo, longAgo);
    // Each waits some seconds; at the same time.
    const [refused, removed] = [grow("talk/main", "c"), grow("other/main", "c")];
    await Promise.all([
      expect(refused).rejects.toMatchObject({ kind: "repository", code: "ref_locked" }),
      expect(removed).resolves.toMatchObject({ moved: true }),
    ]);
    expect([lock, left].map((path) => existsSync(path))).toEqual([true, false]);
    // A writer that expects a stale value need not wait.
    const late = { branch: "talk/main", expected: tip, parent: tip, commits: [commit("d", [file("d", "d")])] };
    expect((await writeOne(store, late)).moved).toBe(false);
    utimesSync(lock, longAgo, longAgo);
    expect((await grow("talk/main", "c")).moved).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  it("refuse a name that is another's folder, loose and packed", { tags: ["slow"] }, async () => {
    await grow("talk/main", "a");
    for (const pack of [false, true]) {
      if (pack) run("pack-refs", "--all");
      for (const name of ["talk", "talk/main/more"])
        await expect(grow(name, "b")).rejects.toMatchObject({ code: "ref_in_the_way" });
    }
    expect((await store.listBranches()).map(({ name }) => name)).toEqual(["talk/main"]);
    run("update-ref", "-d", "refs/heads/talk/main");
    expect((await grow("talk", "c")).moved).toBe(true);
  });

  it("that hold no commit id are named, or skipped", async () => {
    await grow("talk/main", "a");
    writeFileSync(inGitDir("refs/heads/broken"), "\n");
    await expect(store.listBranches()).rejects.toMatchObject({ code: "store_damaged" });
    const passed: string[] = [];
    const tips = await store.listBranches((error) => passed.push(error.message));
    expect(tips.map(({ name }) => name)).toEqual(["talk/main"]);
    expect(passed.join()).toContain("refs/heads/broken");
  });

  it("are moved where a symbolic one names them", async () => {
    const { commit: first } = await grow("talk/main", "a");
    run("symbolic-ref", "refs/heads/alias", "refs/heads/talk/main");
    const { commit: second } = await grow("alias", "b");
    const { commit: third } = await grow("talk/main", "c");
    expect(run("rev-list", "--reverse", "talk/main").split("\n")).toEqual([first, second, third]);
    expect(run("symbolic-ref", "refs/heads/alias")).toBe("refs/heads/talk/main");
  });

  it("give branches the merge options that stock git needs", async () => {
    await grow("talk/main", "a");
    expect(run("config", "branch.talk/main.mergeOptions")).toBe("-Xfind-renames=100%");
  });
});

// Refs of the embedded engine beside git's: both read what the other wrote, and hold to one protocol of locks.
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConversationStore } from "../../../src/store/conversation-store.ts";
import { openEmbeddedStore } from "../../../src/store/embedded/embedded-store.ts";
import { append, commit, file, writeOne } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
const inGitDir = (...names: string[]): string => join(temp.root, ".git", ...names);
const run = (...args: string[]): string => git(temp.root, temp.env, args);

beforeEach(async () => {
  temp = await createTempStore();
  store = await openEmbeddedStore({ root: temp.root, env: temp.env, now: () => new Date("2026-05-01T12:00:00Z") });
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

const grow = (branch: string, name: string) => append(store, branch, [commit(name, [file(name, name)])]);

describe("refs beside git", () => {
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

  it("wait for a lock that is held, and name one that stays", async () => {
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
    // Whoever expects what is long gone need not wait.
    const late = { branch: "talk/main", expected: tip, parent: tip, commits: [commit("d", [file("d", "d")])] };
    expect((await writeOne(store, late)).moved).toBe(false);
    utimesSync(lock, longAgo, longAgo);
    expect((await grow("talk/main", "c")).moved).toBe(true);
    expect(existsSync(lock)).toBe(false);
  });

  it("refuse a name that stands for another's folder, loose and packed", async () => {
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

  it("that hold no commit id are named, or passed over", async () => {
    await grow("talk/main", "a");
    writeFileSync(inGitDir("refs/heads/broken"), "\n");
    await expect(store.listBranches()).rejects.toMatchObject({ code: "store_damaged" });
    const passed: string[] = [];
    const tips = await store.listBranches((error) => passed.push(error.message));
    expect(tips.map(({ name }) => name)).toEqual(["talk/main"]);
    expect(passed.join()).toContain("refs/heads/broken");
  });

  it("give branches the merge options that stock git needs", async () => {
    await grow("talk/main", "a");
    expect(run("config", "branch.talk/main.mergeOptions")).toBe("-Xfind-renames=100%");
  });
});

describe("objects beside git", () => {
  it("are read from packs with deltas, also larger ones than the native engine reads by itself", async () => {
    const large = Buffer.alloc(9 * 1024 * 1024, "0123456789 tide ");
    large.write("changed", 4_000_000);
    const changes = [
      { path: "large", bytes: large },
      ...Array.from({ length: 50 }, (_, n) => file(`f/${n}`, "tide\n".repeat(200 + n))),
    ];
    const { commit: tip } = await append(store, "talk/main", [commit("a", changes)]);
    run("repack", "-a", "-d", "-q", "--depth=10");
    expect(run("count-objects")).toMatch(/^0 objects/);
    const again = await openEmbeddedStore({ root: temp.root, env: temp.env, now: () => new Date() });
    const files = await again.listTree(tip, { sizes: true });
    expect(files.find(({ path }) => path === "large")?.size).toBe(large.length);
    expect((await again.findText([tip], { texts: ["changed"], under: ["large"] })).get(tip)).toEqual(["large"]);
    expect(await again.verify()).toEqual({ problems: [], rewritten: [] });
    await again.close();
  });

  it("are verified: what is missing, damaged or changed in place is named as the native engine names it", async () => {
    const { commit: first } = await grow("talk/main", "conversation.json");
    const { commits } = await append(store, "talk/main", [commit("b", [file("conversation.json", "other")])]);
    const [rewritten] = (await store.verify()).rewritten;
    expect(rewritten).toMatchObject({ commit: commits[0], path: "conversation.json" });
    const oid = run("rev-parse", `${first}:conversation.json`);
    rmSync(inGitDir("objects", oid.slice(0, 2), oid.slice(2)));
    const again = await openEmbeddedStore({ root: temp.root, env: temp.env, now: () => new Date() });
    expect((await again.verify()).problems).toEqual([`missing blob ${oid}`]);
    await again.close();
  });

  it("are files of their own when they are few, and one pack when they are many", async () => {
    const packs = () => readdirSync(inGitDir("objects/pack")).filter((name) => name.endsWith(".pack"));
    const { commit: first } = await grow("talk/main", "a");
    expect({ packs: packs(), objects: run("count-objects") }).toMatchObject({
      packs: [],
      objects: expect.stringMatching(/^3 objects/) as string,
    });
    const changes = Array.from({ length: 120 }, (_, n) => file(`f/${n}`, `turn ${n}\n`));
    const { commits } = await append(store, "talk/main", [commit("b", changes), commit("c", [file("f/1", "other\n")])]);
    expect(packs()).toHaveLength(1);
    expect(run("count-objects")).toMatch(/^3 objects/);
    expect(run("rev-list", "talk/main").split("\n")).toEqual([...commits].reverse().concat(first));
    expect(run("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    expect((await store.listTree("talk/main", { under: ["f"] })).length).toBe(120);
  });

  it("that cannot be written are an error of the store, and the branch stays", async () => {
    const { commit: tip } = await grow("talk/main", "a");
    rmSync(inGitDir("objects/pack"), { recursive: true });
    writeFileSync(inGitDir("objects/pack"), "in the way");
    const changes = Array.from({ length: 120 }, (_, n) => file(`f/${n}`, `turn ${n}\n`));
    const writing = append(store, "talk/main", [commit("b", changes)]);
    await expect(writing).rejects.toMatchObject({ kind: "repository", code: "pack_not_written" });
    expect(await store.readBranch("talk/main")).toBe(tip);
    rmSync(inGitDir("objects/pack"));
    expect((await append(store, "talk/main", [commit("b", changes)])).moved).toBe(true);
    expect(run("fsck", "--strict", "--no-dangling")).toBe("");
  });

  it("are whole or not there, and nobody's to change", async () => {
    await grow("talk/main", "a");
    const oid = run("rev-parse", "talk/main");
    const path = inGitDir("objects", oid.slice(0, 2), oid.slice(2));
    expect(readFileSync(path).length).toBeGreaterThan(0);
    expect(
      run("ls-files", "--others")
        .split("\n")
        .filter((name) => name.includes("tmp_obj")),
    ).toEqual([]);
  });
});

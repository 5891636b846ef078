// Objects of the embedded engine and of git: each reads what the other wrote.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../../src/store/embedded/store.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
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

describe("objects with git", () => {
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

// Before anything is written into a git dir: links and pipes that a store's maker put there are refused, by both engines.

import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../src/store/embedded/store.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { createTempStore, git, type TempStore } from "../helpers/temp-repository.ts";

let temp: TempStore;
let mine: string;

beforeEach(async () => {
  temp = await createTempStore();
  mine = join(temp.folder, "mine");
  writeFileSync(mine, "# my shell\n");
  const store = await openNativeStore({ root: temp.root, env: temp.env });
  await append(store, "talk/main", [commit("root", [file("conversation.json", "{}")])]);
  await append(store, "main", [commit("root", [file("conversation.json", "{}")])]);
  await store.close();
});
afterEach(() => temp.remove());

const inGitDir = (path: string): string => join(temp.root, ".git", path);
const pipe = (path: string): void => void execFileSync("mkfifo", [path]);

/** Puts a link or a pipe in place of what is there. */
function put(path: string, make: (path: string) => void): void {
  rmSync(inGitDir(path), { recursive: true, force: true });
  mkdirSync(dirname(inGitDir(path)), { recursive: true });
  make(inGitDir(path));
}

const link = (path: string): void => symlinkSync(mine, path);
const folderLink = (path: string): void => {
  const folder = join(temp.folder, "elsewhere");
  mkdirSync(folder);
  symlinkSync(folder, path);
};

const PLANTED: readonly (readonly [string, string, (path: string) => void])[] = [
  ["a reflog that is a link", "logs/refs/heads/talk/main", link],
  ["HEAD's reflog, a link", "logs/HEAD", link],
  ["a reflog that is a pipe", "logs/refs/heads/talk/main", pipe],
  ["HEAD's reflog, a pipe", "logs/HEAD", pipe],
  ["a folder of reflogs that is a link", "logs/refs/heads/talk", folderLink],
  ["all reflogs elsewhere", "logs", folderLink],
  ["a folder of refs elsewhere", "refs/trash", folderLink],
  ["a linked worktree's reflog", "worktrees/one/logs/HEAD", link],
  ["FETCH_HEAD, a link", "FETCH_HEAD", link],
];

describe.each(["native", "embedded"])("a write with the %s engine", (engine) => {
  const open = () => {
    const place = { root: temp.root, env: temp.env, now: () => new Date("2026-05-01T12:00:00Z") };
    return engine === "native" ? openNativeStore(place) : openEmbeddedStore(place);
  };

  it.each(PLANTED)("refuses %s, and writes nothing elsewhere", async (_, path, make) => {
    put(path, make);
    const before = git(temp.root, temp.env, ["rev-parse", "talk/main"]);
    const store = await open();
    await expect(append(store, "talk/main", [commit("a", [file("a", "a")])])).rejects.toMatchObject({
      code: "store_unsafe",
      data: { path: expect.stringContaining(".git") },
    });
    await store.close();
    expect(readFileSync(mine, "utf8")).toBe("# my shell\n");
    expect(readdirSync(temp.folder)).not.toContain("elsewhere/main");
    expect(git(temp.root, temp.env, ["rev-parse", "talk/main"])).toBe(before);
  });

  it("accepts links that users make: hooks, objects, an old symbolic ref", async () => {
    const hooks = join(temp.folder, "hooks");
    mkdirSync(hooks);
    put("hooks", (path) => symlinkSync(hooks, path));
    put("refs/heads/alias", (path) => symlinkSync("refs/heads/talk/main", path));
    appendFileSync(inGitDir("description"), "x");
    const store = await open();
    expect((await append(store, "talk/main", [commit("a", [file("a", "a")])])).moved).toBe(true);
    await store.close();
  });
});

describe("reading", () => {
  it.each([
    "config",
    "index",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/sparse-checkout",
    "objects/info/alternates",
    "refs/heads/talk/main",
    "refs/heads/other/main",
    "refs/remotes/team/talk/main",
  ])("with git waits for no pipe in the place of %s, and names it", async (path) => {
    put(path, pipe);
    const read = async (): Promise<void> => {
      const store = await openNativeStore({ root: temp.root, env: temp.env });
      try {
        await store.verify();
        for (const { commit: tip } of await store.listBranches()) await store.listTree(tip);
        await store.readLog({ from: "talk/main" });
      } finally {
        await store.close();
      }
    };
    await expect(read()).rejects.toMatchObject({
      code: "store_unsafe",
      message: expect.stringContaining(inGitDir(path)),
    });
  });
});

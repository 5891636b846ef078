// What killed processes left is cleared by the next writer, and what is still in use never is.

import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { draftPath, makeDraftFolder } from "../../src/store/files.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import { clearUnfinishedPacks, isAbandoned } from "../../src/store/locks.ts";
import { formatMark, markThisProcess } from "../../src/store/running-process.ts";
import type { ConversationStore } from "../../src/store/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { createTempStore, type TempStore, writeText } from "../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
beforeEach(async () => {
  temp = await createTempStore();
  store = await openNativeStore(temp);
  await write("first");
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

const inGitDir = (...names: string[]): string => join(temp.root, ".git", ...names);
const write = (text: string): ReturnType<typeof append> =>
  append(store, "t/main", [commit(text, [file("conversation.json", text)])]);

/** Makes a file that was last written to two hours ago. */
function leave(...names: string[]): string {
  const path = inGitDir(...names);
  writeText(path, "");
  const then = new Date(Date.now() - 2 * 60 * 60_000);
  utimesSync(path, then, then);
  return path;
}

it("an empty lock of a branch, of HEAD, of the index or of the settings that nobody holds is removed", {
  tags: ["slow"],
}, async () => {
  await store.useBranch("t/main");
  const locks = ["refs/heads/t/main.lock", "HEAD.lock", "index.lock", "config.lock"].map((name) => leave(name));
  expect((await write("second")).moved).toBe(true);
  await store.createBranch("t/other", (await store.readBranch("t/main")) ?? "");
  await store.useBranch("t/other");
  expect(
    locks
      .slice(0, 1)
      .concat(locks.slice(2))
      .filter((path) => existsSync(path)),
  ).toEqual([]);
});

it("a lock that somebody has open stays, and so does one that was just made", { tags: ["slow"] }, async () => {
  await append(store, "u/main", [commit("first", [file("conversation.json", "first")])]);
  const held = leave("refs/heads/t/main.lock");
  const fresh = leave("refs/heads/u/main.lock");
  const now = new Date();
  utimesSync(fresh, now, now);
  const holder = openSync(held, "r");
  try {
    // Each waits some seconds for its lock; at the same time.
    const second = [commit("second", [file("conversation.json", "second")])];
    const writes = ["t/main", "u/main"].map((branch) => append(store, branch, second));
    await Promise.all(writes.map((write) => expect(write).rejects.toMatchObject({ code: "ref_locked" })));
    expect([held, fresh].map((path) => existsSync(path))).toEqual([true, true]);
  } finally {
    closeSync(holder);
  }
});

it("a lock is somebody's while a git runs in the store that may have made it", async () => {
  const git = spawn("git", ["hash-object", "--stdin"], { cwd: temp.root, env: temp.env });
  await new Promise((resolve) => git.on("spawn", resolve));
  const lock = inGitDir("refs/heads/t/main.lock");
  writeText(lock, "");
  const place = { gitDir: inGitDir(), cwd: temp.root };
  expect(await isAbandoned(place, lock, 0)).toBe(false);
  git.stdin.end();
  await new Promise((resolve) => git.on("close", resolve));
  // Where processes cannot be looked into, a lock as young as this one stays in any case.
  if (!existsSync("/proc/stat")) expect(await isAbandoned(place, lock, 0)).toBe(false);
  // Another user's git cannot be looked into: it counts while it runs.
  else await expect.poll(() => isAbandoned(place, lock, 0)).toBe(true);
});

it("unfinished packs that nobody writes are removed, others stay", async () => {
  const left = ["tmp_pack_Ab12Cd", "tmp_idx_Ab12Cd", "tmp_jpg_77_0"].map((name) => leave("objects", "pack", name));
  const written = leave("objects", "pack", "tmp_pack_Xy34Zz");
  const kept = leave("objects", "pack", "tmp_notes");
  const writer = openSync(written, "r");
  await write("second");
  closeSync(writer);
  expect([...left, written, kept].filter((path) => existsSync(path))).toEqual([written, kept]);
});

it("packs that a failed transfer has just left are removed, and one that somebody works on stays", async () => {
  const [left, held, whole] = ["tmp_pack_a1", "tmp_pack_b2", "pack-c3.pack"].map((name) => {
    const path = inGitDir("objects", "pack", name);
    writeText(path, "");
    return path;
  });
  const holder = openSync(held!, "r");
  try {
    await clearUnfinishedPacks({ gitDir: inGitDir(), cwd: temp.root });
    expect([left, held, whole].map((path) => existsSync(path!))).toEqual([false, true, true]);
  } finally {
    closeSync(holder);
  }
});

it("drafts of processes that are gone are removed, those of running ones stay", async () => {
  const mine = await draftPath(inGitDir("file"));
  const mark = await markThisProcess();
  const dead = mine.replace(formatMark(mark), formatMark({ ...mark, pid: 2 ** 22 - 1 }));
  const shown = dead.replace(inGitDir(), temp.root);
  for (const path of [mine, dead, shown]) writeText(path, "half");
  await write("second");
  expect([mine, dead, shown].filter((path) => existsSync(path))).toEqual([mine]);
});

it("a folder of a process that is gone is removed with all that is in it, that of a running one stays", async () => {
  const mine = await makeDraftFolder(inGitDir());
  const mark = await markThisProcess();
  const dead = mine.replace(formatMark(mark), formatMark({ ...mark, pid: 2 ** 22 - 1 }));
  const inTree = dead.replace(inGitDir(), temp.root);
  for (const folder of [mine, dead, inTree]) writeText(join(folder, "refs", "x"), "half");
  await write("second");
  expect([mine, dead, inTree].filter((path) => existsSync(path))).toEqual([mine, inTree]);
});

it("what a fast-import that failed, on a full disk for one, left in the git dir is removed, nothing like it is", async () => {
  const report = leave("fast_import_crash_4194303");
  const own = leave("fast_import_crash_of_mine");
  await write("second");
  expect([report, own].filter((path) => existsSync(path))).toEqual([own]);
});

// A step of a worktree that a killed writer left half done: the states that git can leave, and what the next writer makes of them.

import { existsSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { ConversationStore, SettledStep } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

const OLD = "the old text of a file that both have\n";
const NEW = "the new text of a file that both have, which is longer\n";

let temp: TempStore;
let store: ConversationStore;
let from: string;
let to: string;
const run = (...args: string[]): string => git(temp.root, temp.env, args);
const status = (): string => run("status", "--porcelain");
const at = (name: string): string => join(temp.root, name);
const record = (): string => join(temp.root, ".git", "jpg-step.json");
const settle = async (): Promise<readonly SettledStep[]> => (await store.worktrees?.settle()) ?? [];

beforeEach(async () => {
  temp = await createTempStore();
  store = await openNativeStore(temp);
  const root = commit("root", [file("conversation.json", OLD), file("compactions/gone", "1")]);
  [from = ""] = (await append(store, "t/main", [root])).commits;
  await store.createBranch("t/other", from);
  const changed = [file("conversation.json", NEW), file("compactions/new", "new record"), file("meta/m", "m")];
  const gone = { path: "compactions/gone", remove: true } as const;
  [to = ""] = (await append(store, "t/other", [commit("change", [...changed, gone])])).commits;
  await store.useBranch("t/main");
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

/** The record of a step that a killed writer had begun. */
function begin(kind: "use" | "advance"): void {
  writeText(record(), JSON.stringify({ kind, branch: kind === "use" ? "t/other" : "t/main", from, to }));
}

/** What git has written when it is killed among the files: one whole, one begun, one gone; its lock of the index stays. */
function writeHalf(): void {
  writeText(at("conversation.json"), NEW);
  writeText(at("compactions/new"), "new re");
  rmSync(at("compactions/gone"), { force: true });
  const lock = join(temp.root, ".git", "index.lock");
  writeText(lock, "");
  const then = new Date(Date.now() - 2 * 60 * 60_000);
  utimesSync(lock, then, then);
}

const writeWhole = (): string => run("read-tree", "-m", "-u", from, to);

describe("a use that was killed", () => {
  it.each([
    ["among the files", writeHalf],
    ["before HEAD went over", writeWhole],
  ])("%s is taken back", async (_, damage) => {
    begin("use");
    damage();
    expect(status()).not.toBe("");
    expect(await settle()).toEqual([{ kind: "use", branch: "t/other", active: "t/main", path: temp.root }]);
    expect([status(), readFileSync(at("conversation.json"), "utf8")]).toEqual(["", OLD]);
    expect(existsSync(at("compactions/new"))).toBe(false);
    expect(existsSync(record())).toBe(false);
    expect(await settle()).toEqual([]);
  });

  it("is rolled back by the same use, which then continues", async () => {
    begin("use");
    writeHalf();
    await store.useBranch("t/other");
    expect([status(), await store.readActiveBranch()]).toEqual(["", "t/other"]);
    expect(readFileSync(at("conversation.json"), "utf8")).toBe(NEW);
  });

  it("before or after it did anything leaves nothing to say", async () => {
    begin("use");
    expect(await settle()).toEqual([]);
    await store.useBranch("t/other");
    begin("use");
    expect(await settle()).toEqual([]);
    expect([status(), existsSync(record())]).toEqual(["", false]);
  });

  it("leaves what somebody has written since", async () => {
    begin("use");
    writeHalf();
    writeText(at("conversation.json"), "mine");
    writeText(at("compactions/new"), "mine, too");
    await settle();
    expect(readFileSync(at("conversation.json"), "utf8")).toBe("mine");
    expect(readFileSync(at("compactions/new"), "utf8")).toBe("mine, too");
    expect(existsSync(at("compactions/gone"))).toBe(true);
  });
});

describe("a write that was killed", () => {
  it.each([
    ["before the files followed", () => undefined],
    ["among the files", writeHalf],
  ])("%s is finished by the next one", async (_, damage) => {
    begin("advance");
    run("update-ref", "refs/heads/t/main", to);
    damage();
    expect(status()).not.toBe("");
    expect((await append(store, "t/main", [commit("next", [file("meta/n", "n")])])).moved).toBe(true);
    expect([status(), readFileSync(at("conversation.json"), "utf8")]).toEqual(["", NEW]);
    expect([existsSync(at("meta/n")), existsSync(record())]).toEqual([true, false]);
  });

  it("is finished and reported when the store is opened next", async () => {
    begin("advance");
    run("update-ref", "refs/heads/t/main", to);
    writeHalf();
    expect(await settle()).toEqual([{ kind: "advance", branch: "t/main", active: "t/main", path: temp.root }]);
    expect(status()).toBe("");
  });

  it("when the files had gone over and the branch had not is undone, and said", async () => {
    begin("advance");
    writeWhole();
    const lock = join(temp.root, ".git", "refs", "heads", "t", "main.lock");
    writeText(lock, `${to}\n`);
    const then = new Date(Date.now() - 2 * 60 * 60_000);
    utimesSync(lock, then, then);
    expect(await settle()).toEqual([{ kind: "advance", branch: "t/main", active: "t/main", path: temp.root }]);
    expect([status(), readFileSync(at("conversation.json"), "utf8")]).toEqual(["", OLD]);
    expect([existsSync(record()), existsSync(lock), await store.readBranch("t/main")]).toEqual([false, false, from]);
  });

  it("before the branch moved has done nothing", async () => {
    begin("advance");
    expect(await settle()).toEqual([]);
    expect([status(), existsSync(record())]).toEqual(["", false]);
  });
});

it("a step in which a writer is still at work is left to it", async () => {
  begin("use");
  writeHalf();
  const { markThisProcess } = await import("../../../src/store/running-process.ts");
  const lock = join(temp.root, ".git", "jpg-advance.lock");
  writeText(lock, JSON.stringify(await markThisProcess()));
  expect(await settle()).toEqual([]);
  expect([existsSync(record()), existsSync(lock)]).toEqual([true, true]);
});

it("a record that no jpg wrote is skipped: nothing in it becomes an option of git", async () => {
  const victim = join(temp.folder, "victim");
  const option = `--output=${victim}`;
  const good = { kind: "use", branch: "t/other", from, to };
  const strange = [
    { ...good, to: option },
    { ...good, from: option },
    { ...good, branch: "--detach" },
    { ...good, kind: "other" },
    { ...good, from: 1 },
    [],
    null,
  ];
  for (const step of strange) {
    writeText(victim, "mine");
    writeText(record(), JSON.stringify(step));
    expect([step, await settle()]).toEqual([step, []]);
    expect(readFileSync(victim, "utf8")).toBe("mine");
  }
  expect(run("symbolic-ref", "HEAD")).toBe("refs/heads/t/main");
});

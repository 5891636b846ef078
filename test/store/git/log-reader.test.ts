import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, writeText } from "../../helpers/temp-repository.ts";

let temp: TempStore;
let store: ConversationStore;
const run = (...args: string[]): string => git(temp.root, temp.env, args);

beforeEach(async () => {
  temp = await createTempStore();
  store = await openNativeStore(temp);
  await append(store, "t/main", [commit("turn 0", [file("turns/0", "0"), file("compactions/base", "b")])]);
  await store.createBranch("t/side", (await store.readBranch("t/main")) ?? "");
});
afterEach(async () => {
  await store.close();
  temp.remove();
});

/** Subject, added and removed files of the compaction log. */
async function log(paths: string[] = ["compactions"]): Promise<unknown[]> {
  return (await store.readLog({ from: "t/main", paths })).map(({ message, added, removed }) => [
    message.split("\n")[0],
    added.join(),
    removed.join(),
  ]);
}

describe("the log of merged branches", () => {
  it("shows a compaction and its revert made on a side branch, each once", async () => {
    await append(store, "t/side", [
      commit("compact side", [file("compactions/s", "s")], 10),
      commit("Revert side", [{ path: "compactions/s", remove: true }], 20),
      commit("compact side 2", [file("compactions/s2", "s2")], 30),
    ]);
    await append(store, "t/main", [commit("turn 1", [file("turns/1", "1")], 15)]);
    await store.useBranch("t/main");
    run("merge", "-q", "--no-edit", "t/side");
    expect(await log()).toEqual([
      ["compact side 2", "compactions/s2", ""],
      ["Revert side", "", "compactions/s"],
      ["compact side", "compactions/s", ""],
      ["turn 0", "compactions/base", ""],
    ]);
  });

  it("shows nothing for a merge of two compactions but what the merge did itself", async () => {
    await append(store, "t/side", [commit("compact a", [file("compactions/a", "a")], 10)]);
    await append(store, "t/main", [commit("compact b", [file("compactions/b", "b")], 11)]);
    await store.useBranch("t/main");
    run("merge", "-q", "--no-commit", "t/side");
    writeText(join(temp.root, "compactions", "by-hand"), "x");
    run("rm", "-q", "compactions/base");
    run("add", "compactions");
    run("commit", "-q", "-m", "merge by hand");
    expect((await log()).slice(0, 3)).toEqual([
      ["merge by hand", "compactions/by-hand", "compactions/base"],
      ["compact b", "compactions/b", ""],
      ["compact a", "compactions/a", ""],
    ]);
    expect((await store.readLog({ from: "t/main" }))[0]?.parents).toHaveLength(2);
  });

  it("leaves a merge out that only joins", async () => {
    await append(store, "t/side", [commit("compact a", [file("compactions/a", "a")], 10)]);
    await append(store, "t/main", [commit("compact b", [file("compactions/b", "b")], 11)]);
    await store.useBranch("t/main");
    run("merge", "-q", "--no-edit", "t/side");
    expect((await log()).map((row) => (row as string[])[0])).toEqual(["compact b", "compact a", "turn 0"]);
    expect(await store.readLog({ from: "t/main", paths: ["compactions"], limit: 2 })).toHaveLength(2);
  });
});

describe("the log under a user's settings", () => {
  it("is the same whatever they are", async () => {
    await append(store, "t/main", [
      commit("compact", [file("compactions/ü\tx", "c")]),
      commit("Revert", [{ path: "compactions/base", remove: true }]),
    ]);
    const before = await log([]);
    writeText(join(temp.folder, "home", ".mailmap"), "Other <o@example.com> <agent@example.com>\n");
    writeText(
      join(temp.folder, "home", ".gitconfig"),
      "[log]\n\tshowRoot = false\n\tfollow = true\n\tshowSignature = true\n\tdate = iso\n\tdecorate = full\n\tabbrevCommit = true\n[diff]\n\trenames = copies\n\tnoprefix = true\n\torderFile = /nonexistent\n\tstatGraphWidth = 3\n[color]\n\tui = always\n[core]\n\tquotePath = true\n[format]\n\tpretty = oneline\n[i18n]\n\tlogOutputEncoding = ISO-8859-1\n[mailmap]\n\tfile = ~/.mailmap\n",
    );
    expect(await log([])).toEqual(before);
    expect((await store.readLog({ from: "t/main" }))[0]?.author.name).toBe("Zoë Agent");
  });

  it("takes paths by the letter", async () => {
    await append(store, "t/main", [commit("odd", [file("compactions/*", "c"), file(":(top)x", "y")])]);
    expect(await log(["compactions/*"])).toEqual([["odd", "compactions/*", ""]]);
    expect(await log([":(top)x"])).toEqual([["odd", ":(top)x", ""]]);
  });
});

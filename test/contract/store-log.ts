// The log of the store contract: every commit once, newest first.
import { describe, expect, it } from "vitest";
import type { ConversationStore } from "../../src/store/store.ts";
import { AUTHOR, append, COMMITTER, commit, file, writeOne } from "../helpers/store-writes.ts";
import { eachStore, type StoreUnderTest } from "./store-under-test.ts";

/** Declares these tests for one engine. */
export function testLog(engine: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${engine} store: log`, () => {
    let store: ConversationStore;
    eachStore(open, (opened) => {
      store = opened.store;
    });

    it("reads commits newest first, with messages, people and files", async () => {
      await append(store, "t/main", [
        commit("turn 0: hello\n\nbody line\n\nJpg-X: y", [file("turns/0", "0")], 0),
        commit("compact 0..0", [file("compactions/ä b.jsonl", "{}")], 1),
        commit("turn 1", [file("turns/1", "1"), file("turns/0", "0+")], 2),
      ]);
      const log = await store.readLog({ from: "t/main" });
      expect(log.map(({ message }) => message)).toEqual([
        "turn 1\n",
        "compact 0..0\n",
        "turn 0: hello\n\nbody line\n\nJpg-X: y\n",
      ]);
      expect(log.map(({ added, removed }) => [added, removed])).toEqual([
        [["turns/1"], []],
        [["compactions/ä b.jsonl"], []],
        [["turns/0"], []],
      ]);
      expect(log[2]).toMatchObject({ parents: [], author: AUTHOR, committer: COMMITTER });
      expect(log[0]?.parents).toEqual([log[1]?.commit]);
      expect((await store.readLog({ from: "t/main", limit: 1 })).map(({ message }) => message)).toEqual(["turn 1\n"]);
    });

    it("shows a compaction, its revert and its reapply, each once", async () => {
      const record = file("compactions/c1.jsonl", "{}");
      await append(store, "t/main", [
        commit("turn 0", [file("turns/0", "0")], 0),
        commit("compact", [record], 1),
        commit("turn 1", [file("turns/1", "1")], 2),
        commit("Revert compact", [{ path: "compactions/c1.jsonl", remove: true }], 3),
        commit("Reapply compact", [record], 4),
      ]);
      const log = await store.readLog({ from: "t/main", paths: ["compactions"] });
      expect(log.map(({ message, added, removed }) => [message, added.length, removed.length])).toEqual([
        ["Reapply compact\n", 1, 0],
        ["Revert compact\n", 0, 1],
        ["compact\n", 1, 0],
      ]);
      expect(await store.readLog({ from: "t/main", paths: ["compactions"], limit: 2 })).toEqual(log.slice(0, 2));
      expect(await store.readLog({ from: "t/main", paths: ["config", "meta"] })).toEqual([]);
    });

    it("leaves out what came by a first-parent-only merge, also where both sides hold the same files", async () => {
      const step = (name: string, at: number) => [
        commit(`compact ${name}`, [file(`compactions/${name}.jsonl`, name)], at),
        commit(`Revert ${name}`, [{ path: `compactions/${name}.jsonl`, remove: true }], at + 1),
      ];
      const { commit: base } = await append(store, "t/main", [commit("turn 0", [file("turns/0", "0")], 0)]);
      await writeOne(store, { branch: "t/fork", expected: null, parent: base, commits: step("theirs", 1) });
      await append(store, "t/main", step("ours", 3));
      const fork = (await store.readBranch("t/fork")) ?? "";
      await append(store, "t/main", [{ ...commit("told", [file("turns/1", "1")], 5), merges: [fork] }]);
      const firstParentOnly = async ({ message }: { readonly message: string }): Promise<boolean> =>
        message === "told\n";
      for (const from of ["t/main", (await store.readBranch("t/main")) ?? ""]) {
        const read = async (asked: object): Promise<readonly string[]> =>
          (await store.readLog({ from, paths: ["compactions"], ...asked })).map(({ message }) => message.trim());
        expect(await read({ firstParentOnly })).toEqual(["Revert ours", "compact ours"]);
        expect(await read({})).toEqual(["Revert ours", "compact ours", "Revert theirs", "compact theirs"]);
      }
    });

    it("reads when commits were made, in the order asked", async () => {
      const { commits } = await append(
        store,
        "t/main",
        [0, -500, 300].map((at, i) => commit(`committer X <x@y> 1 +0000 ${i}`, [file(`f${i}`, "x")], at)),
      );
      const times = [0, -500, 300].map((at) => COMMITTER.seconds + at);
      expect(await store.readCommitTimes(commits)).toEqual(times);
      expect(await store.readCommitTimes([...commits].reverse())).toEqual([...times].reverse());
      expect(await store.readCommitTimes([])).toEqual([]);
      await expect(store.readCommitTimes([`${"0".repeat(39)}1`])).rejects.toMatchObject({ code: "object_missing" });
    });

    it("orders by history even when clocks go backwards", async () => {
      await append(
        store,
        "t/main",
        [0, -500, 300, -900].map((at, i) => commit(`c${i}`, [file(`f${i}`, "x")], at)),
      );
      expect((await store.readLog({ from: "t/main" })).map(({ message }) => message.trim())).toEqual([
        "c3",
        "c2",
        "c1",
        "c0",
      ]);
    });
  });
}

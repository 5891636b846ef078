// Writing of the store contract: commits land whole, by compare-and-swap, or not at all.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { BranchWrite, CommitSpec, ConversationStore } from "../../src/store/store.ts";
import { append, commit, file, readText, writeOne } from "../helpers/store-writes.ts";
import { eachStore, type StoreUnderTest } from "./store-under-test.ts";

/** A writer whose branch moved plans again before it writes again, one quicker than the other; milliseconds. */
const PLANNING_MS = 5;

/** Declares these tests for one engine. */
export function testWriting(engine: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${engine} store: writing`, () => {
    let subject: StoreUnderTest;
    let store: ConversationStore;
    eachStore(open, (opened) => {
      subject = opened;
      store = opened.store;
    });

    it("writes the commits of several branches in one pass", async () => {
      const results = await store.write([
        {
          branch: "a/main",
          expected: null,
          parent: null,
          commits: [commit("a0", [file("x", "0")]), commit("a1", [file("y", "1")])],
        },
        { branch: "b/main", expected: null, parent: null, commits: [commit("b0", [file("z", "2")])] },
      ]);
      expect(results.map(({ branch, moved, commits }) => [branch, moved, commits.length])).toEqual([
        ["a/main", true, 2],
        ["b/main", true, 1],
      ]);
      expect((await store.listTree(results[0]?.commit ?? "")).map(({ path }) => path)).toEqual(["x", "y"]);
      expect((await store.listTree(results[1]?.commit ?? "")).map(({ path }) => path)).toEqual(["z"]);
    });

    it("takes commits as they come, from asynchronous sources", async () => {
      async function* commits(): AsyncGenerator<CommitSpec> {
        for (let i = 0; i < 5; i++) {
          await Promise.resolve();
          yield commit(`turn ${i}`, [file(`turns/${i}`, "x".repeat(100_000))], i);
        }
      }
      async function* writes(): AsyncGenerator<BranchWrite> {
        yield { branch: "s/main", expected: null, parent: null, commits: commits() };
      }
      const [result] = await store.write(writes());
      expect(result).toMatchObject({ branch: "s/main", moved: true });
      expect(await store.listTree("s/main")).toHaveLength(5);
    });

    it("removes files, and puts stored objects by id", async () => {
      await append(store, "t/main", [commit("a", [file("a", "1"), file("dir/b", "2")])]);
      const oid = (await store.readEntries("t/main", ["dir/b"])).get("dir/b") ?? "";
      await append(store, "t/main", [
        commit("b", [
          { path: "a", remove: true },
          { path: "dir/b", remove: true },
          { path: "copy", oid },
          { path: "never/was", remove: true },
        ]),
      ]);
      expect((await store.listTree("t/main")).map(({ path }) => path)).toEqual(["copy"]);
      expect(await readText(store, "t/main", "copy")).toBe("2");
      const missing = {
        branch: "t/x",
        expected: null,
        parent: null,
        commits: [commit("c", [{ path: "c", oid: "12".repeat(20) }])],
      };
      await expect(store.write([missing])).rejects.toMatchObject({ code: "object_missing" });
      expect(await store.readBranch("t/x")).toBeNull();
    });

    it("gives the same ids for the same content", async () => {
      const make = (branch: string): BranchWrite => ({
        branch,
        expected: null,
        parent: null,
        commits: [commit("same\n\nbody: ü", [file("a", "1")])],
      });
      const [a, b] = await store.write([make("a/main"), make("b/main")]);
      expect(a?.commit).toBe(b?.commit);
      expect(a?.commit).toBe("abd8e5a64113c897cbf05a29f6b6cebe8e58e801");
    });

    it("refuses paths that a tree cannot hold", async () => {
      for (const path of ["", "/abs", "a//b", "../up", "a/./b", ".git/config", "a\0b"]) {
        await expect(append(store, "t/main", [commit("bad", [file(path, "x")])])).rejects.toMatchObject({
          code: "bad_path",
        });
      }
      expect(await store.readBranch("t/main")).toBeNull();
    });

    it("moves nothing when the source of commits fails, and leaves no ref", async () => {
      const { commit: tip } = await append(store, "t/main", [commit("a", [file("a", "1")])]);
      function* failing(): Generator<CommitSpec> {
        yield commit("b", [file("b", "1")]);
        throw new Error("source failed");
      }
      await expect(store.write([{ branch: "t/main", expected: tip, parent: tip, commits: failing() }])).rejects.toThrow(
        "source failed",
      );
      expect(await store.listBranches()).toEqual([{ name: "t/main", commit: tip }]);
      expect(await store.resolveCommit("refs/jpg/write")).toBeNull();
    });

    it("does not move a branch that is elsewhere, and moves the others", async () => {
      const first = await append(store, "t/main", [commit("a", [file("a", "1")])]);
      const second = await append(store, "t/main", [commit("b", [file("b", "1")])]);
      const results = await store.write([
        { branch: "t/main", expected: first.commit, parent: first.commit, commits: [commit("late", [file("c", "1")])] },
        { branch: "t/other", expected: null, parent: first.commit, commits: [commit("fine", [file("c", "1")])] },
        { branch: "t/gone", expected: first.commit, parent: first.commit, commits: [commit("gone", [file("c", "1")])] },
      ]);
      expect(results.map(({ moved }) => moved)).toEqual([false, true, false]);
      expect(await store.readBranch("t/main")).toBe(second.commit);
      expect(await store.readBranch("t/gone")).toBeNull();
      const again = await writeOne(store, {
        branch: "t/main",
        expected: null,
        parent: null,
        commits: [commit("new", [file("n", "1")])],
      });
      expect(again.moved).toBe(false);
    });

    it("replaces a tip: the new commit builds on an older one than it expects", async () => {
      const { commits } = await append(store, "t/main", [
        commit("a", [file("a", "1")]),
        commit("turn 1", [file("t1", "half")]),
      ]);
      const [base = "", tip = ""] = commits;
      const result = await writeOne(store, {
        branch: "t/main",
        expected: tip,
        parent: base,
        commits: [commit("turn 1", [file("t1", "whole")])],
      });
      expect(result.moved).toBe(true);
      expect(await store.resolveCommit("t/main~1")).toBe(base);
      expect(await readText(store, "t/main", "t1")).toBe("whole");
    });

    it("moves a branch without writing when there are no commits", async () => {
      const { commits } = await append(store, "t/main", [commit("a", [file("a", "1")]), commit("b", [file("b", "1")])]);
      const [base = "", tip = ""] = commits;
      expect(await writeOne(store, { branch: "t/main", expected: tip, parent: base, commits: [] })).toMatchObject({
        moved: true,
        commit: base,
        commits: [],
      });
      expect(await store.readBranch("t/main")).toBe(base);
    });

    it("lands all of 4 writers' 25 appends when each retries", { tags: ["slow"] }, async () => {
      await append(store, "t/main", [commit("root", [file("root", "")])]);
      const writers = await Promise.all(Array.from({ length: 4 }, () => subject.reopen()));
      await Promise.all(
        writers.map(async (writer, w) => {
          for (let n = 0; n < 25; n++) {
            while (!(await append(writer, "t/main", [commit(`w${w} ${n}`, [file(`turns/${w}-${n}`, "x")])])).moved) {
              await sleep(w * PLANNING_MS);
            }
          }
        }),
      );
      expect(await store.listTree("t/main", { under: ["turns"] })).toHaveLength(100);
      expect(await store.readLog({ from: "t/main" })).toHaveLength(101);
      await Promise.all(writers.map((writer) => writer.close()));
    });
  });
}

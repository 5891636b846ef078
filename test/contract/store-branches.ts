// Branches of the store contract: naming, listing, activating, resolving.
import { describe, expect, it } from "vitest";
import type { ConversationStore } from "../../src/store/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { eachStore, type StoreUnderTest } from "./store-under-test.ts";

/** Declares these tests for one engine. */
export function testBranches(engine: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${engine} store: branches`, () => {
    let store: ConversationStore;
    eachStore(open, (opened) => {
      store = opened.store;
    });

    it("starts with no branches and an active branch without a commit", async () => {
      expect(await store.listBranches()).toEqual([]);
      expect(await store.readActiveBranch()).toBe("main");
      expect(await store.readBranch("main")).toBeNull();
      expect(await store.resolveCommit("HEAD")).toBeNull();
    });

    it("lists branches by name and reads them", async () => {
      const b = await append(store, "talk-b/main", [commit("b", [file("a", "b")])]);
      const a = await append(store, "talk-a/main", [commit("a", [file("a", "a")])]);
      expect(await store.listBranches()).toEqual([
        { name: "talk-a/main", commit: a.commit },
        { name: "talk-b/main", commit: b.commit },
      ]);
      expect(await store.readBranch("talk-b/main")).toBe(b.commit);
      expect(await store.readBranch("talk-b")).toBeNull();
    });

    it("lists the branches that hold a commit", async () => {
      const { commits } = await append(store, "talk/main", [
        commit("a", [file("a", "a")]),
        commit("b", [file("b", "b")]),
      ]);
      const [first = "", second = ""] = commits;
      await store.createBranch("talk/early", first);
      await append(store, "other/main", [commit("c", [file("c", "c")])]);
      const holding = async (oid: string) => (await store.listBranchesWith(oid)).map(({ name }) => name);
      expect(await holding(first)).toEqual(["talk/early", "talk/main"]);
      expect(await holding(second)).toEqual(["talk/main"]);
    });

    it("creates a branch at a commit once", async () => {
      const { commit: tip } = await append(store, "talk/main", [commit("a", [file("a", "a")])]);
      expect(await store.createBranch("talk/fork", tip)).toBe(true);
      expect(await store.createBranch("talk/fork", tip)).toBe(false);
      expect(await store.readBranch("talk/fork")).toBe(tip);
    });

    it("refuses a name that git does not accept", async () => {
      await expect(store.createBranch("bad..name", "0".repeat(40))).rejects.toMatchObject({ code: "bad_branch_name" });
      await expect(store.readBranch("-x")).rejects.toMatchObject({ code: "bad_branch_name" });
    });

    it("makes a branch active", async () => {
      await append(store, "talk/main", [commit("a", [file("conversation.json", "{}")])]);
      const other = await append(store, "talk/other", [commit("b", [file("conversation.json", "{1}")])]);
      await store.useBranch("talk/main");
      expect(await store.readActiveBranch()).toBe("talk/main");
      await store.useBranch("talk/other");
      expect(await store.readActiveBranch()).toBe("talk/other");
      expect(await store.resolveCommit("HEAD")).toBe(other.commit);
      await expect(store.useBranch("talk/none")).rejects.toMatchObject({ code: "branch_missing" });
    });

    it("resolves branches, ids, unique prefixes and ancestors", async () => {
      const { commits } = await append(store, "talk/main", [
        commit("a", [file("a", "a")]),
        commit("b", [file("b", "b")]),
      ]);
      const [first = "", second = ""] = commits;
      expect(await store.resolveCommit("talk/main")).toBe(second);
      expect(await store.resolveCommit(second)).toBe(second);
      expect(await store.resolveCommit(second.slice(0, 10))).toBe(second);
      expect(await store.resolveCommit("talk/main~1")).toBe(first);
      expect(await store.resolveCommit("talk/main~2")).toBeNull();
      for (const none of ["nothing", "", "a\nb", "-x", "f".repeat(40)])
        expect(await store.resolveCommit(none)).toBeNull();
    });
  });
}

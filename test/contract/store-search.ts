// Finding text in the store contract: bytes of files at commits, under folders, whatever the text looks like.
import { describe, expect, it } from "vitest";
import type { ConversationStore } from "../../src/store/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { eachStore, type StoreUnderTest } from "./store-under-test.ts";

/** Declares these tests for one engine. */
export function testSearch(engine: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${engine} store: finding text`, () => {
    let store: ConversationStore;
    eachStore(open, (opened) => {
      store = opened.store;
    });
    const find = async (
      commits: readonly string[],
      texts: readonly string[],
      how: { readonly under?: readonly string[]; readonly ignoreCase?: boolean } = {},
    ): Promise<readonly (readonly [string, readonly string[]])[]> => [
      ...(await store.findText(commits, { texts, under: ["turns"], ...how })),
    ];

    it("finds the files of each commit that hold one of the texts, under the folders asked for", async () => {
      const { commit: one } = await append(store, "a/main", [
        commit("one", [file("turns/1", "the tide\nrises"), file("turns/0", "a tide"), file("meta/1", "tide")], 0),
      ]);
      const { commit: two } = await append(store, "b/main", [
        commit("two", [file("turns/1", "the wall"), file("turns/2", "x")], 1),
      ]);
      expect(await find([one, two], ["tide"])).toEqual([[one, ["turns/0", "turns/1"]]]);
      expect(await find([one, two], ["rises", "wall"])).toEqual([
        [one, ["turns/1"]],
        [two, ["turns/1"]],
      ]);
      expect(await find([one], ["tide"], { under: ["turns", "meta"] })).toEqual([
        [one, ["meta/1", "turns/0", "turns/1"]],
      ]);
    });

    it("gives nothing for what is not there, for no texts, and for no commits", async () => {
      const { commit: one } = await append(store, "a/main", [commit("one", [file("turns/0", "tide")], 0)]);
      expect(await find([one], ["wave"])).toEqual([]);
      expect(await find([one], [])).toEqual([]);
      expect(await find([], ["tide"])).toEqual([]);
    });

    it("takes a text as it is: dashes, dots, brackets, quotes, characters beyond ASCII", async () => {
      const odd = String.raw`-e x.*[y] "\" → ä {`;
      const { commit: one } = await append(store, "a/main", [
        commit("one", [file("turns/ä b", `1 ${odd} 2`), file("turns/1", "xzy")], 0),
      ]);
      for (const text of [odd, "-e", ".*", "[y]", '"\\"', "→", "ä"]) {
        expect(await find([one], [text]), text).toEqual([[one, ["turns/ä b"]]]);
      }
    });

    it("distinguishes upper and lower case unless asked not to", async () => {
      const { commit: one } = await append(store, "a/main", [commit("one", [file("turns/0", "The Tide")], 0)]);
      expect(await find([one], ["the tide"])).toEqual([]);
      expect(await find([one], ["the tIDE"], { ignoreCase: true })).toEqual([[one, ["turns/0"]]]);
    });

    it("looks into files that hold a zero byte too", async () => {
      const { commit: one } = await append(store, "a/main", [commit("one", [file("turns/0", "a\0tide")], 0)]);
      expect(await find([one], ["tide"])).toEqual([[one, ["turns/0"]]]);
    });
  });
}

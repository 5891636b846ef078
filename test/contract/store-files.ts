// Files of the store contract: what is written comes back, by the byte.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationStore } from "../../src/store/store.ts";
import { runs } from "../helpers/runs.ts";
import { append, commit, file, readAll, readText } from "../helpers/store-writes.ts";
import { eachStore, type StoreUnderTest } from "./store-under-test.ts";

/** Declares these tests for one engine. */
export function testFiles(engine: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${engine} store: files`, () => {
    let store: ConversationStore;
    eachStore(open, (opened) => {
      store = opened.store;
    });

    const odd = [
      "plain.txt",
      "ünï/çödé 文.jsonl",
      'quo"te',
      "new\nline",
      "tab\there",
      " lead",
      "trail ",
      "-dash",
      "sources/s 1/files/a&b (c).txt",
      "a.b/c",
      "a/b",
    ];

    it("keeps unicode and odd paths, in path order", async () => {
      const { commit: at } = await append(store, "talk/main", [
        commit(
          "odd",
          odd.map((path) => file(path, `content of ${path}`)),
        ),
      ]);
      const files = await store.listTree(at);
      const sorted = [...odd].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(files.map(({ path }) => path)).toEqual(sorted);
      const contents = await readAll(
        store,
        files.map(({ oid }) => oid),
      );
      expect(contents.map(String)).toEqual(sorted.map((path) => `content of ${path}`));
      expect((await store.readEntries(at, odd)).size).toBe(odd.length);
    });

    it("keeps bytes as they are: empty, binary, no final line end", async () => {
      const cases = [Buffer.alloc(0), Buffer.from([0, 255, 10, 13, 10, 0]), Buffer.from("no end"), Buffer.from("\n\n")];
      const { commit: at } = await append(store, "talk/main", [
        commit(
          "b",
          cases.map((bytes, i) => ({ path: `f${i}`, bytes })),
        ),
      ]);
      const files = await store.listTree(at, { sizes: true });
      expect(files.map(({ size }) => size)).toEqual([0, 6, 6, 2]);
      expect(
        await readAll(
          store,
          files.map(({ oid }) => oid),
        ),
      ).toEqual(cases);
    });

    it("keeps a file of 10 MB", async () => {
      const bytes = Buffer.alloc(10 * 1024 * 1024);
      for (let i = 0; i < bytes.length; i += 7) bytes[i] = (i * 31) & 255;
      const { commit: at } = await append(store, "talk/main", [commit("big", [{ path: "big", bytes }])]);
      const [read] = await readAll(store, [(await store.readEntries(at, ["big"])).get("big") ?? ""]);
      expect(read?.equals(bytes)).toBe(true);
    });

    it("lists only what is asked for", async () => {
      const paths = [
        "conversation.json",
        "turns/0000/000000.jsonl",
        "turns/0001/000100.jsonl",
        "turnsx/a",
        "compactions/c.jsonl",
      ];
      const { commit: at } = await append(store, "talk/main", [
        commit(
          "t",
          paths.map((path) => file(path, path)),
        ),
      ]);
      const list = async (...under: string[]): Promise<string[]> =>
        (await store.listTree(at, { under })).map(({ path }) => path);
      expect(await list("turns")).toEqual(["turns/0000/000000.jsonl", "turns/0001/000100.jsonl"]);
      expect(await list("turns/0001", "compactions")).toEqual(["compactions/c.jsonl", "turns/0001/000100.jsonl"]);
      expect(await list("turns", "turns/0001")).toEqual(["turns/0000/000000.jsonl", "turns/0001/000100.jsonl"]);
      expect(await list("none")).toEqual([]);
      expect((await store.listTree(at, { under: ["turns"], sizes: true })).map(({ size }) => size)).toEqual([23, 23]);
    });

    it("reads entries of files and folders and leaves absent ones out", async () => {
      const { commit: at } = await append(store, "talk/main", [commit("t", [file("a/b/c", "1"), file("d", "2")])]);
      const entries = await store.readEntries(at, ["a/b/c", "a/b", "d", "a/x", "d/x", "e"]);
      expect([...entries.keys()]).toEqual(["a/b/c", "a/b", "d"]);
    });

    it("says which object is missing", async () => {
      await append(store, "talk/main", [commit("t", [file("a", "1")])]);
      const missing = "1234".repeat(10);
      await expect(readAll(store, [missing])).rejects.toMatchObject({ kind: "repository", code: "object_missing" });
      await expect(store.listTree(missing)).rejects.toMatchObject({ code: "object_missing" });
      expect(await readText(store, "talk/main", "a")).toBe("1");
    });

    it("gives contents in the order asked, also when readers overlap and stop early", async () => {
      const text = (n: number): string => String(n).repeat(1 + (n % 50));
      const changes = Array.from({ length: 300 }, (_, i) => file(`f/${i}`, text(i)));
      const { commit: at } = await append(store, "talk/main", [commit("many", changes)]);
      const files = (await store.listTree(at)).map(({ path, oid }) => ({ n: Number(path.slice(2)), oid }));
      const asked = [...files, ...[...files].reverse()];
      const readFirst = async (): Promise<void> => {
        for await (const bytes of store.readBlobs(files.map(({ oid }) => oid))) {
          expect(Buffer.from(bytes).toString()).toBe(text(files[0]?.n ?? -1));
          break;
        }
      };
      const seen: string[] = [];
      for await (const bytes of store.readBlobs(asked.map(({ oid }) => oid))) {
        if (seen.length % 100 === 0) await readFirst();
        seen.push(Buffer.from(bytes).toString());
      }
      expect(seen).toEqual(asked.map(({ n }) => text(n)));
      expect(store.objectsRead).toBeGreaterThanOrEqual(600);
    });

    it("gives back what was written, whatever it was", async () => {
      const path = fc.stringMatching(/^[a-zé "']{1,8}(\/[a-z.0-9]{0,3}[a-z0-9]){0,2}$/).filter((p) => !p.includes("."));
      let n = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.dictionary(path, fc.uint8Array({ maxLength: 200 }), { minKeys: 1, maxKeys: 8 }),
          async (tree) => {
            const entries = Object.entries(tree).filter(([p]) => !Object.keys(tree).some((q) => q.startsWith(`${p}/`)));
            const { commit: at } = await append(store, `random/${n++}`, [
              commit(
                "r",
                entries.map(([p, bytes]) => ({ path: p, bytes })),
              ),
            ]);
            const files = await store.listTree(at);
            const contents = await readAll(
              store,
              files.map(({ oid }) => oid),
            );
            expect(Object.fromEntries(files.map((f, i) => [f.path, contents[i]]))).toEqual(
              Object.fromEntries(entries.map(([p, bytes]) => [p, Buffer.from(bytes)])),
            );
          },
        ),
        { numRuns: runs(15) },
      );
    });
  });
}

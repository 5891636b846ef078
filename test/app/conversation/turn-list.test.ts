import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listTurnOids, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { turnPath } from "../../../src/core/conversation/turn-file.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import { cacheFolder } from "../../../src/store/git-dir.ts";
import type { ConversationStore, FileChange } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { createTempStore, type TempStore } from "../../helpers/temp-repository.ts";

const BY = { name: "Ada Test", email: "ada@example.com", seconds: 1_900_000_000 };
const HEADER = Buffer.from('{"format":1,"id":"t","title":"t","created_at":"","source":null}\n');

const turns = (from: number, to: number, text = "turn"): FileChange[] =>
  Array.from({ length: to - from }, (_, index) => ({
    path: turnPath(from + index),
    bytes: Buffer.from(`${text} ${from + index}\n`),
  }));

async function commit(store: ConversationStore, branch: string, changes: readonly FileChange[]): Promise<string> {
  const parent = await store.readBranch(branch);
  const all = parent === null ? [{ path: "conversation.json", bytes: HEADER }, ...changes] : changes;
  const commits = [{ message: "turns\n", author: BY, committer: BY, changes: all }];
  const [written] = await store.write([{ branch, expected: parent, parent, commits }]);
  return written!.commit;
}

/** What git lists, position by position. */
async function listed(store: ConversationStore, at: string): Promise<string[]> {
  return (await store.listTree(at, { under: ["turns"] })).map(({ oid }) => oid);
}

describe("the list of turns", () => {
  let temp: TempStore;
  const opened: ConversationStore[] = [];
  const open = async (): Promise<ConversationStore> => {
    const store = await openNativeStore({ root: temp.root, env: temp.env });
    opened.push(store);
    return store;
  };
  const folder = (): string => cacheFolder(opened[0]!.gitDir);

  beforeAll(async () => {
    temp = await createTempStore();
    await open();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    temp.remove();
  });

  it("is what git lists, the first time and from the cache", async () => {
    const at = await commit(await open(), "long/main", turns(0, 6543));
    const expected = await listed(await open(), at);
    expect(expected).toHaveLength(6543);
    expect(await listTurnOids(await open(), at)).toEqual(expected);
    for (const isKept of [false, true]) {
      const store = await open();
      expect((await loadBranchTree(store, "long/main", at)).turnOids).toEqual(expected);
      // The root, and conversation.json.
      if (isKept) expect(store.objectsRead).toBe(2);
    }
  });

  it("follows turns that are added, and old turns that differ", async () => {
    const first = await commit(await open(), "grown/main", turns(0, 250));
    await loadBranchTree(await open(), "grown/main", first);
    const grown = await commit(await open(), "grown/main", turns(250, 420));
    const other = await commit(await open(), "grown/main", turns(120, 121, "rewritten"));
    for (const at of [grown, other, first, grown, other]) {
      const { turnOids } = await loadBranchTree(await open(), "grown/main", at);
      expect(turnOids).toEqual(await listed(await open(), at));
    }
  });

  it("is right when the cache is cut, damaged or cannot be written", async () => {
    const at = await commit(await open(), "hurt/main", turns(0, 300));
    const expected = await listed(await open(), at);
    const load = async () => (await loadBranchTree(await open(), "hurt/main", at)).turnOids;
    await load();
    for (const name of readdirSync(folder())) {
      const file = join(folder(), name);
      const whole = readFileSync(file);
      const flipped = Buffer.from(whole);
      flipped[100] = (flipped[100] ?? 0) ^ 1;
      for (const bytes of [whole.subarray(0, 4100), flipped, Buffer.from("nonsense"), Buffer.alloc(0)]) {
        writeFileSync(file, bytes);
        expect(await load()).toEqual(expected);
      }
    }
    rmSync(folder(), { recursive: true });
    writeFileSync(folder(), "in the way");
    expect(await load()).toEqual(expected);
    rmSync(folder());
  });

  it("skips what is not a turn", async () => {
    const stray = { path: "turns/0000/note.txt", bytes: Buffer.from("mine\n") };
    const at = await commit(await open(), "odd/main", [...turns(0, 150), stray]);
    expect(await listTurnOids(await open(), at)).toHaveLength(150);
  });

  it("shows a missing turn and a missing directory, which loading the branch finds in history", async () => {
    const store = await open();
    await commit(store, "gap/main", turns(0, 320));
    const gap = await commit(store, "gap/main", [{ path: turnPath(205), remove: true }]);
    expect((await listTurnOids(store, gap)).indexOf(undefined)).toBe(205);
    const tree = await loadBranchTree(store, "gap/main", gap);
    expect([tree.turnOids.length, tree.turnOids.includes("")]).toEqual([320, false]);
    expect(tree.missing).toMatchObject([{ turn: 205, removedBy: gap }]);
    const lost = turns(0, 100).map(({ path }) => ({ path, remove: true as const }));
    const folderGap = await commit(store, "gap/main", lost);
    const { missing = [] } = await loadBranchTree(store, "gap/main", folderGap);
    expect(missing.map(({ turn }) => turn)).toEqual([...Array.from({ length: 100 }, (_, turn) => turn), 205]);
  });

  it("needs no git dir on disk", async () => {
    const store = await createMemoryStore();
    const at = await commit(store, "m/main", turns(0, 105));
    expect(await listTurnOids(store, at)).toEqual(await listed(store, at));
    expect(await listTurnOids(store, await commit(store, "empty/main", []))).toEqual([]);
  });
});

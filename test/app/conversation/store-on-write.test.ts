import { describe, expect, it } from "vitest";
import { createStoreOnWrite } from "../../../src/app/conversation/workspace.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";

function createCounted() {
  const count = { made: 0 };
  const store = createStoreOnWrite("/nowhere", "native", () => {
    count.made++;
    return createMemoryStore();
  });
  return { store, count };
}

describe("a store that is made by its first write", () => {
  it("is empty before it, and neither reading nor an empty write makes it", async () => {
    const { store, count } = createCounted();
    expect(await store.listBranches()).toEqual([]);
    expect(await store.readBranch("a/main")).toBeNull();
    expect(await store.readActiveBranch()).toBeNull();
    expect(await store.resolveCommit("HEAD")).toBeNull();
    expect(await store.write([])).toEqual([]);
    await store.close();
    expect({ ...count, worktrees: store.worktrees, read: store.objectsRead }).toEqual({
      made: 0,
      worktrees: null,
      read: 0,
    });
  });

  it("is made once, and holds all that was written", async () => {
    const { store, count } = createCounted();
    const first = await append(store, "a/main", [commit("one", [file("a", "1")])]);
    const second = await append(store, "a/main", [commit("two", [file("b", "2")])]);
    expect(count.made).toBe(1);
    expect(await store.readBranch("a/main")).toBe(second.commit);
    expect((await store.readLog({ from: second.commit })).map((entry) => entry.commit)).toEqual([
      second.commit,
      first.commit,
    ]);
  });

  it("is not made when what would be written fails before anything is there", async () => {
    const { store, count } = createCounted();
    async function* failing(): AsyncGenerator<never> {
      yield* [];
      throw new Error("no session");
    }
    await expect(store.write(failing())).rejects.toThrow("no session");
    expect(count.made).toBe(0);
  });
});

import { expect, it } from "vitest";
import { withCachedLog } from "../../../src/app/conversation/engine.ts";
import type { LogQuery } from "../../../src/store/store.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { append, commit, file } from "../../helpers/store-writes.ts";

it("reads the log of a commit once, that of a name or another query each time, and passes on the rest of the store", async () => {
  const store = await createMemoryStore();
  const { commit: tip } = await append(store, "a/main", [commit("one", [file("a", "1")])]);
  const asked: LogQuery[] = [];
  const counted = Object.create(store, {
    readLog: {
      value: (query: LogQuery) => {
        asked.push(query);
        return store.readLog(query);
      },
    },
  }) as typeof store;
  const remembered = withCachedLog(counted);
  const log = await remembered.readLog({ from: tip, paths: ["a"] });
  expect(await remembered.readLog({ from: tip, paths: ["a"] })).toBe(log);
  await remembered.readLog({ from: tip });
  await remembered.readLog({ from: "a/main" });
  await remembered.readLog({ from: "a/main" });
  expect(asked.map(({ from }) => from)).toEqual([tip, tip, "a/main", "a/main"]);
  expect(await remembered.readBranch("a/main")).toBe(tip);
  expect(remembered.objectsRead).toBe(store.objectsRead);
});

// Printing some turns reads those and no others.

import { expect, it } from "vitest";
import { loadTip } from "../../../src/app/conversation/tree.ts";
import { renderPrinted } from "../../../src/app/look/print.ts";
import { parseRange } from "../../../src/core/conversation/range-bound.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes } from "../../helpers/workspace.ts";

it("reads only the turns that are printed of the full history", async () => {
  const workspace = await createMemoryWorkspace();
  const { branch } = await importBytes(workspace, buildSession(plainTurns(40)).text());
  const tree = (await loadTip(workspace.store, branch))!;
  const read: string[] = [];
  const { store } = workspace;
  const counting: ConversationStore = new Proxy(store, {
    get: (of, key) =>
      key === "readBlobs"
        ? (oids: readonly string[], atLeast?: number) => {
            read.push(...oids);
            return store.readBlobs(oids, atLeast);
          }
        : Reflect.get(of, key, of),
  });
  const request = { compacted: false, format: "jsonl", turns: parseRange("30..31") } as const;
  const some = await renderPrinted({ ...workspace, store: counting }, tree, request);
  expect(read).toEqual(tree.turnOids.slice(30, 32));
  const all = await renderPrinted(workspace, tree, { compacted: false, format: "jsonl" });
  expect(all).toContain(some);
});

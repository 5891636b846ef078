// The bytes of turns are summed of all files once; then full directories are known, wherever they stand, and in no other store.

import { afterEach, beforeEach, expect, it } from "vitest";
import { sumTurnBytes } from "../../../src/app/conversation/caches.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import type { ConversationStore } from "../../../src/store/store.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

/** The sum, what listing all files gives, and the folders that were listed for it. */
async function look(
  branch: string,
): Promise<{ readonly bytes: number; readonly all: number; readonly listed: unknown }> {
  const { store } = workspace;
  const listed: unknown[] = [];
  const spied = Object.create(store, {
    listTree: {
      value: (...asked: Parameters<ConversationStore["listTree"]>) => {
        listed.push(asked[1]?.under);
        return store.listTree(...asked);
      },
    },
  }) as ConversationStore;
  const tree = await loadBranchTree(store, branch, await tipOf(workspace, branch));
  const bytes = await sumTurnBytes(spied, tree);
  const files = await store.listTree(tree.commit, { under: ["turns"], sizes: true });
  return { bytes, all: files.reduce((sum, { size = 0 }) => sum + size, 0), listed };
}

it("lists every directory once, then the newest", { tags: ["slow"] }, async () => {
  const { branch } = await importBytes(workspace, buildSession(plainTurns(203)).text());
  const first = await look(branch);
  expect(first.bytes).toBe(first.all);
  expect(first.listed).toEqual([["turns/0000", "turns/0001", "turns/0002"]]);
  const again = await look(branch);
  expect(again.bytes).toBe(first.all);
  expect(again.listed).toEqual([["turns/0002"]]);
  await importBytes(workspace, buildSession(plainTurns(300)).text());
  const grown = await look(branch);
  expect(grown.bytes).toBe(grown.all);
  expect(grown.listed).toEqual([["turns/0002"]]);
  expect((await look(branch)).listed).toEqual([]);
});

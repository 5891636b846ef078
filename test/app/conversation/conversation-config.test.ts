import { expect, it } from "vitest";
import { loadConversationConfig } from "../../../src/app/conversation/marks.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { createMemoryWorkspace, importBytes, tipOf } from "../../helpers/workspace.ts";

it("lists the settings of a conversation one by one only when asked for them", async () => {
  const workspace = await createMemoryWorkspace();
  const { branch } = await importBytes(workspace, smallSession());
  let listings = 0;
  const counted = async () => {
    const loaded = await workspace.config();
    return Object.defineProperty(loaded, "values", {
      get() {
        listings += 1;
        return new Map([["keep_last", 7]]);
      },
    });
  };
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const settings = await loadConversationConfig({ ...workspace, config: counted }, tree);
  expect(settings.config.conversation.compaction.keep_last).toBeGreaterThan(0);
  expect(listings).toBe(0);
  expect([...settings.values]).toEqual([["keep_last", 7]]);
});

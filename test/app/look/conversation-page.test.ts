// What the turns of a page cost: what `jpg stats --anatomy` says of them.

import { afterEach, beforeEach, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { readAnatomy } from "../../../src/app/look/anatomy.ts";
import { readConversationPage } from "../../../src/app/look/conversation-page.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

it("is the price of the requests that were counted, null where it is not known, and counts an answer once", async () => {
  const writer = createClaudeWriter();
  const say = (id: string, model: string, text: string, output: number | null): void => {
    const counts = { input_tokens: 1000, cache_read_input_tokens: 100_000, cache_creation_input_tokens: 0 };
    const usage = output === null ? {} : { usage: { ...counts, output_tokens: output } };
    const message = { id, type: "message", role: "assistant", model, content: [{ type: "text", text }], ...usage };
    writer.node({ type: "assistant", message });
  };
  const sonnet = "claude-sonnet-4-5-20250929";
  writer.prompt("one");
  say("msg_0", sonnet, "begun", 50);
  say("msg_0", sonnet, "and done", 50);
  writer.prompt("two");
  say("msg_1", "claude-of-nobody-9", "two", 50);
  writer.prompt("three");
  say("msg_2", sonnet, "three", null);
  writer.prompt("four");
  say("msg_3", "<synthetic>", "API Error: overloaded", null);
  say("msg_4", sonnet, "four", 100);
  const { branch } = await importBytes(workspace, sessionBytes(writer.lines));
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const { turns } = await readConversationPage(workspace, tree);
  const price = (output: number): number => 0.003 + 0.03 + output * 0.000015;
  expect(turns.map(({ cost }) => cost)).toEqual([
    expect.closeTo(price(50), 6),
    null,
    null,
    expect.closeTo(price(100), 6),
  ]);
  const { by_turn } = await readAnatomy(workspace, tree);
  expect(turns.map(({ cost }) => cost)).toEqual(by_turn.map(({ recorded }) => recorded?.price_usd ?? null));
});

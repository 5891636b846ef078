import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadTurns } from "../../../src/app/conversation/view.ts";
import { show } from "../../../src/app/look/show.ts";
import type { Policies } from "../../../src/core/conversation/policy.ts";
import { buildSession } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const RESPONSES: Policies = { tool_calls: { policy: "strip", request: false, response: true } };

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

describe("show of an event", () => {
  it("names the newest of two compactions that read it alike", async () => {
    const session = buildSession(["prompt", { tools: 1 }, "say", "prompt", { tools: 1 }, "say"]);
    const { branch } = await importBytes(workspace, session.text());
    const tree = async () => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
    const compactKeeping = async (keep: number) =>
      compact(workspace, await tree(), {
        range: { keep },
        policies: RESPONSES,
        dryRun: false,
        fork: false,
        activate: false,
      });
    await compactKeeping(1);
    const newest = await compactKeeping(0);
    const turns = await loadTurns(workspace.store, await tree());
    const result = turns.get(0)?.events.find((event) => event.type === "tool_call_response");
    const shown = await show(workspace, result?.id);
    expect(shown).toMatchObject({ kind: "event", state: "changed", compaction: newest.compaction?.id });
  });
});

// The notice in what agents are handed: their file has it once, and comes back as the same conversation, with it and without.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { draftSession } from "../../../src/app/import/export.ts";
import { exportSessionId } from "../../../src/app/names/find-session.ts";
import { resumingAgents } from "../../../src/app/sessions/session-registry.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { formatCompactionLine, recordPath } from "../../../src/core/conversation/compaction-line.ts";
import { surveyedSession } from "../../helpers/surveyed-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const NOTICE = "are kept but not shown here";
let workspace: GitWorkspace;
let branch: string;

beforeAll(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, surveyedSession({ turns: 8, resultChars: 4000, isOpen: true })));
});
afterAll(() => removeWorkspace(workspace));

const treeOf = async () => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

/** What is done to the conversation before it is handed on, one after the other. */
const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  "tools stripped, with an index": async () =>
    compact(workspace, await treeOf(), {
      range: {},
      strategies: choosePipelines(["strip-tools"]),
      dryRun: false,
      activate: false,
    }),
  "both halves stripped, with heads in the stubs": async () => {
    const tip = await tipOf(workspace, branch);
    const made: Compaction = {
      type: "compaction",
      id: "headed",
      timestamp: "2027-05-01T00:00:00.000Z",
      from_turn: 0,
      to_turn: 5,
      tool_calls: { policy: "strip", request: true, response: true },
      stubs: { heads: true, first_line: true },
      needs: ["heads"],
    };
    const bytes = Buffer.from(`${formatCompactionLine(made, [])}\n`);
    const changes = [{ path: recordPath("compactions", made.timestamp, made.id), bytes }];
    const author = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
    const commits = [{ message: "compact\n", author, committer: author, changes }];
    await workspace.store.write([{ branch, expected: tip, parent: tip, commits }]);
  },
  "a summary of the first turns": async () =>
    compact(workspace, await treeOf(), {
      range: { to: { type: "turn", turn: 3 } },
      summary: { summary: "Berths 0 to 3 are surveyed.", source: "authored" },
      dryRun: false,
      activate: false,
    }),
  "everything left out": async () =>
    compact(workspace, await treeOf(), {
      range: { keep: 0 },
      policies: { turns: "omit" },
      index: false,
      force: true,
      dryRun: false,
      activate: false,
    }),
};

describe.each(Object.entries(STEPS))("after %s", (name, step) => {
  beforeAll(step);

  it.each(resumingAgents().map((agent) => [agent.name, agent] as const))(
    "a session for %s has the notice and comes back unchanged",
    async (_name, agent) => {
      const tree = await treeOf();
      for (const notice of [true, false]) {
        const draft = await draftSession(workspace, tree, {
          agent,
          sessionId: exportSessionId(agent, tree, 0),
          notice,
        });
        const text = agent.write.write(draft);
        expect(text.includes(NOTICE)).toBe(notice);
        if (name.includes("heads")) expect(text).toMatch(/\[compacted\] \w+: success\\n\{/);
        expect(await importBytes(workspace, Buffer.from(text))).toMatchObject({
          status: "unchanged",
          branch,
          turns: tree.turnOids.length,
        });
      }
    },
  );
});

// The notice in what agents are handed: their file has it once, and comes back as the same conversation, with it and without.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/branch/branch-tree.ts";
import { compact } from "../../../src/app/compact/compact.ts";
import { draftSession, exportSessionId } from "../../../src/app/export/export.ts";
import { resumingAgents } from "../../../src/app/sessions/session-registry.ts";
import { choosePipelines } from "../../../src/core/strategies/pipelines.ts";
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

describe.each(Object.entries(STEPS))("after %s", (_, step) => {
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
        expect(text.split(NOTICE)).toHaveLength(notice ? 2 : 1);
        expect(await importBytes(workspace, Buffer.from(text))).toMatchObject({
          status: "unchanged",
          branch,
          turns: tree.turnOids.length,
        });
      }
    },
  );
});

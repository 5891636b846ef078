// What an agent offers its model, recorded by imports: once a change, also for a session that an earlier jpg brought in.
import { beforeEach, describe, expect, it } from "vitest";
import { commitChange } from "../../../src/app/conversation/append.ts";
import { loadConversationConfig } from "../../../src/app/conversation/marks.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { readToolDefinitions } from "../../../src/app/conversation/view.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { buildSession, type SessionStep } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const STEPS: readonly SessionStep[] = [
  ...(["prompt", { offers: 2 }, "say", "prompt", { offers: 2 }, "say"] as const),
  ...(["prompt", { offers: 3 }, "say", "prompt", "say"] as const),
];

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
});

const bringIn = async (steps: readonly SessionStep[]) => importBytes(workspace, buildSession(steps).text());
const treeOf = async (branch: string): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function toolsOf(tree: BranchTree): Promise<string> {
  const { tools } = await loadConversationConfig(workspace, tree);
  const definitions = await readToolDefinitions(workspace.store, tree, tools ?? []);
  expect(definitions.map(({ name }) => name)).toEqual((tools ?? []).map(({ name }) => name));
  return definitions.map(({ name, description }) => `${name}: ${description}`).join(" ");
}

const TWO = "Bash: Does Bash. Read: Does Read.";
const THREE = `${TWO} Write: Does Write.`;

describe("an import", () => {
  it("records tools once a change, from the turn on that lists them, and ignores no setting for it", async () => {
    const { branch } = await bringIn(STEPS);
    const tree = await treeOf(branch);
    expect(tree.configs).toHaveLength(2);
    expect(await toolsOf(tree)).toBe(THREE);
    expect(await toolsOf({ ...tree, atTurn: 1 })).toBe(TWO);
    expect((await loadConversationConfig(workspace, tree)).ignored).toEqual([]);
  });

  it("records what holds already with the next turn of a session that an earlier jpg brought in", async () => {
    const { branch } = await bringIn(STEPS.slice(0, 6));
    const remove = (await treeOf(branch)).configs.map(({ path }) => ({ path, remove: true as const }));
    await commitChange(workspace, await treeOf(branch), async () => ({
      message: "old\n",
      changes: remove,
      sign: false,
    }));
    expect(await toolsOf(await treeOf(branch))).toBe("");
    const grown = [...STEPS.slice(0, 6), "prompt", "say"] as const;
    expect(await bringIn(grown)).toMatchObject({ status: "updated", branch, turns: 3 });
    expect(await toolsOf(await treeOf(branch))).toBe(TWO);
  });

  it("gives forks of the first turns the tools of these", async () => {
    const { branch } = await bringIn(STEPS);
    const fork = await forkConversation(workspace, await treeOf(branch), { first: 2, activate: false });
    expect(await toolsOf(await treeOf(fork.branch))).toBe(TWO);
  });
});

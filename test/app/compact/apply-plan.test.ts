import { beforeEach, describe, expect, it } from "vitest";
import { describeGrowth } from "../../../src/app/compact/compact-report.ts";
import { applyPlan } from "../../../src/app/compact/edit.ts";
import { offerPlan } from "../../../src/app/compact/edit-plan.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { type EditVerb, printPlan } from "../../../src/core/compact/edit-plan.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: TestWorkspace;
let branch: string;
beforeEach(async () => {
  workspace = await createMemoryWorkspace();
  ({ branch } = await importBytes(workspace, buildSession(plainTurns(5)).text()));
});

const here = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function planOf(verbs: Readonly<Record<string, EditVerb>>): Promise<string> {
  const { base, items } = await offerPlan(workspace, await here(), { calls: false });
  return printPlan({ base, lines: items.map(({ place, verb }) => ({ place, verb: verbs[place] ?? verb })) });
}

/** A workspace in which something else happens right before the first commit. */
function racing(first: () => Promise<unknown>): TestWorkspace {
  let isDone = false;
  const { store } = workspace;
  const write: typeof store.write = async (writes) => {
    if (!isDone) {
      isDone = true;
      await first();
    }
    return store.write(writes);
  };
  return { ...workspace, store: Object.create(store, { write: { value: write } }) };
}

const grow = (): Promise<unknown> => importBytes(workspace, buildSession(plainTurns(7)).text());
const request = { dryRun: false, model: "extractive", force: true };
const origins = async (): Promise<readonly string[]> => {
  const { view } = await loadView(workspace.store, await here());
  return view.turns.map(({ origin }) => (origin.kind === "kept" ? `${origin.turn}` : `${origin.from}..${origin.to}`));
};

describe("a plan whose branch moves while it is followed", () => {
  it("keeps the summaries that were written, and what came since as it is", async () => {
    const plan = await planOf({ 0: "summarise", 1: "summarise", 3: "omit" });
    const report = await applyPlan(racing(grow), await here(), plan, request);
    expect(report.commit).toBe(await tipOf(workspace, branch));
    expect(await origins()).toEqual(["0..1", "2", "4", "5", "6"]);
  });

  it("is refused where nothing was written for it, and commits nothing", async () => {
    const plan = await planOf({ 3: "omit" });
    await expect(applyPlan(racing(grow), await here(), plan, request)).rejects.toMatchObject({
      code: "plan_moved",
      message: expect.stringContaining("2 commits were added: turn 5"),
    });
    expect(await origins()).toEqual(["0", "1", "2", "3", "4", "5", "6"]);
  });

  it("names what was added by whole words: no number is cut in two", async () => {
    const plan = await planOf({ 3: "omit" });
    const subject = `compact 0..1: ${"reasoning + tools stripped, ".repeat(2)}(84.2k → 1234567 tokens)`;
    const compact = async (): Promise<unknown> => {
      const tip = await tipOf(workspace, branch);
      const author = { name: "Ada", email: "ada@example.com", seconds: 1775000000 };
      const changes = [{ path: "config/20260501T000000.000Z-c1.jsonl", bytes: Buffer.from("{}\n") }];
      const commits = [{ message: `${subject}\n`, author, committer: author, changes }];
      return workspace.store.write([{ branch, expected: tip, parent: tip, commits }]);
    };
    const moved = applyPlan(racing(compact), await here(), plan, request);
    await expect(moved).rejects.toMatchObject({
      code: "plan_moved",
      message: expect.stringContaining("tools stripped, (84.2k → …"),
    });
  });

  it("is refused if what it changes no longer exists", async () => {
    const plan = await planOf({ 0: "summarise", 3: "omit" });
    const other = await planOf({ 3: "omit" });
    const omit = async (): Promise<unknown> => applyPlan(workspace, await here(), other, request);
    await expect(applyPlan(racing(omit), await here(), plan, request)).rejects.toMatchObject({ code: "plan_moved" });
    expect(await origins()).toEqual(["0", "1", "2", "4"]);
  });
});

describe("a plan that makes the view larger", () => {
  it("is refused as its dry run is, and followed if forced", async () => {
    const plan = await planOf({ 0: "summarise", 1: "summarise" });
    const before = await tipOf(workspace, branch);
    const message = expect.stringMatching(/^The plan would make the view grow (by|from) .*\.$/);
    const grows = { code: "view_grows", message };
    for (const dryRun of [true, false])
      await expect(applyPlan(workspace, await here(), plan, { dryRun, model: "extractive" })).rejects.toMatchObject(
        grows,
      );
    expect(await tipOf(workspace, branch)).toBe(before);
    const dry = await applyPlan(workspace, await here(), plan, { ...request, dryRun: true });
    expect(dry.warnings).toContainEqual(`the view grows ${describeGrowth(dry.tokens)}`);
    const { tokens, commit } = await applyPlan(workspace, await here(), plan, request);
    expect([tokens, commit === null]).toEqual([dry.tokens, false]);
  });
});

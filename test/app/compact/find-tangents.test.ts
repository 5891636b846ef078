// Finding tangents with a model that says what the test tells it to, and leaving turns out that lie apart.
import { afterEach, describe, expect, it } from "vitest";
import { beginSeries, type CompactionSeries, compact } from "../../../src/app/compact/compact.ts";
import { omitTurns } from "../../../src/app/compact/history.ts";
import { findTangents, type TangentRequest } from "../../../src/app/compact/tangents.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { diffConversation } from "../../../src/app/diff/diff.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { parseTurnList } from "../../../src/core/conversation/range-bound.ts";
import { createScriptedModel, type Script, type ScriptedModel, says, stop } from "../../helpers/scripted-model.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const opened: GitWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

interface Session {
  readonly workspace: GitWorkspace;
  readonly branch: string;
  tree(): Promise<BranchTree>;
  series(): Promise<CompactionSeries>;
  ask(scripts: readonly Script[], request?: Partial<TangentRequest>): ReturnType<typeof findTangents>;
  readonly models: ScriptedModel[];
}

async function open(turns = 9): Promise<Session> {
  const { workspace, branch } = await createImportedWorkspace(buildSession(plainTurns(turns)).text());
  opened.push(workspace);
  const tree = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const models: ScriptedModel[] = [];
  return {
    workspace,
    branch,
    tree,
    series: async () => beginSeries(workspace, await tree()),
    models,
    ask: async (scripts, request = {}) => {
      const model = createScriptedModel(scripts, "openai/model-1");
      models.push(model);
      const openModel = () => Promise.resolve(model);
      return findTangents(workspace, await tree(), { range: {}, model: "openai/model-1", openModel, ...request });
    },
  };
}

const answer = (...turns: readonly number[]): Script => [
  ...says(JSON.stringify({ tangents: turns.map((turn) => ({ turn, reason: `off the task ${turn}` })) })),
  stop(),
];

async function viewOf({ workspace, tree }: Session): Promise<string> {
  const { view } = await loadView(workspace.store, await tree());
  return JSON.stringify(view.turns);
}

const turnsIn = (view: string): number[] =>
  (JSON.parse(view) as { origin: { turn: number } }[]).map(({ origin }) => origin.turn);

describe("findTangents", () => {
  it("gives the turns that the model names, with its reasons and what was asked", async () => {
    const session = await open();
    const found = await session.ask([answer(4, 1)]);
    expect(found).toMatchObject({ model: "openai/model-1", problems: [] });
    expect(found.tangents.map(({ turn, reason }) => `${turn} ${reason}`)).toEqual([
      "1 off the task 1",
      "4 off the task 4",
    ]);
    expect(found.tangents[0]?.request).toMatch(/^request \d+$/);
    const [request] = session.models[0]?.requests ?? [];
    expect(JSON.stringify(request?.view)).toContain("turn 8 (stays)");
  });

  it("never takes the newest turns, hidden ones, or those that are not in the range", async () => {
    const session = await open();
    await omitTurns(session.workspace, await session.series(), {
      runs: parseTurnList("2"),
      dryRun: false,
      activate: true,
    });
    const found = await session.ask([answer(0, 2, 3, 5, 6, 8, 40)], {
      range: { from: { type: "turn", turn: 1 }, keep: 0 },
    });
    expect(found.tangents.map(({ turn }) => turn)).toEqual([3, 5, 6]);
    expect(found.problems).toHaveLength(4);
  });

  it("asks once more for an answer that cannot be read, then gives up", async () => {
    const session = await open();
    const found = await session.ask([[...says("I think turn 3."), stop()], answer(3)]);
    expect(found.tangents.map(({ turn }) => turn)).toEqual([3]);
    const cut: Script = [...says('{"tangents": []}'), stop("length")];
    await expect(session.ask([cut, cut])).rejects.toMatchObject({ kind: "provider", code: "tangents_rejected" });
  });

  it("says that a model is needed where none can be asked, and how to do without", async () => {
    const session = await open();
    const request = { range: {} };
    await expect(findTangents(session.workspace, await session.tree(), request)).rejects.toMatchObject({
      kind: "provider",
      code: "no_model",
      hints: expect.arrayContaining([expect.stringContaining("--tangents 3,5..7")]) as string[],
    });
  });

  it("asks nobody if no turn may be left out", async () => {
    const session = await open(1);
    const found = await session.ask([]);
    expect(found).toMatchObject({ model: null, tangents: [] });
    expect(found.reason).toBeDefined();
  });

  it("ends when it is interrupted", async () => {
    const session = await open();
    const controller = new AbortController();
    const script: Script = [() => controller.abort(), ...says("{}")];
    await expect(session.ask([script], { signal: controller.signal })).rejects.toMatchObject({ code: "interrupted" });
  });
});

describe("omitTurns", () => {
  it("leaves separate turns out in one compaction, shown by diff and undone by revert", async () => {
    const session = await open();
    const before = await viewOf(session);
    const reports = await omitTurns(session.workspace, await session.series(), {
      runs: parseTurnList("1,4-5"),
      dryRun: false,
      activate: true,
    });
    expect(reports).toHaveLength(1);
    const [{ compaction }] = reports as [(typeof reports)[number]];
    expect(compaction).toMatchObject({ turns: "omit", from_turn: 1, to_turn: 5, strategy: ["classify-tangents"] });
    const after = await viewOf(session);
    expect(turnsIn(after)).toEqual([0, 2, 3, 6, 7, 8]);
    const kept = (JSON.parse(before) as { origin: { turn: number } }[]).filter(
      ({ origin }) => ![1, 4, 5].includes(origin.turn),
    );
    expect(JSON.parse(after)).toEqual(kept);
    const { hunks } = await diffConversation(session.workspace, [compaction?.id ?? ""], {});
    expect(hunks.length).toBeGreaterThan(0);
    const { commit } = await revertCompactions(session.workspace, [compaction?.id ?? ""]);
    expect(await viewOf(session)).toBe(before);
    await revertCompactions(session.workspace, [commit ?? ""]);
    expect(await viewOf(session)).toBe(after);
  });

  it("makes one for each run if older compactions shorten what is between", async () => {
    const session = await open();
    await compact(session.workspace, await session.tree(), {
      range: { keep: 2 },
      strategies: choosePipelines(["strip-tools"]),
      dryRun: false,
      activate: true,
    });
    const before = await viewOf(session);
    const reports = await omitTurns(session.workspace, await session.series(), {
      runs: parseTurnList("0,2"),
      dryRun: false,
      activate: true,
    });
    expect(reports.map(({ from_turn, to_turn }) => [from_turn, to_turn])).toEqual([
      [0, 0],
      [2, 2],
    ]);
    const kept = (JSON.parse(before) as { origin: { turn: number } }[]).filter(
      ({ origin }) => ![0, 2].includes(origin.turn),
    );
    expect(JSON.parse(await viewOf(session))).toEqual(kept);
  });

  it("commits nothing in a dry run", async () => {
    const session = await open();
    const tip = await tipOf(session.workspace, session.branch);
    const [report] = await omitTurns(session.workspace, await session.series(), {
      runs: parseTurnList("1,4"),
      dryRun: true,
      activate: true,
    });
    expect(report?.tokens.after).toBeLessThan(report?.tokens.before ?? 0);
    expect(await tipOf(session.workspace, session.branch)).toBe(tip);
  });
});

// Progressive compaction on a stored conversation: one commit a part, parts that follow each other, and what stays when one fails.
import { afterEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { compactInParts, type PartsReport, type PartsRequest } from "../../../src/app/compact/compact-parts.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { createClaudeWriter } from "../../helpers/claude-session.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const opened: GitWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

const words = (count: number, seed: string): string =>
  Array.from({ length: count }, (_, n) => `${seed}${n % 11}word${n}`).join(" ");

function longSession(turns: number, callsInLast = 0): Buffer {
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn += 1) {
    writer.prompt(`please do part ${turn}`);
    writer.say(`I will. ${words(400, `a${turn}x`)}.`);
    if (turn === turns - 1) for (let call = 0; call < callsInLast; call += 1) writer.tools(1);
    writer.say(`Part ${turn} is done. ${words(300, `b${turn}x`)}.`);
  }
  return Buffer.from(writer.lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

interface Opened {
  readonly workspace: GitWorkspace;
  readonly branch: string;
  tree(branch?: string): Promise<BranchTree>;
  run(asked?: Partial<PartsRequest>): Promise<PartsReport>;
}

async function open(bytes: Buffer): Promise<Opened> {
  const { workspace, branch } = await createImportedWorkspace(bytes);
  opened.push(workspace);
  const tree = async (of = branch): Promise<BranchTree> =>
    loadBranchTree(workspace.store, of, await tipOf(workspace, of));
  return {
    workspace,
    branch,
    tree,
    run: async (asked = {}) =>
      compactInParts(workspace, await tree(), { range: {}, chunks: 3, dryRun: false, activate: true, ...asked }),
  };
}

const ranges = ({ parts }: PartsReport): string[] => parts.map(({ from_turn, to_turn }) => `${from_turn}..${to_turn}`);

async function viewOf({ workspace, tree }: Opened, branch?: string): Promise<string[]> {
  const { view } = await loadView(workspace.store, await tree(branch));
  return view.turns.map(({ origin }) => (origin.kind === "kept" ? `${origin.turn}` : `<${origin.from}..${origin.to}>`));
}

describe("compactInChunks", () => {
  it("summarises consecutive ranges, one commit each, and leaves the last turns alone", async () => {
    const session = await open(longSession(15));
    const report = await session.run();
    expect(ranges(report)).toEqual(["0..3", "4..7", "8..11"]);
    expect(new Set(report.parts.map(({ commit }) => commit)).size).toBe(3);
    expect(await viewOf(session)).toEqual(["<0..3>", "<4..7>", "<8..11>", "12", "13", "14"]);
    // Apart from what the agent sends in front of them.
    const [before, after] = [report.tokens.before - 20_000, report.tokens.after - 20_000];
    expect(after).toBeLessThan(before / 2.5);
    expect((await session.tree()).compactions).toHaveLength(3);
  });

  it("continues after the last summary when the conversation has grown", async () => {
    const session = await open(longSession(12));
    await session.run({ range: { to: { type: "turn", turn: 4 } }, chunks: 1 });
    expect(ranges(await session.run({ chunks: 2 }))).toEqual(["5..6", "7..8"]);
    expect((await session.run()).reason).toBeDefined();
  });

  it("has one summary over several parts made later, from raw events", async () => {
    const session = await open(longSession(12));
    await session.run();
    const report = await compact(session.workspace, await session.tree(), {
      range: { from: { type: "turn", turn: 0 } },
      strategies: choosePipelines(["summarize"]),
      force: true,
      dryRun: false,
      activate: true,
    });
    expect(await viewOf(session)).toEqual(["<0..8>", "9", "10", "11"]);
    expect(report.compaction?.summary?.summary).toContain("please do part 4");
    await revertCompactions(session.workspace, [report.compaction?.id ?? ""]);
    expect(await viewOf(session)).toEqual(["<0..2>", "<3..5>", "<6..8>", "9", "10", "11"]);
  });

  it("ends parts where older summaries end, so that none is torn", async () => {
    const session = await open(longSession(14));
    await session.run({ range: { from: { type: "turn", turn: 2 }, to: { type: "turn", turn: 4 } }, chunks: 1 });
    const report = await session.run({ range: { from: { type: "turn", turn: 0 } }, chunks: 2 });
    expect(report.warnings).toEqual([]);
    expect(ranges(report)).toEqual(["0..1", "2..4", "5..10"]);
  });

  it("cuts inside one huge turn, and covers what was cut without a gap", async () => {
    const session = await open(longSession(1, 400));
    const { parts } = await session.run({ chunks: 2, range: { keep: 0 } });
    expect(parts).toHaveLength(2);
    const [first, second] = parts.map(({ compaction }) => compaction);
    expect(first?.to_event).toBeDefined();
    expect(second?.from_event).toBeDefined();
    const { view } = await loadView(session.workspace.store, await session.tree());
    expect(view.turns.map(({ origin }) => origin.kind)).toEqual(["summary", "summary"]);
  });

  it("lists the parts of a dry run with the model of each, and commits nothing", async () => {
    const session = await open(longSession(10));
    const before = await tipOf(session.workspace, session.branch);
    const report = await session.run({ dryRun: true, chunks: "auto" });
    expect(report.dryRun).toBe(true);
    expect(report.parts.map(({ planned_summary }) => planned_summary)).toEqual([
      { from_turn: 0, to_turn: 6, model: "extractive" },
    ]);
    expect(await tipOf(session.workspace, session.branch)).toBe(before);
  });

  it("puts all parts on one new fork", async () => {
    const session = await open(longSession(12));
    const report = await session.run({ fork: true });
    expect(report.branch).not.toBe(session.branch);
    expect(new Set(report.parts.map(({ branch }) => branch))).toEqual(new Set([report.branch]));
    expect(await viewOf(session, report.branch)).toEqual(["<0..2>", "<3..5>", "<6..8>", "9", "10", "11"]);
    expect((await session.tree()).compactions).toHaveLength(0);
  });

  it("keeps the parts that are committed when a later one fails, and says how to continue", async () => {
    const session = await open(longSession(12));
    const failure = new JpgError("provider", "overloaded", "the model is busy", { hints: ["try again"] });
    let asked = 0;
    const run = session.run({
      progress: () => {
        asked += 1;
        if (asked === 2) throw failure;
      },
    });
    // A failure outside a part is thrown as it is; that of a part says what stays.
    await expect(run).rejects.toBe(failure);
    expect((await session.tree()).compactions).toHaveLength(1);
    const controller = new AbortController();
    const rest = session.run({
      range: { from: { type: "turn", turn: 3 } },
      chunks: 2,
      signal: controller.signal,
      progress: (text) => {
        if (text.startsWith("part 2")) controller.abort();
      },
    });
    const error: unknown = await rest.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "interrupted" });
    expect((error as JpgError).message).toMatch(/^Turns 6\.\.8 were not summarised: /);
    expect((error as JpgError).hints.slice(0, 2)).toEqual([
      "The parts before are committed and stay: turns 3..5.",
      `To continue: jpg compact ${session.branch} --chunks auto --from 6 --to 8`,
    ]);
    expect(await viewOf(session)).toEqual(["<0..2>", "<3..5>", "6", "7", "8", "9", "10", "11"]);
  });

  it("keeps a part that a summary would make longer", async () => {
    const writer = createClaudeWriter();
    for (const [turn, text] of ["a", "b", words(900, "long"), "c", "d", "e"].entries()) {
      writer.prompt(`q${turn}`);
      writer.say(text);
    }
    const session = await open(Buffer.from(writer.lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
    await session.run({ range: { from: { type: "turn", turn: 2 }, to: { type: "turn", turn: 2 } }, chunks: 1 });
    const report = await session.run({ range: { from: { type: "turn", turn: 0 }, keep: 1 }, chunks: 9 });
    expect(report.parts.map(({ tokens }) => tokens.after < tokens.before)).not.toContain(false);
    expect(report.warnings).toContainEqual(
      expect.stringMatching(/^not summarised: turns 3..4, the view would grow (from|by) .*(tokens|k)/),
    );
  });

  it.each([
    ["once, though the first part stays as it is", [0, 0, 400, 400, 400, 0, 0, 0], 1],
    ["not at all where no part becomes shorter", [0, 0, 0, 400], 0],
  ])("stores the settings of the call %s", async (_, lengths, stored) => {
    const writer = createClaudeWriter();
    for (const [turn, length] of lengths.entries()) {
      writer.prompt(`q${turn}`);
      writer.say(length === 0 ? "a" : words(length, `w${turn}x`));
    }
    const session = await open(Buffer.from(writer.lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
    Object.assign(session.workspace, { overrides: ["keep_last=1"] });
    const { parts, warnings, reason } = await session.run({ range: { from: { type: "turn", turn: 0 } }, chunks: 9 });
    expect(stored === 0 ? reason : warnings[0]).toMatch(/the view would grow (from|by) .*(tokens|k)/);
    expect(parts.length > 1).toBe(stored === 1);
    expect((await session.tree()).configs).toHaveLength(stored);
  });

  it("refuses rules that make no summary", async () => {
    const session = await open(longSession(6));
    await expect(session.run({ profile: "light" })).rejects.toMatchObject({ code: "chunks_need_summary" });
  });

  it("says when there is nothing to compact", async () => {
    const session = await open(longSession(2));
    const report = await session.run();
    expect(report.parts).toEqual([]);
    expect(report.reason).toBeDefined();
    expect(report.tokens.after).toBe(report.tokens.before);
  });
});

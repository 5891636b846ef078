// @module-tag law
// Laws of every compaction: a dry run reports what its run does, the records and the numbers, and no run makes a view larger
// unless it is forced.
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { beginSeries, type CompactRequest, compact, compactInSeries } from "../../../src/app/compact/compact.ts";
import { compactInParts } from "../../../src/app/compact/compact-parts.ts";
import { type CompactReport, overallTokens } from "../../../src/app/compact/compact-report.ts";
import { compactHistory, omitTurns } from "../../../src/app/compact/history.ts";
import { loadCounted } from "../../../src/app/conversation/counted-view.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES, TANGENTS } from "../../../src/core/compact/strategies/strategy-names.ts";
import { joinRuns } from "../../../src/core/conversation/event.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { corpusMissing, listCorpus, readCorpusFile } from "../../helpers/corpus.ts";
import { endOfLongLaw, runs } from "../../helpers/runs.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

const opened: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close();
});

async function open(): Promise<TestWorkspace> {
  const workspace = await createMemoryWorkspace();
  opened.push(workspace);
  return workspace;
}

const NAMES = [...PIPELINE_NAMES, ...STRATEGY_NAMES.filter((name) => name !== TANGENTS)];
const PROFILES = ["default", "light", "heavy"];

/** A compaction of any kind: of one step or several, of turns or messages, in parts, by a text that is given. */
type Way = (workspace: TestWorkspace, tree: BranchTree, asked: Asked) => Promise<Told>;
type Asked = Pick<CompactRequest, "dryRun" | "fork" | "activate" | "force">;
/** What all of them tell. */
type Told = Pick<CompactReport, "branch" | "tokens"> & {
  readonly reports: readonly CompactReport[];
  readonly rest?: object;
};

const anyRange: fc.Arbitrary<CompactRequest["range"]> = fc.oneof(
  fc.constant({}),
  fc.record({ keep: fc.nat(4) }),
  fc.record({ to: fc.record({ type: fc.constant("turn" as const), turn: fc.nat(12) }) }),
  fc.constant({ from: { type: "last" as const } }),
);

const anySize = fc.constantFrom({}, { minGainTokens: 1 }, { protectTokens: 0, minGainTokens: 0 });
const anyStrategies = fc
  .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 })
  .filter((names) => PIPELINE_NAMES.filter((name) => names.includes(name)).length < 2)
  .chain((names) =>
    anySize.map((sizes) => ({ strategies: { ...choosePipelines(names, {}, { tokens: 500 }), ...sizes } })),
  );
const anyText = fc.nat(200).map((words) => ({ summary: { summary: `So it was.${" More was said.".repeat(words)}` } }));

const anyWay: fc.Arbitrary<Way> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        anyRange,
        fc.oneof(
          fc.constantFrom(...PROFILES).map((profile) => ({ profile })),
          anyStrategies,
          anyText,
        ),
      )
      .map(
        ([range, rules]): Way =>
          async (workspace, tree, asked) => {
            const report = await compact(workspace, tree, { ...asked, ...rules, range });
            return { branch: report.branch, tokens: overallTokens(report), reports: [report] };
          },
      ),
  },
  fc.tuple(fc.nat(2), fc.constantFrom(2, 3, "auto" as const)).map(
    ([keep, chunks]): Way =>
      async (workspace, tree, asked) => {
        const {
          parts: reports,
          branch,
          tokens,
          ...rest
        } = await compactInParts(workspace, tree, { ...asked, range: { keep }, chunks });
        return { branch, tokens, reports, rest: { ...rest, dryRun: false } };
      },
  ),
  fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 3 }).map(
    (turns): Way =>
      async (workspace, tree, asked) => {
        const series = beginSeries(workspace, tree);
        const runs = joinRuns([...turns].sort((a, b) => a - b).map((turn) => ({ from: turn, to: turn }))).filter(
          ({ to }) => to < tree.turnOids.length,
        );
        const omitted = runs.length === 0 ? [] : await omitTurns(workspace, series, { ...asked, runs });
        const rest = await compactInSeries(series, { ...asked, range: {}, strategies: choosePipelines(["auto"]) });
        const reports = [...omitted, rest];
        return {
          branch: series.branch,
          tokens: { before: reports[0]!.tokens.before, after: overallTokens(rest).after },
          reports,
        };
      },
  ),
  fc.constantFrom("summary" as const, "strip" as const).map(
    (as): Way =>
      async (workspace, tree, { dryRun = false }) => {
        const outcome = await compactHistory(workspace, tree, { as, anyway: true, preview: dryRun });
        const reports = "report" in outcome ? [outcome.report] : [];
        const size = await sizeOf(workspace, tree.branch);
        const tokens = reports[0] === undefined ? { before: size, after: size } : overallTokens(reports[0]);
        const { kind: _, report: __, ...rest } = { report: null, ...outcome };
        return { branch: tree.branch, tokens, reports, rest };
      },
  ),
);

/** What must be the same in a report of a dry run and of its run: all but the commit, and names that are drawn anew. */
function told(report: CompactReport): object {
  const { dryRun: _, commit: __, views: ___, planned_summary: ____, branch: _____, ...asked } = report;
  const { compaction, further, ...rest } = asked;
  const record = compaction === null ? null : { ...compaction, id: "", timestamp: "", basis: compaction.basis?.length };
  return { ...rest, compaction: record, further: further === undefined ? null : told(further) };
}

const treeOf = async (workspace: TestWorkspace, branch: string): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function sizeOf(workspace: TestWorkspace, branch: string): Promise<number> {
  const { view, live, meter } = await loadCounted(workspace.store, await treeOf(workspace, branch));
  return meter.countView(view, live.applied).tokens;
}

interface Step {
  readonly way: Way;
  readonly force: boolean;
  readonly fork: boolean;
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  way: anyWay,
  force: fc.nat(5).map((one) => one === 0),
  fork: fc.nat(5).map((one) => one === 0),
});

/** Compacts in each of the ways, one on top of the other, each after its dry run. */
async function holdLaws(workspace: TestWorkspace, start: string, steps: readonly Step[]): Promise<void> {
  let branch = start;
  for (const { way, ...manner } of steps) {
    const asked = { ...manner, activate: false };
    const before = await sizeOf(workspace, branch);
    const tip = await tipOf(workspace, branch);
    const count = (await workspace.store.listBranches()).length;
    const dry = await way(workspace, await treeOf(workspace, branch), { ...asked, dryRun: true });
    expect(await tipOf(workspace, branch)).toBe(tip);
    expect(await workspace.store.listBranches()).toHaveLength(count);
    const run = await way(workspace, await treeOf(workspace, branch), { ...asked, dryRun: false });
    const tell = ({ branch: at, reports, ...rest }: Told): object => ({
      ...rest,
      isForked: at !== branch,
      reports: reports.map(told),
    });
    expect(tell(dry)).toEqual(tell(run));
    branch = run.reports.some(({ commit }) => commit !== null) ? run.branch : branch;
    const isMade = run.reports.some(({ compaction }) => compaction !== null);
    expect((await tipOf(workspace, branch)) !== tip).toBe(isMade);
    const after = await sizeOf(workspace, branch);
    expect(run.tokens).toEqual({ before, after });
    if (!manner.force) expect(after).toBeLessThanOrEqual(before);
  }
}

/** A session of short and long turns, with usage or without, that its agent may have compacted. */
const anySession: fc.Arbitrary<Buffer> = fc
  .record({
    turns: fc.array(fc.record({ words: fc.nat(60), calls: fc.nat(3), think: fc.boolean(), compact: fc.nat(9) }), {
      minLength: 1,
      maxLength: 9,
    }),
    hasUsage: fc.boolean(),
  })
  .map(({ turns, hasUsage }) => {
    const writer = createClaudeWriter();
    let sent = 21_000;
    for (const [at, { words, calls, compact: cuts }] of turns.entries()) {
      writer.prompt(`request ${at}: ${"some words ".repeat(words)}`);
      if (calls > 0) writer.tools(calls);
      if (cuts === 0 && at > 0) {
        writer.compact(`What was said before turn ${at}.`);
        sent = 21_000;
      }
      writer.say(`done ${at}`);
      sent += 300 + 3 * words;
      const message = writer.lines.at(-1)?.["message"] as Record<string, unknown>;
      if (hasUsage) message["usage"] = { input_tokens: sent, output_tokens: 5 };
    }
    return sessionBytes(writer.lines);
  });

it("holds of random sessions, strategies, profiles and ranges, on what those before left", {
  tags: ["slow"],
}, async () => {
  await fc.assert(
    fc.asyncProperty(anySession, fc.array(anyStep, { minLength: 1, maxLength: 4 }), async (session, steps) => {
      const workspace = await open();
      const { branch } = await importBytes(workspace, session);
      await holdLaws(workspace, branch, steps);
    }),
    { numRuns: runs(25), ...endOfLongLaw(30_000) },
  );
});

/** One session of each agent, of different sizes, and the one in which a summary grew that a pipeline went on to. */
const GREW = "claude-code/entireio__cli/5c_5cb639eac4_0.jsonl";
const FILES = [
  GREW,
  "claude-code/entireio__git-sync/0.jsonl",
  "codex/EntityProcess__agentv/a8_54a7cb1c1f_0.jsonl",
  "pi/badlogic__pi-mono/large-session.jsonl",
].filter((file) => ["claude-code", "codex", "pi"].flatMap(listCorpus).includes(file));

describe.skipIf(corpusMissing !== null)(
  `compacting real sessions${corpusMissing === null ? "" : ` (skipped: ${corpusMissing})`}`,
  () => {
    const forkAt = async (workspace: TestWorkspace, branch: string, first: number): Promise<string> => {
      const tree = await treeOf(workspace, branch);
      return (await forkConversation(workspace, tree, { first, name: "cut", activate: false })).branch;
    };

    it.each(FILES)("holds of forks of %s", async (file) => {
      await fc.assert(
        fc.asyncProperty(fc.nat(), fc.array(anyStep, { minLength: 2, maxLength: 3 }), async (cut, steps) => {
          const workspace = await open();
          const { branch, turns } = await importBytes(workspace, readCorpusFile(file));
          await holdLaws(workspace, await forkAt(workspace, branch, 1 + (cut % Math.max(1, turns))), steps);
        }),
        { numRuns: runs(1), ...endOfLongLaw(10_000) },
      );
    });

    it("refuses what saves too little of a fork before an agent's compaction, in the dry run as in the run", async () => {
      const workspace = await open();
      const { branch } = await importBytes(workspace, readCorpusFile(GREW));
      const fork = await forkAt(workspace, branch, 21);
      const asked = { range: {}, strategies: choosePipelines(["auto"]), fork: false, activate: false };
      for (const dryRun of [true, false]) {
        const report = await compact(workspace, await treeOf(workspace, fork), { ...asked, dryRun });
        expect(report).toMatchObject({ compaction: null, planned_summary: null });
        expect(report.reason).toMatch(/^the strategy auto would save \S+ of \S+ tokens a call \(turns 0\.\.17: /);
      }
    });
  },
);

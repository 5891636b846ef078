// Laws of every compaction: what a dry run tells is what its run does, the records and the numbers, and no run makes a view larger
// unless it is forced.
import fc from "fast-check";
import { afterEach, expect, it } from "vitest";
import { type BranchTree, loadBranchTree } from "../../../src/app/branch/branch-tree.ts";
import { loadCounted } from "../../../src/app/branch/counted-view.ts";
import { type CompactRequest, compact } from "../../../src/app/compact/compact.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { type CompactReport, overallTokens } from "../../../src/app/plan/compact-report.ts";
import { choosePipelines } from "../../../src/core/strategies/pipelines.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES, TANGENTS } from "../../../src/core/strategies/strategy-names.ts";
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

type Way = Pick<CompactRequest, "range" | "profile" | "strategies" | "index">;

/** Every profile and every strategy, alone and two at a time, over ranges that are named and ranges that are not. */
const anyWay: fc.Arbitrary<Way> = fc
  .record(
    {
      range: fc.oneof(
        fc.constant({}),
        fc.record({ keep: fc.nat(4) }),
        fc.record({ to: fc.record({ type: fc.constant("turn" as const), turn: fc.nat(12) }) }),
        fc.constant({ from: { type: "last" as const } }),
      ),
      rules: fc.oneof(
        fc.constantFrom(...PROFILES).map((profile) => ({ profile })),
        fc
          .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 })
          .filter((names) => PIPELINE_NAMES.filter((name) => names.includes(name)).length < 2)
          .chain((names) =>
            fc.constantFrom({}, { minGainTokens: 1 }, { protectTokens: 0, minGainTokens: 0 }).map((sizes) => ({
              strategies: { ...choosePipelines(names, {}, { tokens: 500 }), ...sizes },
            })),
          ),
      ),
      index: fc.boolean(),
    },
    { requiredKeys: ["range", "rules"] },
  )
  .map(({ rules, ...way }) => ({ ...way, ...rules }));

/** What must be the same in a report of a dry run and of its run: all but the commit, and names that are drawn anew. */
function told(report: CompactReport): object {
  const { dryRun: _, commit: __, views: ___, planned_summary: ____, compaction, further, ...rest } = report;
  const record = compaction === null ? null : { ...compaction, id: "", timestamp: "", basis: compaction.basis?.length };
  return { ...rest, compaction: record, further: further === undefined ? null : told(further) };
}

const treeOf = async (workspace: TestWorkspace, branch: string): Promise<BranchTree> =>
  loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));

async function sizeOf(workspace: TestWorkspace, branch: string): Promise<number> {
  const { view, live, meter } = await loadCounted(workspace.store, await treeOf(workspace, branch));
  return meter.countView(view, live.applied).tokens;
}

/** Compacts in each of the ways, one on top of the other, each behind its dry run. */
async function holdLaws(workspace: TestWorkspace, branch: string, ways: readonly Way[]): Promise<void> {
  for (const way of ways) {
    const request = { ...way, fork: false, activate: false };
    const before = await sizeOf(workspace, branch);
    const tip = await tipOf(workspace, branch);
    const dry = await compact(workspace, await treeOf(workspace, branch), { ...request, dryRun: true });
    expect(await tipOf(workspace, branch)).toBe(tip);
    const run = await compact(workspace, await treeOf(workspace, branch), { ...request, dryRun: false });
    expect(told(dry)).toEqual(told(run));
    expect((await tipOf(workspace, branch)) !== tip).toBe(run.compaction !== null);
    const after = await sizeOf(workspace, branch);
    expect(overallTokens(run)).toEqual({ before, after });
    expect(after).toBeLessThanOrEqual(before);
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

it("holds of random sessions, strategies, profiles and ranges, on what those before left", async () => {
  await fc.assert(
    fc.asyncProperty(anySession, fc.array(anyWay, { minLength: 1, maxLength: 4 }), async (session, ways) => {
      const workspace = await open();
      const { branch } = await importBytes(workspace, session);
      await holdLaws(workspace, branch, ways);
    }),
    { numRuns: runs(60), ...endOfLongLaw(30_000) },
  );
});

const FILES = listCorpus("claude-code")
  .concat(listCorpus("codex"), listCorpus("pi"))
  .filter((file) => file.endsWith(".jsonl"));

it.skipIf(corpusMissing !== null).each(FILES)("holds of a real session and of forks of it: %s", async (file) => {
  const bytes = readCorpusFile(file);
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(anyWay, { minLength: 2, maxLength: 4 }), async (cut, ways) => {
      const workspace = await open();
      const { branch, turns } = await importBytes(workspace, bytes);
      const tree = await treeOf(workspace, branch);
      const first = 1 + (cut % Math.max(1, turns));
      const fork = await forkConversation(workspace, tree, { first, name: "cut", activate: false });
      await holdLaws(workspace, fork.branch, ways);
    }),
    { numRuns: runs(2), ...endOfLongLaw(10_000) },
  );
});

// Compacting by strategies on a stored conversation: what is committed, what is reported, what is refused.

import { readFile } from "node:fs/promises";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { adviseAuto } from "../../../src/app/compact/advise-auto.ts";
import { compact } from "../../../src/app/compact/compact.ts";
import { type CompactReport, isPoorTrade } from "../../../src/app/compact/compact-report.ts";
import { type CompactRequest, rangeOf } from "../../../src/app/compact/plan.ts";
import { loadCounted } from "../../../src/app/conversation/counted-view.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { lastAnswer } from "../../../src/app/models/next-call.ts";
import type { CompactionConfig } from "../../../src/config/config.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import type { StrategyOptions } from "../../../src/core/compact/strategies/strategy.ts";
import type { StubStyle } from "../../../src/core/conversation/compaction.ts";
import { createPiWriter, piCall } from "../../helpers/pi-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const SAMPLE = new URL("../../../examples/sample-session.jsonl", import.meta.url);

let bytes: Uint8Array;
beforeAll(async () => {
  bytes = await readFile(SAMPLE);
});

const opened: GitWorkspace[] = [];
afterEach(async () => {
  for (const workspace of opened.splice(0)) await removeWorkspace(workspace);
});

interface Asked {
  readonly names: readonly string[];
  readonly options?: StrategyOptions;
  readonly stubs?: StubStyle;
  readonly keep?: number;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

interface Opened {
  readonly workspace: GitWorkspace;
  tree(): Promise<BranchTree>;
  run(asked: Asked): Promise<CompactReport>;
}

async function openSample(content: Uint8Array = bytes): Promise<Opened> {
  const workspace = await createGitWorkspace();
  opened.push(workspace);
  const { branch } = await importBytes(workspace, content);
  const tree = async (): Promise<BranchTree> => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  return {
    workspace,
    tree,
    run: async ({ names, options = {}, stubs, keep = 1, dryRun = false, force = false }) =>
      compact(workspace, await tree(), {
        range: { keep },
        strategies: choosePipelines(names, options),
        ...(stubs === undefined ? {} : { stubs }),
        dryRun,
        force,
        activate: true,
      }),
  };
}

describe("compacting by strategies", () => {
  it("makes one compaction that names them, and reports what each added", async () => {
    const names = ["strip-reasoning", "dedup-tools", "supersede", "strip-tool-results"];
    const sample = await openSample();
    const imported = (await sample.tree()).compactions.length;
    const report = await sample.run({ names });
    expect((await sample.tree()).compactions).toHaveLength(imported + 1);
    expect(report.compaction).toMatchObject({ strategy: names, source: "manual" });
    expect(report.compaction?.profile).toBeUndefined();
    expect(report.report?.steps.map(({ strategy }) => strategy)).toEqual([...names, "index"]);
    const { events_removed, estimated_tokens_saved, steps } = report.report ?? expect.fail("a report was made");
    const saved = steps.reduce((sum, step) => sum + step.estimated_tokens_saved, 0);
    expect(Math.abs(saved - estimated_tokens_saved)).toBeLessThanOrEqual(steps.length);
    expect(steps.reduce((sum, step) => sum + step.events_removed, 0)).toBe(events_removed);
    expect(report.tokens.before - report.tokens.after).toBe(estimated_tokens_saved);
  });

  it("finds nothing when it is asked again", async () => {
    const sample = await openSample();
    await sample.run({ names: ["strip-tool-results"] });
    const again = await sample.run({ names: ["strip-tool-results"] });
    expect(again).toMatchObject({ compaction: null, commit: null, report: null });
    expect(again.reason).toBe("everything that may be removed is already compacted");
  });

  it("stores how stubs are written", async () => {
    const { run } = await openSample();
    const report = await run({ names: ["strip-tool-results"], stubs: { pointers: true } });
    expect(report.compaction?.stubs).toEqual({ pointers: true });
  });

  it("warns of a poor trade", async () => {
    const { run } = await openSample();
    const { warnings } = await run({ names: ["truncate-results"], options: { maxChars: 100_000 }, dryRun: true });
    expect(warnings).toEqual([]);
    const small = await run({ names: ["mask-results"], options: { newest: 20 }, keep: 0, dryRun: true, force: true });
    const calls = small.cost === undefined ? small.cache?.break_even_calls : small.cost.pays_after;
    const isPoor = (calls ?? Number.POSITIVE_INFINITY) > 50;
    expect(small.warnings.some((warning) => warning.startsWith("saves only"))).toBe(isPoor);
  });

  it("has a summary made as an extract where no model can be asked", async () => {
    const { run } = await openSample();
    const report = await run({ names: ["summarize"] });
    expect(report.compaction).toMatchObject({ strategy: ["summarize"], summary: { source: "extractive" } });
  });
});

describe("the range of strategies", () => {
  it("protects the newest tokens unless its end or another size is given", () => {
    const settings = { keep_last: 0, profiles: {} } as CompactionConfig;
    const protectedOf = (range: CompactRequest["range"]) =>
      rangeOf({ range, strategies: { ...choosePipelines(["auto"]), protectTokens: 70 } }, settings).protectTokens;
    expect(protectedOf({})).toBe(70);
    expect(protectedOf({ keep: undefined, to: undefined, protectTokens: undefined })).toBe(70);
    expect(protectedOf({ protectTokens: 9 })).toBe(9);
    expect(protectedOf({ keep: 1 })).toBeUndefined();
  });
});

describe("a view that would grow", () => {
  /** One turn whose only result is shorter than the stub that would replace it. */
  const small = new TextEncoder().encode(
    [
      { type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "list it" } },
      {
        type: "assistant",
        uuid: "a1",
        parentUuid: "u1",
        message: {
          id: "m1",
          role: "assistant",
          content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
        },
      },
      {
        type: "user",
        uuid: "u2",
        parentUuid: "a1",
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "a" }] },
      },
      {
        type: "assistant",
        uuid: "a2",
        parentUuid: "u2",
        message: { id: "m2", role: "assistant", content: [{ type: "text", text: "done" }] },
      },
    ]
      .map((line) =>
        JSON.stringify({ ...line, sessionId: "s", timestamp: "2026-03-09T08:24:10.582Z", version: "2.1.76" }),
      )
      .join("\n"),
  );

  it("is refused and commits nothing, unless forced", async () => {
    const sample = await openSample(small);
    const before = await sample.tree();
    const asked = { names: ["strip-tool-results"], keep: 0 };
    const run = await sample.run(asked);
    expect(run).toMatchObject({ compaction: null, reason: "the view would grow by 8 tokens, from 31.0k" });
    expect((await sample.tree()).commit).toBe(before.commit);
    expect(await sample.run({ ...asked, dryRun: true })).toEqual({ ...run, dryRun: true });
    const dry = await sample.run({ ...asked, dryRun: true, force: true });
    expect(dry.warnings).toContainEqual("the view grows by 8 tokens, from 31.0k");
    const forced = await sample.run({ ...asked, force: true });
    expect(forced.commit).not.toBeNull();
  });
});

describe("auto on a small conversation", () => {
  /** The example of RFD 036: one file of 5,000 characters is read at turns 2 and 7; `rest` = other turns' words. */
  function readTwice(rest: number): Uint8Array {
    const session = createPiWriter();
    for (let turn = 0; turn < 10; turn += 1) {
      session.user(`Request ${turn}. ${"some words ".repeat(rest)}`);
      if (turn === 2 || turn === 7) {
        session.say(piCall(`c${turn}`, "fs_read_file", { path: "src/main.rs" }));
        session.result(`c${turn}`, "a line of it\n".repeat(385));
      }
      session.say(`Done ${turn}.`);
    }
    return session.bytes();
  }

  const auto = (workspace: GitWorkspace, tree: BranchTree, dryRun: boolean): Promise<CompactReport> =>
    compact(workspace, tree, { range: {}, strategies: choosePipelines(["auto"]), dryRun, activate: true });

  it("leaves out what is read again later", async () => {
    const { workspace, tree } = await openSample(readTwice(30));
    const report = await auto(workspace, await tree(), false);
    expect(report.commit).not.toBeNull();
    expect(report.tokens.before - report.tokens.after).toBeGreaterThan(1000);
  });

  it("says what it would do, and how to do it anyway, if too little is saved", async () => {
    const { workspace, tree } = await openSample(readTwice(600));
    const report = await auto(workspace, await tree(), true);
    expect(report.compaction).toBeNull();
    expect(report.reason).toMatch(
      /^the strategy auto would save \d\.\dk of \d+\.\dk tokens a call \(turns 0\.\.\d+: .*\), but a batch is worth it only from \d\.\dk, because the cached prefix has to be rewritten$/,
    );
    expect(report.hints).toEqual([
      expect.stringMatching(
        /^`jpg compact -s auto --force` does it anyway; `-s auto:min-gain=1\d\d\d` lowers the floor to what it saves\.$/,
      ),
    ]);
  });

  it("leaves it to a profile, which warns of a poor trade while the cache is warm", async () => {
    const { workspace, tree } = await openSample(readTwice(2000));
    const request = { range: {}, dryRun: true, activate: true };
    const cold = await compact(workspace, await tree(), request);
    expect(cold.compaction).toMatchObject({ profile: "default" });
    expect(cold).toMatchObject({ warnings: [], cost: { is_warm: false, pays_after: 0 } });
    const { turns } = await loadCounted(workspace.store, await tree());
    const answered = lastAnswer(turns.values()) ?? expect.fail("an answer was counted");
    const runtime = { ...workspace.runtime, now: () => new Date(answered.at) };
    const { cost, cache, warnings } = await compact({ ...workspace, runtime }, await tree(), request);
    expect(cost).toMatchObject({ model: "claude-sonnet-4-5", is_warm: true });
    // The first of the calls that save is the next one itself, whose price is told apart.
    expect(cost?.pays_after).toBe((cache?.break_even_calls ?? 0) - 1);
    expect(warnings).toContainEqual(
      expect.stringMatching(
        new RegExp(
          `^saves only \\S+ of the conversation's \\S+ tokens \\(\\d+\\.\\d%\\), .*: it pays after ${cost?.pays_after} calls$`,
        ),
      ),
    );
    expect([isPoorTrade({ ...cold }), isPoorTrade({ ...cold, further: cold })]).toEqual([true, false]);
  });

  it("is offered where the default profile, which nobody named, is a poor trade, and only if it leaves less", async () => {
    const { workspace, tree } = await openSample(readTwice(30));
    const at = await tree();
    const request = { range: {}, dryRun: true, activate: true };
    const report = await compact(workspace, at, request);
    const left = (await auto(workspace, at, true)).tokens.after;
    const poor = { ...report, cost: undefined, cache: { ...report.cache, break_even_calls: 51 } } as CompactReport;
    const tokens = (after: number): CompactReport => ({ ...poor, tokens: { ...poor.tokens, after } });
    const offered = await adviseAuto(workspace, at, { report: tokens(left + 1), request });
    expect(offered.warnings.at(-1)).toMatch(
      /^a poor trade \(\S+ are left\): `jpg compact -s auto` would leave \S+ tokens$/,
    );
    const same = async (given: CompactReport, asked: CompactRequest) =>
      expect(await adviseAuto(workspace, at, { report: given, request: asked })).toBe(given);
    await same(tokens(left), request);
    await same(tokens(left + 1), { ...request, profile: "default" });
    await same(tokens(left + 1), { ...request, strategies: choosePipelines(["strip-reasoning"]) });
    await same({ ...tokens(left + 1), cache: { ...report.cache, break_even_calls: 50 } } as CompactReport, request);
  });
});

// The anatomy of a window: parts add up, hidden turns cost nothing but keep their price, and headroom is what compacting frees.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { type AnatomyReport, readAnatomy } from "../../../src/app/look/anatomy.ts";
import { readStats } from "../../../src/app/look/stats.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { surveyedSession } from "../../helpers/surveyed-session.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let branch: string;

beforeAll(async () => {
  workspace = await createGitWorkspace();
  ({ branch } = await importBytes(workspace, surveyedSession({ turns: 8, resultChars: 6000 })));
});
afterAll(() => removeWorkspace(workspace));

const treeOf = async (name: string) => loadBranchTree(workspace.store, name, await tipOf(workspace, name));
const anatomy = async (name = branch): Promise<AnatomyReport> => readAnatomy(workspace, await treeOf(name));
const sum = (list: readonly { readonly tokens: number }[]): number => list.reduce((all, { tokens }) => all + tokens, 0);

describe("readAnatomy", () => {
  it("says of the view what stats says, in parts that add up", async () => {
    const report = await anatomy();
    const { tokens } = await readStats(workspace, await treeOf(branch));
    expect(report).toMatchObject({ branch, turns: 8, tokens: tokens.view, window: 200_000, window_source: "known" });
    expect(sum(report.by_kind)).toBe(tokens.view);
    expect(report.by_tool).toMatchObject([{ tool: "Bash", calls: 8 }]);
    expect(report.by_turn.map(({ from, to, kind }) => [from, to, kind])).toEqual(
      Array.from({ length: 8 }, (_, turn) => [turn, turn, "kept"]),
    );
    const beside = report.by_kind.find(({ kind }) => kind === "overhead")?.tokens ?? 0;
    expect(Math.abs(sum(report.by_turn) + beside - tokens.view)).toBeLessThan(8);
  });

  it("frees with each strategy what compacting with it frees", async () => {
    const { headroom, tokens } = await anatomy();
    const strip = headroom.strategies.find(({ strategy }) => strategy === "strip-tool-results")!;
    const planned = await compact(workspace, await treeOf(branch), {
      range: {},
      strategies: choosePipelines(["strip-tool-results"]),
      index: false,
      dryRun: true,
      activate: false,
    });
    expect(planned.tokens).toEqual({ before: tokens, after: strip.after });
    expect(strip.frees).toBe(tokens - strip.after);
    for (const { after } of headroom.strategies) expect(headroom.mechanical.after).toBeLessThanOrEqual(after);
    expect(headroom.mechanical.share).toBe(headroom.mechanical.frees / 200_000);
    expect(headroom.turns_left).toBeGreaterThan(0);
  });

  it("finds little more to free once that was done, and what is hidden in one row", async () => {
    const before = await anatomy();
    const request = { range: {}, dryRun: false, activate: false };
    await compact(workspace, await treeOf(branch), { ...request, strategies: choosePipelines(["strip-tools"]) });
    const stripped = await anatomy();
    const freed = ({ headroom }: AnatomyReport, name: string) =>
      headroom.strategies.find(({ strategy }) => strategy === name)?.frees;
    expect(freed(before, "strip-tools")).toBeGreaterThan(1000);
    expect(freed(stripped, "strip-tools")).toBe(0);
    await compact(workspace, await treeOf(branch), {
      ...request,
      range: { to: { type: "turn", turn: 3 } },
      summary: { summary: "Berths 0 to 3 are surveyed.", source: "authored" },
    });
    const { by_turn, by_kind } = await anatomy();
    expect(by_turn.map(({ from, to, kind }) => `${from}..${to} ${kind}`).slice(0, 2)).toEqual([
      "0..3 summary",
      expect.stringMatching(/^(4..4 kept|\d..\d index)$/) as string,
    ]);
    expect(by_kind.map(({ kind }) => kind)).toContain("summaries");
  });

  it("counts recorded usage once, with a price where the model is known, null where it is not", async () => {
    const writer = createClaudeWriter();
    const say = (n: number, model: string): void => {
      writer.prompt(`question ${n}`);
      writer.node({
        type: "assistant",
        message: {
          id: `msg_${n}`,
          type: "message",
          role: "assistant",
          model,
          content: [{ type: "text", text: `answer ${n}` }],
          usage: {
            input_tokens: 1000,
            cache_read_input_tokens: 100_000,
            cache_creation_input_tokens: 0,
            output_tokens: 50,
          },
        },
      });
    };
    say(0, "claude-sonnet-4-5-20250929");
    say(1, "claude-of-nobody-9");
    const report = await anatomy((await importBytes(workspace, sessionBytes(writer.lines))).branch);
    const [first, second] = report.by_turn;
    expect(first?.recorded).toEqual({
      requests: 1,
      input: 1000,
      cache_read: 100_000,
      cache_write: 0,
      output: 50,
      price_usd: expect.closeTo(0.003 + 0.03 + 0.00075, 6) as number,
    });
    expect(second?.recorded).toMatchObject({ requests: 1, price_usd: null });
    expect(report.recorded).toMatchObject({ requests: 2, input: 2000, price_usd: null });
  });
});

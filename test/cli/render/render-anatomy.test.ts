// The anatomy on a terminal: bars as long as there is room, never a line that is wider.
import { describe, expect, it } from "vitest";
import type { AnatomyReport } from "../../../src/app/look/anatomy.ts";
import { displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderAnatomy } from "../../../src/cli/render/anatomy.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const COST = { requests: 2, input: 1000, cache_read: 80_000, cache_write: 0, output: 900, price_usd: 0.1234 };
const REPORT: AnatomyReport = {
  branch: "fix-parser-k3f9/main",
  commit: "0".repeat(40),
  turns: 14,
  model: "anthropic/claude-sonnet-4-5",
  window: 200_000,
  window_source: "known",
  tokens: 90_000,
  tokens_source: "estimate",
  overhead_source: "recorded",
  by_kind: [
    { kind: "overhead", tokens: 20_000 },
    { kind: "user", tokens: 10_000 },
    { kind: "results", tokens: 60_000 },
  ],
  by_tool: [{ tool: "Bash", calls: 12, call_tokens: 1000, result_tokens: 60_000, tokens: 61_000 }],
  by_turn: [
    { from: 0, to: 12, kind: "summary", tokens: 10_000, by_kind: [], recorded: COST },
    { from: 13, to: 13, kind: "kept", tokens: 60_000, by_kind: [], recorded: null },
  ],
  recorded: COST,
  headroom: {
    strategies: [{ strategy: "strip-tools", frees: 50_000, after: 40_000 }],
    mechanical: { frees: 50_000, after: 40_000, share: 0.25 },
    threshold: 0.5,
    turns_left: 3,
  },
};

describe("renderAnatomy", () => {
  it("draws what fills the window, and when only a summary helps", () => {
    expect(renderAnatomy(REPORT, PLAIN)).toMatchInlineSnapshot(`
      "fix-parser-k3f9/main · 14 turns
      90.0k of 200.0k tokens, 45% (estimate)
      anthropic/claude-sonnet-4-5

      WHAT FILLS IT            TOKENS
      system prompt and tools   20.0k  22%  █████████████▍
      your requests             10.0k  11%  ██████▋
      tool results              60.0k  67%  ████████████████████████████████████████

      TOOL  CALLS  TOKENS
      Bash     12   61.0k  68%  ████████████████████████████████████████

      TURN           TOKENS        SENT  ANSWERED  PRICE
      0..12 summary   10.0k  11%  81.0k       900  $0.12  ████▋
      13              60.0k  67%                          ████████████████████████████
      recorded: 2 requests, 81.0k tokens sent, 900 answered, $0.12 at today's list prices

      STILL TO FREE  TOKENS  WINDOW
      strip-tools     50.0k     25%  ████████████████████████████████████████
      all of them     50.0k     25%  ████████████████████████████████████████
      After all of them, 40.0k are left, 20% of the window.
      In 3 turns like these, that will be 50%: from then on only a summary helps."
    `);
  });

  it("sets the thousands of calls apart, and calls smaller only what is", () => {
    const many = (sizes: readonly number[]): string => {
      const by_tool = sizes.map((tokens, at) => ({ ...REPORT.by_tool[0]!, tool: `Tool${at}`, calls: 10_000, tokens }));
      const by_turn = sizes.map((tokens, at) => ({ ...REPORT.by_turn[1]!, from: at, to: at, tokens }));
      return renderAnatomy({ ...REPORT, by_tool, by_turn }, PLAIN);
    };
    const falling = many(Array.from({ length: 17 }, (_, at) => 2000 - at));
    expect(falling).toContain("Tool0   10,000");
    expect(falling).toContain("2 smaller tools: 4.0k");
    expect(falling).toContain("2 smaller turns: 4.0k");
    const equal = many(Array.from({ length: 16 }, () => 2000));
    expect(equal).toContain("1 other tool: 2.0k");
    expect(equal).toContain("1 other turn: 2.0k");
    expect(equal).not.toContain("smaller");
  });

  it("says when mechanical compaction helps no more, and nothing where it cannot be told", () => {
    const at = (turns_left: number | null): string =>
      renderAnatomy({ ...REPORT, headroom: { ...REPORT.headroom, turns_left } }, PLAIN);
    expect(at(0)).toContain("That is above 50%: only a summary helps now.");
    expect(at(null)).not.toContain("only a summary");
  });

  it.each([40, 60, 80, Number.POSITIVE_INFINITY])("is never wider than a terminal of %d columns", (width) => {
    const name = "a-tool-of-a-server-with-a-very-long-name".repeat(2);
    const by_tool = [
      ...REPORT.by_tool,
      { ...REPORT.by_tool[0]!, tool: name },
      { ...REPORT.by_tool[0]!, tool: "测试工具" },
    ];
    const table = renderAnatomy({ ...REPORT, by_tool }, { ...PLAIN, width })
      .split("\n")
      .filter((line) => /[█▏]|TOKENS/.test(line));
    expect(table.length).toBeGreaterThanOrEqual(9);
    for (const line of table) expect(displayWidth(line)).toBeLessThanOrEqual(Math.min(width, 80));
  });
});

import { describe, expect, it } from "vitest";
import { renderStats } from "../../../src/cli/render/stats.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

describe("renderStats", () => {
  it("says who counted", () => {
    const tokens = { raw: 9, view: 9, by_kind: {} };
    const report = { turns: 1, events: 1, bytes: 1, tokens, tokens_source: "recorded" } as const;
    expect(renderStats(report, PLAIN)).toContain("TOKENS (recorded)  RAW  VIEW");
  });

  it("says what compactions saved so far, or have not paid back yet", () => {
    const tokens = { raw: 9, view: 9, by_kind: {} };
    const last = (saved?: { requests: number; tokens: number; usd: number | null }) =>
      renderStats({ turns: 1, events: 1, bytes: 1, tokens, saved, compactions: 1 }, PLAIN).split("\n")[1];
    expect(last()).toBe("Saved so far:  nothing yet: no recorded request ran on a view that jpg shortened");
    expect(last({ requests: 12, tokens: 480_000, usd: 1.44 })).toBe(
      "Saved so far:  $1.44, 480.0k tokens not sent, in 12 requests",
    );
    expect(last({ requests: 1, tokens: 40_000, usd: null })).toBe("Saved so far:  40.0k tokens not sent, in 1 request");
    expect(last({ requests: 1, tokens: 40_000, usd: -0.05 })).toBe(
      "Saved so far:  not yet paid back: $0.05, 40.0k tokens not sent, in 1 request",
    );
  });

  it("begins with how full the window is, and what the next call costs", () => {
    const tokens = { raw: 120_000, view: 50_000, by_kind: {} };
    const window = { model: "anthropic/claude-x", tokens: 200_000 };
    const next_call = { usd: 0.32, cache: "expired" } as const;
    const first = (more: object) =>
      renderStats({ turns: 1, events: 1, bytes: 1, tokens, ...more }, PLAIN)
        .split("\n")
        .slice(0, 2);
    expect(first({ window, next_call })).toEqual([
      "In the window: 50.0k of 200.0k tokens, 25 % (claude-x)",
      "Next call:     $0.32 at list price, written to the cache anew: it has expired",
    ]);
    expect(first({ paid: { requests: 212, usd: 4.1 } })[1]).toBe(
      "Paid so far:   $4.10 for 212 requests at list prices",
    );
    expect(first({})).toEqual([
      "In the window: 50.0k tokens; how many the model takes is not known",
      "Turns:         1",
    ]);
  });

  it("shows sizes, and tokens by kind with the largest first", () => {
    const by_kind = { requests: { raw: 1200, view: 1200 }, tool_results: { raw: 150_000, view: 900 } };
    const report = {
      branch: "fix-parser-k3f9/main",
      turns: 16,
      events: 1402,
      bytes: 4_200_000,
      tokens: { raw: 151_200, view: 2100, by_kind },
    };
    expect(renderStats(report, PLAIN)).toMatchInlineSnapshot(`
      "In the window: 2.1k tokens; how many the model takes is not known
      Branch:        fix-parser-k3f9/main
      Turns:         16
      Events:        1,402
      Size:          4.2 MB

      TOKENS            RAW  VIEW
      tool results   150.0k   900  -99.4%
      your requests    1.2k  1.2k
      total          151.2k  2.1k    -99%"
    `);
  });
});

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
    const last = (saved: { requests: number; tokens: number; usd: number | null }) =>
      renderStats({ turns: 1, events: 1, bytes: 1, tokens, saved }, PLAIN).split("\n").at(-1);
    expect(last({ requests: 12, tokens: 480_000, usd: 1.44 })).toBe(
      "Saved so far: $1.44, 480.0k tokens not sent, in 12 requests on the shortened view.",
    );
    expect(last({ requests: 1, tokens: 40_000, usd: null })).toBe(
      "Saved so far: 40.0k tokens not sent, in 1 request on the shortened view.",
    );
    expect(last({ requests: 1, tokens: 40_000, usd: -0.05 })).toBe(
      "Saved so far: not yet paid back: $0.05, 40.0k tokens not sent, in 1 request on the shortened view.",
    );
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
      "Branch: fix-parser-k3f9/main
      Turns:  16
      Events: 1,402
      Size:   4.2 MB

      TOKENS            RAW  VIEW
      tool results   150.0k   900  -99.4%
      your requests    1.2k  1.2k
      total          151.2k  2.1k    -99%"
    `);
  });
});

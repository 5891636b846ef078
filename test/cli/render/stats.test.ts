import { describe, expect, it } from "vitest";
import type { SearchHit } from "../../../src/app/look/search.ts";
import { createStyle } from "../../../src/cli/frame/terminal.ts";
import { renderSearch, renderStats } from "../../../src/cli/render/stats.ts";
import { safe } from "../../../src/core/safe-text.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const HIT: SearchHit = {
  conversation: "pier-k3f9",
  branch: "pier-k3f9/main",
  turn: 3,
  event: "ev1",
  type: "chat_request",
  state: "shown",
  line: "the tide table",
  from: 4,
  to: 8,
};

describe("renderSearch", () => {
  const render = (hits: readonly SearchHit[], colours = false): string =>
    renderSearch(hits, { style: createStyle(colours), width: 80 });

  it("puts events under their branch and says what a compaction did to them", () => {
    const hits: SearchHit[] = [
      HIT,
      { ...HIT, turn: 5, event: "ev2", state: "hidden", compaction: "k3f9q2" },
      { ...HIT, branch: "pier-k3f9/try-b" },
    ];
    expect(render(hits)).toBe(
      [
        "pier-k3f9/main",
        "  3:ev1  chat_request",
        "    the tide table",
        "  5:ev2  chat_request  hidden by k3f9q2",
        "    the tide table",
        "",
        "pier-k3f9/try-b",
        "  3:ev1  chat_request",
        "    the tide table",
      ].join("\n"),
    );
  });

  it("says how many more show the same", () => {
    expect(
      render([{ ...HIT, alike: 4 }])
        .split("\n")
        .slice(2),
    ).toEqual(["    the tide table", "    and 4 more with the same lines"]);
  });

  it("marks the match, and lets no control character through", () => {
    const line = "a \u001b[31mtide\u001b[0m";
    const rendered = render([{ ...HIT, line, from: line.indexOf("tide"), to: line.indexOf("tide") + 4 }], true);
    expect(rendered).toContain(createStyle(true).added(safe`tide`));
    expect(rendered).not.toContain("\u001b[31mt");
  });
});

describe("renderStats", () => {
  it("says who counted", () => {
    const tokens = { raw: 9, view: 9, by_kind: {} };
    const report = { turns: 1, events: 1, bytes: 1, tokens, tokens_source: "recorded" } as const;
    expect(renderStats(report, PLAIN)).toContain("TOKENS (recorded)  RAW  VIEW");
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

      TOKENS           RAW  VIEW
      tool results  150.0k   900  -99.4%
      requests        1.2k  1.2k
      total         151.2k  2.1k    -99%"
    `);
  });
});

// What `jpg search` prints: a line a hit.
import { describe, expect, it } from "vitest";
import type { SearchHit } from "../../../src/app/look/search.ts";
import { createStyle, displayWidth } from "../../../src/cli/frame/terminal.ts";
import { renderSearch } from "../../../src/cli/render/search.ts";
import { forTerminal, safe } from "../../../src/core/safe-text.ts";

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

  it("puts events under their branch, a line each, and says what a compaction did to them", () => {
    const hits: SearchHit[] = [
      HIT,
      { ...HIT, turn: 5, event: "b39469bb-5848-4e43-95f7-378d838559bd", state: "hidden", compaction: "k3f9q2" },
      { ...HIT, branch: "pier-k3f9/try-b", type: "tool_call_response", alike: 4 },
    ];
    expect(render(hits)).toBe(
      [
        "pier-k3f9/main",
        "  3:ev1       user          the tide table",
        "  5:b39469bb  user  hidden  the tide table",
        "",
        "pier-k3f9/try-b",
        "  3:ev1       tool          the tide table (+4 alike)",
      ].join("\n"),
    );
  });

  it.each([0, 3, 70, 300, 990])("keeps the match in sight on 80 columns, %d characters into its line", (from) => {
    const words = "海 a line about nets and tides; ".repeat(60);
    const line = `${words.slice(0, from)}MATCH${words.slice(from, 1000)}`;
    const [, hit = ""] = render([{ ...HIT, line, from, to: from + 5 }]).split("\n");
    expect(hit).toContain("MATCH");
    expect(displayWidth(forTerminal(hit))).toBeLessThanOrEqual(80);
    expect(displayWidth(forTerminal(hit))).toBeGreaterThan(70);
  });

  it("marks the match, and lets no control character through", () => {
    const line = "a \u001b[31mtide\u001b[0m";
    const rendered = render([{ ...HIT, line, from: line.indexOf("tide"), to: line.indexOf("tide") + 4 }], true);
    expect(rendered).toContain(createStyle(true).added(safe`tide`));
    expect(rendered).not.toContain("\u001b[31mt");
  });
});

import { describe, expect, it } from "vitest";
import type { ListRow } from "../../../src/app/look/list.ts";
import { renderList } from "../../../src/cli/render/list.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const now = new Date("2026-11-21T20:30:00Z");
const ACTIVE: ListRow = {
  id: "fix-parser-k3f9",
  title: "Fix the parser",
  branch: "fix-parser-k3f9/main",
  turns: 16,
  tokens: { raw: 184_200, view: 9100 },
  compactions: 2,
  forks: 1,
  updated_at: "2026-11-21T18:30:00Z",
  active: true,
};
const OTHER: ListRow = {
  ...ACTIVE,
  id: "plan-a2b3",
  branch: "plan-a2b3/try-b",
  title: "Plan\nthe move",
  tokens: { raw: 1200, view: 1200 },
  compactions: 0,
  forks: 0,
  active: false,
  pinned: true,
};

describe("renderList", () => {
  it("marks tokens that are an estimate", () => {
    const tokens = (source: "recorded" | "estimate") =>
      renderList([{ ...OTHER, tokens_source: source }], { ...PLAIN, width: 100, now });
    expect(tokens("estimate")).toContain(" ~1.2k ");
    expect(tokens("recorded")).not.toContain("~");
  });

  it("marks the active conversation and shows what its compactions save", () => {
    expect(renderList([ACTIVE, OTHER], { ...PLAIN, width: 100, now })).toMatchInlineSnapshot(`
      "  ID               BRANCH  TURNS         TOKENS  COMP  FORK  AGE  TITLE
      * fix-parser-k3f9  main       16  184.2k → 9.1k     2     1  2h   Fix the parser
        plan-a2b3        try-b      16           1.2k     -     -  2h   [pinned] Plan the move"
    `);
  });

  it("shortens titles first, so that it fits on 80 columns", () => {
    const lines = renderList([{ ...ACTIVE, title: "long ".repeat(30) }], { ...PLAIN, now }).split("\n");
    expect(lines.every((line) => line.length <= 80)).toBe(true);
    expect(lines[1]).toContain("fix-parser-k3f9 ");
  });

  it("is empty without conversations", () => {
    expect(renderList([], { ...PLAIN, now })).toBe("");
  });
});

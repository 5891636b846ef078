import { describe, expect, it } from "vitest";
import type { ListRow } from "../../../src/app/look/list.ts";
import type { LogRow } from "../../../src/app/look/log.ts";
import { renderList, renderLog } from "../../../src/cli/render/list.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const MADE: LogRow = {
  kind: "compaction",
  compaction: "k3f9q2",
  commit: "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678",
  from_turn: 0,
  to_turn: 12,
  subject: "compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)",
  source: "manual",
  live: true,
  tokens: { before: 84_200, after: 9100 },
  timestamp: "not a time",
};
const REVERTED: LogRow = {
  ...MADE,
  kind: "revert",
  commit: "a1b2c3d4",
  live: false,
  subject: 'Revert "compact 0..12"',
  tokens: null,
};

describe("renderLog", () => {
  it("has a line per commit with what became of the compaction", () => {
    expect(renderLog([REVERTED, { ...MADE, live: false }], PLAIN)).toMatchInlineSnapshot(`
      "a1b2c3d (revert of k3f9q2) Revert "compact 0..12"
      3fa9c1d (k3f9q2, reverted) compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)"
    `);
    expect(renderLog([MADE], PLAIN)).toContain("(k3f9q2, live)");
    expect(renderLog([{ ...MADE, kind: "reapply" }], PLAIN)).toContain("(reapply of k3f9q2, live)");
  });

  it("says who counted the tokens, in full", () => {
    const lines = renderLog([{ ...MADE, tokens_source: "estimate" }], { ...PLAIN, verbose: true }).split("\n");
    expect(lines).toContainEqual(expect.stringMatching(/^Tokens: +84\.2k → 9\.1k -89% \(estimate\)$/));
  });

  it("never calls a revert live", () => {
    expect(renderLog([{ ...REVERTED, live: true, not_applied: "turn 7 differs" }], PLAIN)).toMatch(
      /\(revert of k3f9q2\)/,
    );
  });

  it("says when a live compaction has no effect", () => {
    expect(renderLog([{ ...MADE, not_applied: "turn 7 differs" }], PLAIN)).toContain("(k3f9q2, not applied)");
  });

  it("shows each commit in full with verbose", () => {
    const row = { ...MADE, policies: "summary", summary: "One.\n\nTwo \u001b[2J." };
    expect(renderLog([row], { ...PLAIN, verbose: true })).toMatchInlineSnapshot(`
      "commit 3fa9c1d4e5f60718293a4b5c6d7e8f9012345678 (k3f9q2, live)
      Date:     not a time
      Range:    turns 0..12
      Policies: summary
      Tokens:   84.2k → 9.1k -89%
      Source:   manual

          compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)

          One.

          Two ␛[2J."
    `);
  });

  it("is empty without commits", () => {
    expect(renderLog([], PLAIN)).toBe("");
  });
});

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

import { describe, expect, it } from "vitest";
import type { LogRow } from "../../../src/app/look/log.ts";
import { renderLog } from "../../../src/cli/render/list.ts";
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
    const unlimited = { ...PLAIN, width: Number.POSITIVE_INFINITY };
    expect(renderLog([REVERTED, { ...MADE, live: false }], unlimited)).toMatchInlineSnapshot(`
      "a1b2c3d (revert of k3f9q2) Revert "compact 0..12"
      3fa9c1d (k3f9q2, reverted) compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)"
    `);
    expect(renderLog([MADE], PLAIN)).toContain("(k3f9q2, in force)");
    expect(renderLog([{ ...MADE, kind: "reapply" }], PLAIN)).toContain("(reapply of k3f9q2, in force)");
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
      "commit 3fa9c1d4e5f60718293a4b5c6d7e8f9012345678 (k3f9q2, in force)
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

  it("says whose an agent's own compaction is, and only its", () => {
    const own: LogRow = { ...MADE, source: "import", summary: "Done." };
    const line = (row: LogRow): string => renderLog([row], { ...PLAIN, agent: "Kelp" });
    expect(line(own)).toContain("(k3f9q2, in force, by Kelp) compact 0..12");
    expect(line({ ...own, live: false })).toContain("(k3f9q2, reverted, by Kelp)");
    expect(line({ ...own, kind: "revert", live: false })).toContain("(revert of k3f9q2) ");
    expect(line({ ...own, summary: undefined })).toContain("(k3f9q2, in force) ");
    expect(line({ ...own, source: "manual" })).toContain("(k3f9q2, in force) ");
    expect(renderLog([own], PLAIN)).toContain("(k3f9q2, in force) ");
  });

  it("cuts a row to the terminal before its tokens, and wraps its note; where there is none both stay whole", () => {
    const note = "The file is damaged: a line names a parent that is not in it. `jpg resume --repair --all` helps.";
    const row: LogRow = { ...MADE, note };
    expect(renderLog([row], { ...PLAIN, width: 50 }).split("\n")).toEqual([
      "3fa9c1d (k3f9q2, in force) compact… (84.2k → 9.1k)",
      "  The file is damaged: a line names a parent that",
      "    is not in it. `jpg resume --repair --all`",
      "    helps.",
    ]);
    expect(renderLog([row], { ...PLAIN, width: Number.POSITIVE_INFINITY }).split("\n")).toEqual([
      `3fa9c1d (k3f9q2, in force) ${MADE.subject}`,
      `  ${note}`,
    ]);
  });

  it("is empty without commits", () => {
    expect(renderLog([], PLAIN)).toBe("");
  });
});

import { describe, expect, it } from "vitest";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { renderImport } from "../../../src/cli/render/import.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";

const CREATED: ImportReport = {
  id: "fix-parser-k3f9",
  branch: "fix-parser-k3f9/main",
  turns: 16,
  events: 1402,
  compactions: 1,
  skipped_lines: 3,
  status: "created",
  source: "session.jsonl",
  skipped: [{ line: 4, reason: "not JSON" }],
};
const UPDATED: ImportReport = {
  ...CREATED,
  source: "plan.jsonl",
  id: "plan-a2b3",
  branch: "plan-a2b3/main",
  status: "updated",
  turns_added: 2,
  skipped_lines: 0,
  skipped: [],
};

const UNLIMITED = { ...PLAIN, width: Number.POSITIVE_INFINITY };

describe("renderImport", () => {
  it("has a row per session, and totals", () => {
    expect(renderImport([CREATED, UPDATED], UNLIMITED)).toMatchInlineSnapshot(`
      "STATUS   TITLE              TURNS  EVENTS  COMP  SKIPPED  ID
      created  fix-parser-k3f9       16   1,402     1        3  k3f9
      updated  plan-a2b3        16 (+2)   1,402     1        -  a2b3
      2 sessions: 1 created, 1 updated; 32 turns. 3 lines are not events; kept with the source."
    `);
  });

  it("says what was stored from beside a session, and what was left", () => {
    const left = [".env", ".ssh/", "c", "d", "e\u001b[2J", "f", "g"];
    const report = { ...CREATED, side_files: { files: 2, bytes: 41_000, left } };
    expect(renderImport([report], UNLIMITED).split("\n")[2]).toBe(
      "session/: stored 2 files of the agent (41.0 kB); left .env, .ssh/, c, d, e\u241b[2J and 2 more: not written by the agent.",
    );
  });

  it("says once that an agent is newer than what jpg was tried with", () => {
    const newer = (version: string) => ({ newer_agent: { agent: "Kelp", version, tried: "1.2.0" } });
    const lines = renderImport(
      [
        { ...CREATED, ...newer("1.3.0") },
        { ...UPDATED, ...newer("2.0.0") },
      ],
      UNLIMITED,
    ).split("\n");
    expect(lines.slice(4)).toEqual([
      "Kelp 2.0.0 is newer than the versions jpg was tested with (1.2.0): lines that jpg does not know are kept with the source.",
    ]);
  });

  it("breaks no word of its notes at the width of a terminal", () => {
    const unreached = { agent: "Kelp", turns: [{ from_turn: 0, to_turn: 16 }] };
    const rows = renderImport([{ ...CREATED, unreached }], PLAIN).split("\n");
    expect(rows.slice(2, 5)).toEqual([
      "Kelp will not see turns 0–16 of fix-parser-k3f9 on resume (broken chain); jpg",
      "  has them: `jpg resume k3f9 --repair --all` hands them back.",
      "1 session: 1 created; 16 turns. 3 lines are not events; kept with the source.",
    ]);
  });

  it("names the skipped lines with their reasons: the first of many, and all with verbose", () => {
    const named = (report: ImportReport, verbose: boolean): readonly string[] =>
      renderImport([report], { ...PLAIN, verbose, namesIn: "/home/ada" })
        .split("\n")
        .filter((line) => line.startsWith("skipped:"));
    expect(named(CREATED, false)).toEqual(["skipped: session.jsonl:4: not JSON", "skipped: session.jsonl: 2 more"]);
    const skipped = Array.from({ length: 12 }, (_, at) => ({ line: at + 1, reason: "not JSON" }));
    const many = { ...CREATED, source: "/home/ada/kelp/session.jsonl", skipped, skipped_lines: 12 };
    expect(named(many, false).slice(9)).toEqual([
      "skipped: kelp/session.jsonl:10: not JSON",
      "skipped: 2 more (--json lists them)",
    ]);
    expect(named(many, true)).toHaveLength(12);
  });

  it("counts a file that was named twice once, and the turns of a conversation once", () => {
    const total = (reports: readonly ImportReport[]): string => renderImport(reports, PLAIN).split("\n").at(-1) ?? "";
    const again: ImportReport = { ...CREATED, status: "unchanged", skipped_lines: 0 };
    expect(total([CREATED, again])).toMatch(/^1 session: 1 created; 16 turns\. 3 lines/);
    const resumed: ImportReport = { ...again, source: "resumed.jsonl", status: "updated", turns: 18 };
    expect(renderImport([again, resumed], PLAIN)).toContain("\n2 sessions: 1 updated, 1 unchanged; 18 turns.\n");
  });

  it("names conversations whole, however long their titles are", () => {
    const title = "Measure the tide at the pier, and then at the lighthouse, where it is higher";
    const rows = renderImport(
      [
        { ...CREATED, title },
        { ...UPDATED, title },
      ],
      { ...PLAIN, width: 80 },
    ).split("\n");
    expect(rows[1]).toMatch(/^created +Measure the tide at the pier.* k3f9$/);
    expect(rows[2]).toMatch(/^updated .* a2b3$/);
    expect(rows.slice(0, 3).every((row) => row.length <= 80)).toBe(true);
  });

  it("says how many conversations the files make where some make one", () => {
    const more = (source: string): ImportReport => ({ ...CREATED, source, status: "unchanged", skipped_lines: 0 });
    const said = (reports: readonly ImportReport[]): string => renderImport(reports, UNLIMITED);
    expect(said([CREATED, more("b.jsonl"), more("c.jsonl"), UPDATED])).toContain(
      "4 sessions: 1 created, 1 updated, 2 unchanged; 32 turns. 3 lines are not events; kept with the source.\n2 conversations from 4 files: 3 are of one conversation, k3f9.",
    );
    expect(said([CREATED, CREATED, UPDATED])).not.toContain("files");
  });

  it("says so when there was no session", () => {
    expect(renderImport([], PLAIN)).toBe("No sessions imported.");
  });
});

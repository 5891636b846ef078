import { describe, expect, it } from "vitest";
import { namesChange, recordSubject } from "../../../src/app/look/log.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { subjectOf } from "../../../src/store/messages.ts";

const record: Compaction = {
  type: "compaction",
  id: "k3f9q2",
  timestamp: "2026-11-21T20:30:00.123Z",
  from_turn: 0,
  to_turn: 33,
  summary: { summary: "All of it." },
};
const TOLD = "compact 0..33: summary";

describe("recordSubject", () => {
  it("words a change from its record", () => {
    expect(subjectOf([record])).toBe(TOLD);
    expect(recordSubject({ kind: "compaction", record })).toBe(TOLD);
    expect(recordSubject({ kind: "revert", record })).toBe(`Revert "${TOLD}"`);
    expect(recordSubject({ kind: "reapply", record })).toBe(`Reapply "${TOLD}"`);
    expect(recordSubject({ kind: "revert", record: null })).toBe('Revert "a record that cannot be read"');
  });
});

describe("tellsChange", () => {
  it.each([
    ["compaction", TOLD],
    ["revert", `Revert "${TOLD}"`],
    ["reapply", `Reapply "${TOLD}"`],
    ["reapply", `Revert "Revert "${TOLD}""`],
    ["revert", `Revert "Reapply "${TOLD}""`],
    ["compaction", "fork at turn 3: compactions as they were at the tip"],
  ] as const)("takes a %s told as %s", (kind, subject) => {
    expect(namesChange(subject, [{ kind, record }])).toBe(true);
  });

  it.each([
    ["compaction", "compact 3..3: reasoning stripped"],
    ["compaction", "Fix a typo"],
    ["compaction", `Revert "${TOLD}"`],
    ["revert", TOLD],
    ["revert", `Revert "Revert "${TOLD}""`],
  ] as const)("does not take a %s told as %s", (kind, subject) => {
    expect(namesChange(subject, [{ kind, record }])).toBe(false);
  });

  it("takes the subject of any record that the commit holds, and none of a record that cannot be read", () => {
    const changes = [
      { kind: "compaction", record: { ...record, to_turn: 3 } },
      { kind: "compaction", record },
    ] as const;
    expect(namesChange(TOLD, changes)).toBe(true);
    expect(namesChange(TOLD, [{ kind: "compaction", record: null }])).toBe(false);
  });
});

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { groupOf } from "../../../src/core/conversation/group.ts";
import { groupMessage } from "../../../src/store/messages.ts";

const member = (at: number, more: Partial<Compaction>): Compaction => ({
  type: "compaction",
  id: `id${at}`,
  timestamp: "2026-02-01T00:00:00Z",
  from_turn: at,
  to_turn: at,
  group: "g7w2kq",
  stats: { tokens: { before: 84_213, after: 9_102 } },
  ...more,
});
const none = { hidden: null, pinned: [], unpinned: [] };

describe("the message of a group", () => {
  it("says what is done to which turns, what is pinned, how to take it back, and ends in trailers", () => {
    const first = member(0, { turns: "omit" });
    const group = groupOf(first, [member(2, { summary: { summary: "The port is 9090.", source: "authored" } })]);
    const message = groupMessage({ group, ...none, pinned: ["3"], unpinned: ["5:e5.1"] });
    expect(message.split("\n")[0]).toBe("compact 0..2: turns omitted (0), summary (2) (84.2k → 9.1k tokens)");
    for (const part of [
      "`jpg revert id0`",
      "    0: turns omitted\n",
      "    2: summary\n",
      "Pinned:",
      "    3\n",
      "    5:e5.1\n",
      "The port is 9090.",
    ])
      expect(message).toContain(part);
    expect(message).toMatch(
      /\nJpg-Compaction: id0\nJpg-Group: g7w2kq 2\nJpg-Range: 0\.\.2\nJpg-Policy: turns=omit, summary=authored\n/,
    );
  });

  it("is bounded, however many records and however long their summaries are", () => {
    const summary = {
      summary: "Näh ".repeat(60_000),
      source: "generated" as const,
      files: Array.from({ length: 900 }, (_, at) => `a/${at}`.repeat(40)),
    };
    const all = Array.from({ length: 3000 }, (_, at) => member(2 * at, at % 2 === 0 ? { summary } : { turns: "omit" }));
    const group = groupOf(member(0, { summary }), all.slice(1));
    const message = groupMessage({ group, ...none, pinned: Array.from({ length: 999 }, (_, at) => `${at}`) });
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(60_000);
    expect(message).toContain("… and 2985 more");
  });
});

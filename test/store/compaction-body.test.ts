import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import { groupOf } from "../../src/core/conversation/group.ts";
import { compactionBody } from "../../src/store/compaction-body.ts";
import { groupMessage } from "../../src/store/messages.ts";

const base: Compaction = { type: "compaction", id: "k", timestamp: "2026-01-01T00:00:00Z", from_turn: 2, to_turn: 5 };

describe("compactionBody", () => {
  it("shows a summary with who made it, its files and open tasks", () => {
    const summary = {
      summary: "Did this.\n\nThen that.",
      source: "generated",
      model: "a/b",
      files: ["x.ts"],
      open_tasks: ["ship"],
      prompt_sha256: "ab12",
      usage: { calls: 2, input: 900, cache_read: 100, cache_write: 0, output: 80 },
      price_usd: 0.0123,
    } as const;
    expect(compactionBody({ ...base, summary }, { hidden: null })).toMatchInlineSnapshot(`
      "Details:
      \`\`\`
          Range: turns 2..5
          Policies: summary
      \`\`\`

      Summary (generated):
      \`\`\`
          Did this.

          Then that.
      \`\`\`

      How the summary was written:
      \`\`\`
          Summary model: a/b
          Prompt: sha256 ab12
          Usage: 1000 tokens sent (100 from a cache), 80 answered, 2 calls
          Price: $0.012
      \`\`\`

      Files of the summary:
      \`\`\`
          x.ts
      \`\`\`

      Open tasks:
      \`\`\`
          ship
      \`\`\`"
    `);
  });

  it("says what is not known of a model's summary, and that an extract is one", () => {
    const generated = compactionBody(
      { ...base, summary: { summary: "x", source: "generated", model: "a/b" } },
      { hidden: null },
    );
    expect(generated).toContain("    Summary model: a/b\n    Usage: not known\n    Price unknown");
    const extract = compactionBody(
      { ...base, summary: { summary: "x", source: "extractive", model: "extractive" } },
      { hidden: null },
    );
    expect(extract).toContain("Policies: summary (extract)");
    expect(extract).toContain("Summary (an extract by fixed rules, not written by a model):\n```\n    x\n```");
    expect(extract).not.toContain("Price");
  });

  it("names hints, kept events, replacements and reasons", () => {
    const body = compactionBody(
      {
        ...base,
        tool_calls: { policy: "strip", request: true, response: true },
        tool_overrides: { read: { request: "keep", response: "strip" }, "*": { response: "keep" } },
        keep: ["e1", "e2"],
        replacement: [],
        reason: "broken-parent",
      },
      { hidden: null },
    );
    expect(body).toContain("Hints: read arguments keep, results strip; * results keep");
    expect(body).toContain("Kept unchanged: 2 events");
    expect(body).toContain("Replacement: 0 events");
    expect(body).toContain("Reason: broken-parent");
  });

  it("counts what it does not list", () => {
    const files = Array.from({ length: 53 }, (_, index) => `file-${index}`);
    const none = {
      tokens: { before: 0, after: 0 },
      bytes: { before: 0, after: 0 },
      events_removed: 1,
      events_changed: 0,
    };
    const body = compactionBody(base, { hidden: { ...none, tools: [], files, commands: [], requests: [] } });
    expect(body).toContain("    file-14\n    … and 38 more");
    expect(body).not.toContain("file-15");
  });

  it("says where the facts are that it covers", () => {
    const files = { total: 3, visible: 1, summary: 0, pointer: 0, hidden: 2, mentioned_later: 1 };
    const mentioned_later = [{ kind: "files", text: "a\u0007.ts", turn: 7 }] as const;
    const body = compactionBody({ ...base, receipt: { facts: { files }, mentioned_later } }, { hidden: null });
    expect(body).toContain(
      "\n\nLoss receipt:\n```\n    files: 3, of them 1 visible, 2 hidden\n    gone but mentioned later: 1, such as a␇.ts (turn 7)\n```",
    );
    expect(compactionBody({ ...base, receipt: { facts: {}, mentioned_later: [] } }, { hidden: null })).not.toContain(
      "Loss receipt:",
    );
  });
});

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

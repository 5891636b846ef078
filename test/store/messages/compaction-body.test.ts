import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { compactionBody } from "../../../src/store/compaction-body.ts";

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
          Price: $0.0123
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

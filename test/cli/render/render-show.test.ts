import { describe, expect, it } from "vitest";
import type { ShowCompaction, ShowConversation } from "../../../src/app/look/show.ts";
import { renderShow } from "../../../src/cli/render/show.ts";
import type { HiddenContent } from "../../../src/core/compact/hidden-content.ts";
import { PLAIN } from "../../helpers/plain-rendering.ts";
import { call } from "../../helpers/sample-view.ts";

const COMMIT = "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678";
const HIDDEN: HiddenContent = {
  tokens: { before: 84_200, after: 9100 },
  bytes: { before: 330_000, after: 21_000 },
  events_removed: 41,
  events_changed: 88,
  tools: [
    { name: "fs_read_file", calls: 31, errors: 0, bytes: 210_000, tokens: 60_000 },
    { name: "run", calls: 13, errors: 2, bytes: 80_000, tokens: 20_000 },
  ],
  files: ["src/parser.ts"],
  commands: Array.from({ length: 30 }, (_, index) => `npm test ${index}`),
  requests: [],
};
const COMPACTION: ShowCompaction = {
  kind: "compaction",
  conversation: "fix-parser-k3f9",
  branch: "fix-parser-k3f9/main",
  commit: COMMIT,
  policies: "reasoning + tools stripped",
  live: true,
  event: { type: "compaction", id: "k3f9q2", timestamp: "not a time", from_turn: 0, to_turn: 12, to_event: "e9" },
  hidden: HIDDEN,
  receipt: { facts: {}, mentioned_later: [] },
};
const CONVERSATION: ShowConversation = {
  kind: "conversation",
  id: "fix-parser-k3f9",
  title: "Fix the parser",
  branch: "fix-parser-k3f9/main",
  commit: COMMIT,
  created_at: "not a time",
  updated_at: "not a time",
  source: "claude-code",
  turns: 16,
  events: 402,
  tokens: { raw: 184_200, view: 9100 },
  branches: [
    { name: "fix-parser-k3f9/main", turns: 16, active: true },
    { name: "fix-parser-k3f9/try-b", turns: 12, active: false },
  ],
  compactions: [],
};

describe("renderShow", () => {
  it("shows a compaction with what it hides", () => {
    expect(renderShow(COMPACTION, PLAIN)).toMatchInlineSnapshot(`
      "compaction k3f9q2 (in force)
      Commit:   3fa9c1d4e5f60718293a4b5c6d7e8f9012345678
      Branch:   fix-parser-k3f9/main
      Date:     not a time
      Range:    turns 0..12 (up to e9)
      Policies: reasoning + tools stripped
      Tokens:   84.2k → 9.1k -89% (turns 0..12, raw → shown, estimate)
      Bytes:    330 kB → 21.0 kB
      Events:   41 removed, 88 changed

      Tools hidden:
          TOOL          CALLS  ERRORS     SIZE  TOKENS
          fs_read_file     31       -   210 kB   60.0k
          run              13       2  80.0 kB   20.0k

      Files:
          src/parser.ts

      Commands:
          npm test 0
          npm test 1
          npm test 2
          npm test 3
          npm test 4
          npm test 5
          npm test 6
          npm test 7
          npm test 8
          npm test 9
          npm test 10
          npm test 11
          npm test 12
          npm test 13
          npm test 14
          npm test 15
          npm test 16
          npm test 17
          npm test 18
          npm test 19
          … 10 more (--json lists all)"
    `);
  });

  it("shows the text of a summary, and that it was reverted", () => {
    const event = { ...COMPACTION.event, summary: { summary: "One.\n\nTwo." } };
    const text = renderShow({ ...COMPACTION, event, live: false }, PLAIN);
    expect(text).toContain("(reverted)");
    expect(text).toContain("Summary:\n    One.\n\n    Two.");
  });

  it("shows a conversation with its branches", () => {
    expect(renderShow(CONVERSATION, PLAIN)).toMatchInlineSnapshot(`
      "conversation fix-parser-k3f9
      Title:   Fix the parser
      Branch:  fix-parser-k3f9/main
      Commit:  3fa9c1d4e5f60718293a4b5c6d7e8f9012345678
      Source:  claude-code
      Created: not a time
      Updated: not a time
      Turns:   16
      Events:  402
      Tokens:  184.2k → 9.1k

      Branches:
        * fix-parser-k3f9/main 16 turns
          fix-parser-k3f9/try-b 12 turns"
    `);
  });

  it("gives the whole view's tokens, where the compaction recorded them, beside those of its turns", () => {
    const stats = { tokens: { before: 90_000, after: 15_000 } };
    const event = { ...COMPACTION.event, from_turn: 3, to_turn: 3, stats };
    const lines = renderShow({ ...COMPACTION, event }, PLAIN).split("\n");
    expect(lines).toContain("Tokens:   84.2k → 9.1k -89% (turn 3, raw → shown, estimate)");
    expect(lines).toContain("View:     90.0k → 15.0k -83% tokens (the whole view, before → after)");
  });

  it("says who counted the tokens of a conversation", () => {
    const lines = (tokens_source: "recorded" | "estimate") =>
      renderShow({ ...CONVERSATION, tokens_source }, PLAIN).split("\n");
    expect(lines("recorded")).toContainEqual(expect.stringMatching(/^Tokens: +184\.2k → 9\.1k \(recorded\)$/));
    expect(lines("estimate")).toContainEqual(expect.stringMatching(/^Tokens: +184\.2k → 9\.1k \(estimate\)$/));
  });

  it("shows an event as it was and as the view has it", () => {
    const event = call("k1", "fs_read_file", { path: "src/a.ts", note: "\u001b[2J" });
    const report = {
      kind: "event",
      conversation: "fix-parser-k3f9",
      branch: "fix-parser-k3f9/main",
      turn: 2,
      event: { ...event, timestamp: "not a time" },
      tokens: 40,
      state: "changed",
      compaction: "k3f9q2",
      projected: call("k1", "fs_read_file", {}),
    } as const;
    expect(renderShow(report, PLAIN)).toMatchInlineSnapshot(`
      "event k1
      Kind:   tool_call_request
      Tool:   fs_read_file
      Call:   c-k1
      Date:   not a time
      Branch: fix-parser-k3f9/main
      Turn:   2
      Tokens: 40
      View:   changed by compaction k3f9q2

          path: src/a.ts
          note: ␛[2J

      In the view:
          {}"
    `);
  });
});

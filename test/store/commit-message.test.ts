// @module-tag law

import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HiddenContent } from "../../src/core/compact/hidden-content.ts";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import type { LargestChanges } from "../../src/store/compaction-body.ts";
import {
  compactionMessage,
  forkMessage,
  isForkSubject,
  parseRevertSubject,
  revertMessage,
  subjectOf,
  turnMessage,
} from "../../src/store/messages.ts";
import { anyText } from "../helpers/any-text.ts";
import { runs } from "../helpers/runs.ts";

const sha = "0123456789abcdef0123456789abcdef01234567";
const compaction: Compaction = {
  type: "compaction",
  id: "k3f9q2",
  timestamp: "2026-11-21T20:30:00.123Z",
  from_turn: 0,
  to_turn: 12,
  reasoning: "strip",
  tool_calls: { policy: "strip", request: true, response: true },
  profile: "default",
  source: "manual",
  stats: { tokens: { before: 84_213, after: 9120 } },
};
const hidden: HiddenContent = {
  tokens: { before: 84_213, after: 9120 },
  bytes: { before: 300_000, after: 30_000 },
  events_removed: 41,
  events_changed: 12,
  tools: [{ name: "Bash", calls: 12, errors: 2, bytes: 120_000, tokens: 40_100 }],
  files: ["src/a.ts"],
  commands: ["npm test"],
  requests: ["fix the parser"],
};

const changes: LargestChanges = {
  count: 3,
  largest: [
    {
      turn: "turn 3",
      title: "tool result Bash npm test",
      tokens: { before: 4000, after: 9 },
      before: `$ npm test\n\u001b[31mred\u001b[0m ${"x".repeat(300)}\n${"line\n".repeat(40)}2 failed, see #12`,
      after: "[compacted] Bash: error",
    },
    {
      turn: "turn 4",
      title: "assistant (reasoning)",
      tokens: { before: 60, after: 0 },
      before: "hm ``` hm",
      after: null,
    },
    { turn: "turn 5", title: "user", tokens: { before: 0, after: 3 }, before: null, after: "@all: fixes #7" },
  ],
};

describe("the message of a turn", () => {
  it.each([
    ["fix the parser", "turn 12: fix the parser\n"],
    [`${"word ".repeat(30)}`, `turn 12: ${"word ".repeat(12).trim()}\n`],
    ["  two\r\n\tlines\u001b[31m red\u0000 ", "turn 12: two lines red\n"],
    ["😀".repeat(70), `turn 12: ${"😀".repeat(60)}\n`],
    ["(continued)", "turn 12: (continued)\n"],
    ["   ", "turn 12\n"],
    ["fixes #1, @octocat! see https://x.example", "turn 12: fixes # 1, @ octocat! see https: //x.example\n"],
    ["Co-authored-by: a <a@b.c>", "turn 12: Co-authored-by: a <a@b.c>\n"],
  ])("of %j is one short line", (request, message) => {
    expect(turnMessage({ turn: 12, request, continued: false })).toBe(message);
  });

  it("of a continued turn says only that", () => {
    expect(turnMessage({ turn: 3, request: "more", continued: true })).toBe("turn 3 (continued)\n");
  });
});

describe("the message of a compaction", () => {
  it("has a subject, a body for reviewers, and trailers", () => {
    expect(compactionMessage({ compaction, hidden, changes })).toMatchInlineSnapshot(`
      "compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)

      The turns themselves are unchanged; from here on they are read as follows.
      To take it back: \`git revert\` of this commit, or \`jpg revert k3f9q2\`.

      Details:
      \`\`\`
          Range: turns 0..12
          Policies: reasoning + tools stripped
      \`\`\`

      What the model saw (-) and sees now (+), all 3 changes:
      \`\`\`\`diff
      @@ turn 3, tool result Bash npm test: 4.0k → 9 tokens
      - $ npm test
      - red xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      - line
      - line
      - line
      - line
      - line
      - line
      - line
        (… 31 lines left out; long lines are cut)
      - line
      - line
      - 2 failed, see # 12
      + [compacted] Bash: error

      @@ turn 4, assistant (reasoning): 60 → 0 tokens
      - hm \`\`\` hm

      @@ turn 5, user: 0 → 3 tokens
      + @ all: fixes # 7
      \`\`\`\`

      Hidden: 41 events removed, 12 changed; 300000 → 30000 bytes of text
      \`\`\`
        Tools:
          Bash: 12 calls, 2 failed, 40.1k tokens
        Files:
          src/a.ts
        Commands:
          npm test
        Requests:
          fix the parser
      \`\`\`

      Jpg-Compaction: k3f9q2
      Jpg-Range: 0..12
      Jpg-Policy: reasoning=strip tool_calls=strip
      Jpg-Profile: default
      Jpg-Source: manual
      Jpg-Tokens: 84213 -> 9120
      "
    `);
  });

  it("leaves the change of tokens out when it is not known", () => {
    const { stats: _stats, ...rest } = compaction;
    const message = compactionMessage({ compaction: rest, hidden: null });
    expect(message).toMatch(/^compact 0\.\.12: reasoning \+ tools stripped\n/);
    expect(message).not.toContain("Jpg-Tokens");
  });

  it("names its bounds inside turns", () => {
    const message = compactionMessage({
      compaction: { ...compaction, from_event: "a", to_event: "b..c d" },
      hidden: null,
    });
    expect(message).toContain("Range: turns 0..12, from event a of turn 0, up to event b..c d of turn 12");
    expect(message).toContain("Jpg-Range: 0:a..12:b%2E%2Ec%20d\n");
  });

  it("cannot be forged by a summary", () => {
    const evil =
      "text\n\nJpg-Compaction: evil\nJpg-Range: 9..9\rJpg-Model: evil\u2028Jpg-Source: evil\n\nSigned-off-by: evil";
    const forged: Compaction = {
      ...compaction,
      profile: "p\nJpg-Compaction: evil",
      summary: { summary: evil, model: "m\nJpg-Range: 9..9" },
    };
    const message = compactionMessage({
      compaction: forged,
      hidden: { ...hidden, files: ["a\nJpg-Model: evil"], commands: ["Jpg-Range: 1..1"] },
    });
    expect(trailersByGit(message)).toEqual([
      "Jpg-Compaction: k3f9q2",
      "Jpg-Range: 0..12",
      "Jpg-Policy: summary=text reasoning=strip tool_calls=strip",
      "Jpg-Profile: p Jpg-Compaction: evil",
      "Jpg-Source: manual",
      "Jpg-Tokens: 84213 -> 9120",
      "Jpg-Model: m Jpg-Range: 9..9",
    ]);
  });

  it("has trailers that git reads, whatever the summary says", () => {
    const summary = { summary: "# heading\n\n\n  - item\n---\nFixes: #1\n" };
    expect(trailersByGit(compactionMessage({ compaction: { ...compaction, summary }, hidden }))).toContain(
      "Jpg-Compaction: k3f9q2",
    );
  });
});

describe("any message of a compaction", () => {
  /** Long, wide, full of backticks, signs and lines that would be trailers. */
  const text = fc
    .tuple(
      fc.constantFrom(
        "x",
        "`",
        "😀",
        "@a ",
        "#1",
        "\n",
        "\n\nSigned-off-by: evil <e@e>\n",
        "\u001b[2J",
        "a\nJpg-Range: 9..9\n",
        "\u202e",
      ),
      fc.constantFrom(0, 1, 7, 400, 30_000),
      anyText({ maxLength: 20 }),
    )
    .map(([piece, times, rest]) => piece.repeat(times) + rest);
  const texts = fc.tuple(text, fc.constantFrom(0, 1, 3, 60)).map(([one, times]) => Array<string>(times).fill(one));
  const change = fc.record({
    turn: fc.constant("turn 3"),
    title: text,
    tokens: fc.record({ before: fc.nat(), after: fc.nat() }),
    before: fc.option(text),
    after: fc.option(text),
  });

  it("is at most 60,000 bytes, has its own trailers and no others, and no line of it is anybody's", {
    tags: ["slow"],
  }, () => {
    fc.assert(
      fc.property(fc.record({ text, texts, largest: fc.array(change, { maxLength: 10 }) }), (drawn) => {
        const message = compactionMessage({
          compaction: {
            ...compaction,
            from_event: drawn.text,
            reason: drawn.text,
            strategy: drawn.texts,
            summary: {
              summary: drawn.text,
              source: "authored",
              model: drawn.text,
              files: drawn.texts,
              open_tasks: drawn.texts,
            },
            receipt: {
              facts: { files: { total: 2, visible: 1, summary: 0, pointer: 0, hidden: 1, mentioned_later: 1 } },
              mentioned_later: [{ kind: "files", text: drawn.text, turn: 3 }],
            },
          },
          hidden: { ...hidden, files: drawn.texts, commands: drawn.texts, requests: drawn.texts },
          changes: { largest: drawn.largest, count: 70 },
        });
        expect(Buffer.byteLength(message)).toBeLessThanOrEqual(60_000);
        const [body = "", last = ""] = message.split(/\n\n(?=Jpg-Compaction)/);
        const lines = outsideFences(body);
        for (const line of lines) expect(line).toMatch(OWN_LINE);
        expect(
          last
            .trimEnd()
            .split("\n")
            .every((line) => line.startsWith("Jpg-")),
        ).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});

/** What jpg itself says outside fences. */
const OWN_LINE =
  /^(compact \d+\.\.\d+: .*|The turns themselves .*|To take it back: .*|What the model saw .*|Summary.*:|Details:|Files of the summary:|Open tasks:|Loss receipt:|Hidden: .*|)$/;

/** The lines outside every fence, as Markdown reads fences. */
function outsideFences(text: string): string[] {
  const outside: string[] = [];
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const marker: string | undefined = /^ {0,3}(`{3,})/.exec(line)?.[1];
    if (open === null && marker !== undefined) open = marker;
    else if (open !== null && marker !== undefined && marker.length >= open.length && /^ {0,3}`+ *$/.test(line))
      open = null;
    else if (open === null) outside.push(line);
  }
  expect(open).toBeNull();
  return outside;
}

function trailersByGit(message: string): string[] {
  const output = execFileSync("git", ["interpret-trailers", "--parse"], { input: message, encoding: "utf8" });
  return output.trimEnd().split("\n");
}

describe("parseRevertSubject", () => {
  it.each([
    ["compact 0..1: summary", "compact 0..1: summary", false],
    ['Revert "x"', "x", true],
    ['Reapply "x"', "x", false],
    ['Revert "Revert "x""', "x", false],
    ['Revert "Reapply "x""', "x", true],
    ['Reapply "Revert "x""', "x", true],
  ])("reads %s", (text, subject, isTakenBack) => {
    expect(parseRevertSubject(text)).toEqual({ subject, isTakenBack });
  });
});

describe("the message of a fork", () => {
  it("is told from others", () => {
    for (const isCut of [true, false]) expect(isForkSubject(forkMessage(3, isCut).trimEnd())).toBe(true);
    expect(isForkSubject("fork at turn 3: all is well")).toBe(false);
  });
});

describe("the message of a revert", () => {
  it("has stock git's words, and takes itself back", () => {
    const revert = revertMessage({ isBack: false, subject: subjectOf([compaction]), commit: sha });
    expect(revert).toBe(
      `Revert "compact 0..12: reasoning + tools stripped (84.2k → 9.1k tokens)"\n\nThis reverts commit ${sha}.\n`,
    );
    expect(parseRevertSubject(revert.split("\n")[0]!)).toEqual({ subject: subjectOf([compaction]), isTakenBack: true });
    expect(revertMessage({ isBack: true, subject: "x", commit: sha })).toBe(
      `Reapply "x"\n\nThis reverts commit ${sha}.\n`,
    );
  });
});

describe("the range in the trailers", () => {
  const event = fc.option(fc.string({ minLength: 1, unit: "grapheme" }), { nil: undefined });

  it("can be read back, whatever its events are called", () => {
    fc.assert(
      fc.property(fc.nat(99), event, fc.nat(99), event, (from_turn, from_event, length, to_event) => {
        const bounds = {
          from_turn,
          to_turn: from_turn + length,
          ...(from_event === undefined ? {} : { from_event }),
          ...(to_event === undefined ? {} : { to_event }),
        };
        const message = compactionMessage({ compaction: { ...compaction, ...bounds }, hidden: null });
        const ends = /^Jpg-Range: (\S+)$/m.exec(message)![1]!.split("..");
        const read = ends.map((end) => end.split(":"));
        expect(read.map(([turn]) => Number(turn))).toEqual([bounds.from_turn, bounds.to_turn]);
        const written = [from_event, to_event];
        for (const [at, id] of written.entries()) {
          const named = read[at]![1] === undefined ? undefined : decodeURIComponent(read[at]!.slice(1).join(":"));
          expect(named).toBe(id);
        }
      }),
    );
  });
});

// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fence,
  forHost,
  forHostLine,
  forJson,
  forLine,
  forMarkdown,
  forTerminal,
  forTerminalLine,
  hostLines,
  joinLines,
  joinSafe,
  type SafeText,
  safe,
} from "../../src/core/safe-text.ts";
import { anyText } from "../helpers/any-text.ts";

const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** What an attacker sends: clears the screen, writes the clipboard, colours by C1, turns text around. */
const ATTACK = "\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u009b31m\u0000\u202e\u2066\u200f\u061c\ud83d";
const piece = fc.oneof(
  anyText(),
  fc.constantFrom(
    "\u001b",
    "\u001b[",
    "\u009b",
    "31m",
    "\u202e",
    "\u061c",
    "\u2028",
    "\r\n",
    "\ud800",
    "\\ud800",
    "```",
    "</p>",
  ),
);
const foreign = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

describe("forTerminal", () => {
  it("leaves no unsafe character, and keeps the length", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expect(forTerminal(text)).not.toMatch(UNSAFE);
        expect(forTerminal(text)).toHaveLength(text.length);
      }),
    );
  });

  it("shows an escape sequence instead of sending it", () => {
    expect(forTerminal("a\u001b[2Jb\u009b31m\u007f")).toBe("a␛[2Jb\ufffd31m␡");
  });

  it("keeps ordinary text of any script", () => {
    const text = "größe 日本語 🎉 👩‍🚀\tx\n";
    expect(forTerminal(text)).toBe(text);
  });
});

describe("forTerminalLine", () => {
  it("makes one line", () => {
    expect(forTerminalLine("  a\r\n\tb \u0007 ")).toBe("a b ␇");
  });
});

describe("forLine", () => {
  it("leaves one clean line, no longer than asked", () => {
    fc.assert(
      fc.property(foreign, fc.integer({ min: 1, max: 20 }), (text, limit) => {
        const line = forLine(text, limit);
        expect(line).not.toMatch(UNSAFE);
        expect(line).not.toMatch(/[\t\n\u2028\u2029]|\p{Cs}|^\s|\s$/u);
        expect([...line].length).toBeLessThanOrEqual(limit);
        expect(forLine(line, limit)).toBe(line);
      }),
    );
  });

  it("removes colours, direction marks and halves of characters", () => {
    expect(forLine("a\u001b[31mred\u001b[0m \u202eb\u200f\ud800c")).toBe("ared b\ufffdc");
  });

  it("looks only at the start of a long text", () => {
    expect(forLine("word ".repeat(2_000_000), 9)).toBe("word word");
  });
});

describe("forMarkdown", () => {
  it("leaves no unsafe character", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        expect(forMarkdown(text)).not.toMatch(UNSAFE);
      }),
    );
  });

  it("removes colours and shows what else an attacker sends, so that it hides nothing", () => {
    expect(forMarkdown("\u001b[1;31mred\u001b[0m\tx\n\u001b]0;never ended")).toBe("red\tx\n␛]0;never ended");
  });
});

describe("forJson", () => {
  it("changes no value but halves of surrogate pairs, also in names, and leaves nothing unsafe", () => {
    const whole = (text: string): string => text.replace(/\p{Cs}/gu, "\ufffd");
    fc.assert(
      fc.property(foreign, foreign, (name, text) => {
        const json = forJson(JSON.stringify([[name, text], { [`k${name}`]: text }]));
        expect(json).not.toMatch(UNSAFE);
        expect(JSON.parse(json)).toEqual([[whole(name), whole(text)], { [whole(`k${name}`)]: whole(text) }]);
      }),
    );
  });

  it("treats a backslash in text as a character", () => {
    expect(JSON.parse(forJson(JSON.stringify("\\ud800 \ud800")))).toBe("\\ud800 \ufffd");
  });

  it("makes JSON that no terminal obeys", () => {
    expect(forJson(JSON.stringify(ATTACK))).toBe(
      '"\\u001b[2J\\u001b]52;c;ZXZpbA==\\u0007\\u009b31m\\u0000\\u202e\\u2066\\u200f\\u061c\ufffd"',
    );
  });
});

describe("safe", () => {
  const foreign = String("a\u001b[2J");
  const count = foreign.length;

  it("joins own words, numbers and safe text", () => {
    const word = count === 1 ? "turn" : "turns";
    expect(safe`${count} ${word} of ${forTerminalLine(foreign)}\n`).toBe("5 turns of a␛[2J\n");
    expect(joinSafe([safe`a`, "", safe`b`], ", ")).toBe("a, , b");
    expect(joinLines([safe`a`, safe`b`])).toBe("a\nb");
  });

  it("does not compile with text that nobody made safe", () => {
    // Each line is one that `npm run types` refuses; were it to compile, the unused expectation would be the error.
    const refused: readonly (() => SafeText)[] = [
      // @ts-expect-error: a string is not safe
      () => foreign,
      // @ts-expect-error: neither in a template
      () => safe`${foreign}`,
      // @ts-expect-error: nor where a template hides it
      () => safe`${`turn ${foreign}`}`,
      // @ts-expect-error: nor where it is one of two
      () => safe`${count === 1 ? "a" : foreign}`,
      // @ts-expect-error: nor as what joins
      () => joinSafe([safe`a`], foreign),
    ];
    for (const make of refused) expect(make()).toContain("a");
  });
});

const UNSAFE_TEXT = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** What hosts look for, in their own words: GitHub's and GitLab's references, Gitea's, closing words, Jira's commands, CI. */
const HOSTS: readonly RegExp[] = [
  /(?:^|\W)@[a-z0-9][a-z0-9-]*/i,
  /#\d+/,
  /\bGH-\d+/i,
  /(?<!\w)!\d+/,
  /(?:^|[\s([])(?:[#!][0-9]+)(?:\s|$|[)\]'":;,.?!])/,
  /(?:^|\s|\(|\[)@[0-9]+[wdmh]/,
  /[\w.-]+\/[\w.-]+@[0-9a-f]{7,40}\b/,
  /\/(?:issues|pull|pulls|merge_requests|commit)\/[0-9a-f]+/i,
  /\b(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? +(?:issues? +)?(?:#\d+|[A-Z][A-Z0-9_]+-\d+)/,
  /[A-Z][A-Z0-9_]+-\d+\s+#[a-z]+/,
  /\[(?:skip ci|ci skip|no ci|skip actions|actions skip|ci[ _-]skip|skip[ _-]ci)\]/i,
  /\*\*\*NO_CI\*\*\*/i,
];
const pieceText = fc.oneof(
  anyText({ maxLength: 8 }),
  fc.constantFrom(
    ..."@ # ! & ` ``` ~~~ [ ] ( ) / : - > 1 23 deadbee \t \n".split(" "),
    " ",
    "name",
    "org/repo",
    "fixes",
    "Closes:",
    "issue",
    "GH-",
    "ABC-12",
    "#close",
    "[skip ci]",
    "ci skip",
    "skip_ci",
    "***NO_CI***",
    "https://host.example/o/r/issues/",
    "/merge_requests/",
    "\u001b[31m",
    "\u001b",
    "\u202e",
    "\u2028",
    "\r",
    "\ud800",
    "Signed-off-by: a <a@b.c>",
    "</pre><script>",
  ),
);
const foreignText = fc.array(pieceText, { maxLength: 12 }).map((pieces) => pieces.join(""));

describe("text for a host", () => {
  it.each([
    ["fixes #1 and closes org/repo#3", "fixes # 1 and closes org/repo# 3"],
    ["thanks @octocat, mail me@example.com", "thanks @ octocat, mail me@example.com"],
    ["npm i @types/node@22", "npm i @ types/node@22"],
    ["see !12, &7, GH-9 and AB#4", "see ! 12, & 7, GH- 9 and AB# 4"],
    ["run it 2>&1 & wait", "run it 2>&1 & wait"],
    ["docs only [skip ci] [ci-skip] ***NO_CI***", "docs only [ skip ci] [ ci-skip] *** NO_CI***"],
    ["an [index] of [many words] here", "an [index] of [many words] here"],
    ["Fixes: ABC-12, later", "Fixes: ABC- 12, later"],
    ["ABC-12 #close #time 2h", "ABC- 12 #close #time 2h"],
    ["UTF-8 and SHA-256", "UTF-8 and SHA-256"],
    ["# heading, #fff, C# and #include", "# heading, #fff, C# and #include"],
    ["resolves https://host.example/o/r/issues/7", "resolves https://host.example/o/r/issues/ 7"],
  ])("of %j is %j", (text, broken) => {
    expect(forHost(text)).toBe(broken);
  });

  it("has no address in a line outside a fence", () => {
    expect(forHostLine("open https://evil.example/x now")).toBe("open https: //evil.example/x now");
  });

  it("holds nothing that a host acts on, whatever was said; once is enough", () => {
    fc.assert(
      fc.property(foreignText, (text) => {
        for (const line of hostLines(text)) {
          for (const sign of HOSTS) expect(line).not.toMatch(sign);
          expect(line).not.toMatch(UNSAFE_TEXT);
          expect(line).not.toMatch(/\p{Cs}/u);
        }
        expect(forHost(forHost(text))).toBe(forHost(text));
        expect(forHostLine(forHostLine(text))).toBe(forHostLine(text));
      }),
    );
  });
});

describe("a fence", () => {
  it("is longer than any run of backticks in it, and no line begins with foreign text", () => {
    expect(fence([{ mark: "- ", text: "a ```` b" }])).toBe("`````\n- a ```` b\n`````");
    fc.assert(
      fc.property(foreignText, fc.constantFrom("    " as const, "- " as const, "@@ " as const), (text, mark) => {
        const [open, ...rest] = fence(hostLines(text).map((line) => ({ mark, text: line }))).split("\n");
        const close = rest.pop();
        expect(close).toBe(open);
        for (const line of rest) {
          expect(line.startsWith(mark) || line === mark.trimEnd()).toBe(true);
          expect(line).not.toContain(open);
        }
      }),
    );
  });
});

// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fence, forHost, forHostLine, hostLines } from "../../src/core/safe-text.ts";
import { anyText } from "../helpers/any-text.ts";

const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
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
const piece = fc.oneof(
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
const foreign = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));

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

  it("has no address in a line that stands in no fence", () => {
    expect(forHostLine("open https://evil.example/x now")).toBe("open https: //evil.example/x now");
  });

  it("holds nothing that a host acts on, whatever was said; once is enough", () => {
    fc.assert(
      fc.property(foreign, (text) => {
        for (const line of hostLines(text)) {
          for (const sign of HOSTS) expect(line).not.toMatch(sign);
          expect(line).not.toMatch(UNSAFE);
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
      fc.property(foreign, fc.constantFrom("    " as const, "- " as const, "@@ " as const), (text, mark) => {
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

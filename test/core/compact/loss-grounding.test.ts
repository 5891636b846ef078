// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkGrounding, sourceFacts } from "../../../src/core/compact/grounding.ts";
import type { Event } from "../../../src/core/conversation/event.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const raw: readonly Event[] = [
  { type: "chat_request", ...base, content: "Make the  parser\nfaster, say “please” to src/core/parser.ts" },
  { type: "tool_call_request", ...base, call_id: "c", name: "RunCommand", arguments: { command_line: "make all" } },
  {
    type: "tool_call_response",
    ...base,
    call_id: "c",
    content: "took 1234 ms, 45% of 2500; a1b2c3d #77 https://x.example/a; resolveBound(turn)",
    is_error: false,
  },
  { type: "note", ...base, kind: "hidden", data: "the secret note" },
];

describe("checkGrounding", () => {
  it("lets pass what the events bear out", () => {
    const summary = [
      'Asked to "Make the parser faster, say …please… to src/core/parser.ts." in parser.ts and `core/parser.ts`.',
      "`RunCommand` with `command_line` took 1,234 ms (45%, of 2,500, about 1.2k), see a1b2c3d, #77,",
      'https://x.example/a and `resolveBound()`. A "short" one.',
    ].join("\n");
    expect(checkGrounding(summary, raw)).toEqual([]);
  });

  it("lists what is nowhere in them, each once", () => {
    const summary =
      'He said "make it slower now" and "make it slower now" in src/core/lexer.ts at b2c3d4e: 1,235 ms, 46%, #78, `https://y.example`, “the secret note”.';
    expect(checkGrounding(summary, raw)).toEqual([
      { kind: "quote", text: "make it slower now" },
      { kind: "quote", text: "the secret note" },
      { kind: "path", text: "src/core/lexer.ts" },
      { kind: "sha", text: "b2c3d4e" },
      { kind: "number", text: "1235 ms" },
      { kind: "number", text: "46%" },
      { kind: "issue", text: "#78" },
      { kind: "url", text: "https://y.example" },
    ]);
  });

  it("wants the parts of a cut quotation in their order", () => {
    expect(checkGrounding('"parser faster ... Make the"', raw)).toMatchObject([{ kind: "quote" }]);
    expect(checkGrounding('"Make the ... parser faster"', raw)).toEqual([]);
  });

  it("takes a mark that nothing closes for none", () => {
    expect(checkGrounding('6" long\nand “open, `too', raw)).toEqual([]);
  });

  const said = (...messages: readonly string[]): readonly Event[] =>
    messages.map((message) => ({ type: "chat_response", ...base, message }));

  it("searches for 500 of each kind", () => {
    const many = (text: (n: number) => string): string => Array.from({ length: 501 }, (_, n) => text(n)).join("\n");
    const findings = checkGrounding(`${many((n) => `"made up ${n}"`)}\n${many((n) => `#${n + 1}`)}`, []);
    expect(findings.filter(({ kind }) => kind === "quote")).toHaveLength(500);
    expect(findings.filter(({ kind }) => kind === "issue")).toHaveLength(500);
    expect(findings.at(-1)).toEqual({ kind: "issue", text: "#500" });
  });

  it("does not search for what the events hold as it is", () => {
    const held = Array.from({ length: 500 }, (_, n) => `#${n + 1}`).join(" ");
    expect(checkGrounding(`${held} #9999`, said(held))).toEqual([{ kind: "issue", text: "#9999" }]);
  });

  it("finds no quotation across two texts, nor the parts of one twice in one place", () => {
    expect(checkGrounding('"alphabet soup"', said("alpha", "bet soup"))).toEqual([
      { kind: "quote", text: "alphabet soup" },
    ]);
    const twice = '"please … please"';
    expect(checkGrounding(twice, said("please"))).toEqual([{ kind: "quote", text: "please … please" }]);
    expect(checkGrounding(twice, said("please, please"))).toEqual([]);
    expect(checkGrounding('"resolveBound() again"', said("resolveBound(turn)"))).toHaveLength(1);
  });

  it("takes calls with arguments of any form", () => {
    const calls = [null, "the patch text", ["the list item"]].map(
      (args): Event => ({ type: "tool_call_request", ...base, call_id: "c", name: "ApplyPatch", arguments: args }),
    );
    expect(checkGrounding('`ApplyPatch` with "the patch text" and "the list item"', calls)).toEqual([]);
  });

  it.each([
    ["a path by its base name", "src/core/lexer.ts", "the lexer.tsx", []],
    ["a bare name", "lexer.ts", "the parser.ts", ["lexer.ts"]],
    ["a URL by the whole of it only", "https://x.example/other/page", "the page", ["https://x.example/other/page"]],
    ["a SHA by its first digits", "a1b2c3d", "a1b2c3d4e5f60718", []],
    ["a SHA by its first digits only", "b2c3d4e", "a1b2c3d4f5f60718", ["b2c3d4e"]],
    ["rounded numbers not at all", "1.2k, 3M, 2g, 10x", "nothing", []],
    ["a path that ends like a rounded number", "/var/log/2k", "nothing", ["/var/log/2k"]],
    ["a number with a unit of its own", "15 seconds, 10 bytes", "nothing", ["15 seconds", "10 bytes"]],
    ["a number with another unit", "234 ms", "234px4", []],
    ["a number inside another one", "234 ms", "1234 rows, 2345 rows, 0234a 9234b 2340c 2349d", ["234 ms"]],
    ["a number between marks", "234 ms", "9234b /234:", []],
    ["a number in groups of digits", "1234567.25 ms", "at $1,234,567.25each", []],
    ["a number in other groups", "1234567 ms", "at 123,4567each", ["1234567 ms"]],
  ])("looks for %s", (_, summary, text, made) => {
    expect(checkGrounding(summary, said(text)).map((finding) => finding.text)).toEqual(made);
  });
});

describe("sourceFacts", () => {
  const said = (...messages: readonly string[]): readonly Event[] =>
    messages.map((message) => ({ type: "chat_response", ...base, message }));

  it("gives each fact the first events that say it", () => {
    const events = said(
      "none",
      "see src/a/parser.ts",
      "1,234 rows of #77",
      "the parser.ts has 1234 rows",
      "#77 #77",
      "#77",
      "#77",
    );
    expect(sourceFacts('parser.ts, src/a/parser.ts, 1234 rows, #77, #78, "rows of #77"', events)).toEqual([
      { kind: "quote", text: "rows of #77", places: [2] },
      { kind: "path", text: "parser.ts", places: [1, 3] },
      { kind: "path", text: "src/a/parser.ts", places: [1] },
      { kind: "number", text: "1234", places: [2, 3] },
      { kind: "issue", text: "#77", places: [2, 4, 5] },
      { kind: "issue", text: "#78", places: [] },
    ]);
  });

  it("leaves those without a place that the grounding check finds, no others", () => {
    const word = fc.constantFrom(
      "src/core/parser.ts",
      "parser.ts",
      "b2c3d4e",
      "a1b2c3d4",
      "#77",
      "#7",
      "1,234",
      "1234 ms",
      "234",
      "1.2k",
      "46%",
      '"Make the parser … please"',
      '"please … parser faster"',
      "`resolveBound()`",
      '"... ......"',
      "https://x.example/a",
      "please",
      "parser",
      "faster",
      "\n",
    );
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 5 }), (summary, texts) => {
        const events = [...raw, ...said(...texts)];
        const unsaid = sourceFacts(summary, events).filter(({ places }) => places.length === 0);
        expect(unsaid.map(({ kind, text: fact }) => ({ kind, text: fact }))).toEqual(checkGrounding(summary, events));
      }),
    );
  });
});

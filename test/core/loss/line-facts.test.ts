// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  errorLines,
  requestSentences,
  scanLines,
  scanPieces,
  scanSentences,
  type VisitPiece,
} from "../../../src/core/compact/facts.ts";
import type { Event } from "../../../src/core/conversation/event.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };

function pieces(scan: (text: string, visit: VisitPiece) => void, text: string): readonly string[] {
  const found: string[] = [];
  scan(text, (start, end) => found.push(text.slice(start, end)));
  return found;
}

describe("scanning texts", () => {
  it.each([
    ["one\ntwo", ["one", "two"]],
    ["  one \r\n\n\t\v\f\n\u00a0two\u00a0\n", ["one", "two"]],
    ["", []],
    [" \n ", []],
    ["a\bb\u000eb\n\u0008", ["a\bb\u000eb", "\u0008"]],
  ])("visits the lines of %j", (text, lines) => {
    expect(pieces(scanLines, text)).toEqual(lines);
  });

  it.each([
    ["One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]],
    ["v1.2 is out.\nNext", ["v1.2 is out.", "Next"]],
    ["What?! Yes.  No. ", ["What?!", "Yes.", "No."]],
    ["One.\tTwo, three; four", ["One.", "Two, three; four"]],
    [". a", [".", "a"]],
  ])("visits the sentences of %j", (text, sentences) => {
    expect(pieces(scanSentences, text)).toEqual(sentences);
  });

  it.each([
    ["one line", ["one line"]],
    ["One. Two", ["One. Two", "One.", "Two"]],
    ["One.", ["One."]],
    ["run `a b` or ` c `", ["run `a b` or ` c `", "a b", "or", "c"]],
    ["`a", ["`a"]],
    ["`` `a", ["`` `a"]],
    ["Run `a. b` now! Then", ["Run `a. b` now! Then", "Run `a.", "a. b", "b` now!", "Then"]],
  ])("visits the lines, sentences and spans of code of %j", (text, found) => {
    expect(pieces(scanPieces, text)).toEqual(found);
  });
});

describe("errorLines", () => {
  const result = (is_error: boolean, ...texts: readonly string[]): Event => ({
    type: "tool_call_response",
    ...base,
    call_id: "c",
    content: texts.map((text) => ({ type: "text", text })),
    is_error,
  });

  it("takes the first line of a failed result once, and lines that begin like errors in all its texts", () => {
    expect(errorLines(result(true, "\n one\ntwo", "three\nfatal: four"))).toEqual(["one", "fatal: four"]);
    expect(errorLines(result(true, "error: one\ntwo"))).toEqual(["error: one"]);
    expect(errorLines(result(false, "one\ntwo", "three"))).toEqual([]);
  });

  it("looks at the first 160 characters of a line, and takes it whole", () => {
    const line = (blanks: number): string => `${"a".repeat(blanks - 1)}: error`;
    expect(errorLines(result(false, line(100)))).toEqual([line(100)]);
    const rest = `error: ${"b".repeat(300)}`;
    expect(errorLines(result(false, rest))).toEqual([rest]);
    const spaced = (blanks: number): string => `a.ts:${" ".repeat(blanks)}error`;
    expect(errorLines(result(false, spaced(1), spaced(2)))).toEqual([spaced(1)]);
    const thread = (name: number): string => `${"w".repeat(name)}Error: x`;
    expect(errorLines(result(false, thread(80), thread(81)))).toEqual([thread(80)]);
  });

  it("finds in a text what it finds in each of its lines", () => {
    const word = fc.constantFrom(
      ..."error: |Error:|ERROR |a.ts: error|npm ERR!|panic: |thread 'x' panicked|Traceback (|fatal: ".split("|"),
      ..."KeyException: |err|exception|FATAL|a|\u2003|\u00a0| |\t|\r".split("|"),
    );
    const text = fc.array(fc.oneof(word, fc.constant("\n")), { maxLength: 30 }).map((words) => words.join(""));
    fc.assert(
      fc.property(text, fc.boolean(), (whole, isError) => {
        const lines = pieces(scanLines, whole);
        const alone = lines.flatMap((line, at) => errorLines(result(isError && at === 0, line)));
        expect(errorLines(result(isError, whole))).toEqual(alone);
      }),
    );
  });
});

describe("requestSentences", () => {
  it("takes the sentences of all texts that hold a word", () => {
    const content = ["One. --- Two", "***\n3"].map((text) => ({ type: "text", text }) as const);
    expect(requestSentences({ type: "chat_request", ...base, content })).toEqual(["One.", "--- Two", "3"]);
    expect(requestSentences({ type: "chat_response", ...base, message: "One." })).toEqual([]);
  });
});

// @module-tag law
// What stripped and truncated calls look like.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Content, ToolCallRequest, ToolCallResponse } from "../../../src/core/conversation/event.ts";
import {
  dropLongTexts,
  stripCall,
  stripResult,
  truncateCall,
  truncateResult,
  truncateText,
} from "../../../src/core/conversation/tool-stub.ts";
import { anyText } from "../../helpers/any-text.ts";
import { runs } from "../../helpers/runs.ts";

const call: ToolCallRequest = {
  type: "tool_call_request",
  id: "r1",
  timestamp: "2026-01-01T00:00:00Z",
  call_id: "c1",
  name: "grep",
  arguments: { pattern: "0123456789".repeat(10), flags: ["-n"], depth: 2 },
};

function result(content: Content, isError = false): ToolCallResponse {
  return {
    type: "tool_call_response",
    id: "r2",
    timestamp: "2026-01-01T00:00:01Z",
    call_id: "c1",
    content,
    is_error: isError,
  };
}

describe("strip", () => {
  it("empties the arguments and keeps name and call id", () => {
    expect(stripCall(call)).toEqual({ ...call, arguments: {} });
  });

  it("leaves exactly the status line, naming an unknown tool so", () => {
    expect(stripResult(result("out"), "grep", {})).toEqual(result("[compacted] grep: success"));
    expect(stripResult(result("out", true), undefined, {})).toEqual(result("[compacted] unknown: error", true));
  });

  it("shows the first line that is not blank, shortened, where asked", () => {
    const lined = stripResult(result("\n  \n  found it  \nmore"), "grep", { firstLine: true });
    expect(lined.content).toBe("[compacted] grep: success\nfound it");
    const long = stripResult(result("x".repeat(5000)), "grep", { firstLine: true });
    expect(long.content).toBe(`[compacted] grep: success\n${"x".repeat(200)}…`);
    expect(stripResult(result(""), "grep", { firstLine: true, pointers: true }).content).toBe(
      "[compacted] grep: success · r2",
    );
  });
});

describe("the head of arguments in a stub", () => {
  const headOf = (given: unknown): unknown =>
    stripResult(result("out"), "grep", { headOf: { ...call, arguments: given } }).content;
  const lineOf = (given: unknown): string => String(headOf(given)).split("\n").slice(1).join("\n");

  it("is the arguments as JSON after the status line, before the first line of the result", () => {
    expect(headOf({ command: "npm test", dry: true })).toBe(
      '[compacted] grep: success\n{"command":"npm test","dry":true}',
    );
    const all = { headOf: call, firstLine: true, pointers: true };
    expect(stripResult(result("found\nmore", true), "grep", all).content).toMatch(
      /^\[compacted\] grep: error · r2\n\{"pattern":"0123456789.*…\nfound$/,
    );
    expect(headOf("npm test")).toBe('[compacted] grep: success\n"npm test"');
  });

  it.each([[{}], [undefined]])("is not there where there is nothing to say: %j", (given) => {
    expect(headOf(given)).toBe("[compacted] grep: success");
  });

  it("is cut after 120 characters, never inside a character", () => {
    expect(lineOf({ text: "x".repeat(500) })).toBe(`{"text":"${"x".repeat(111)}…`);
    expect(lineOf({ text: "x".repeat(109) })).toHaveLength(120);
    expect(lineOf({ text: `${"x".repeat(110)}🙂` })).toBe(`{"text":"${"x".repeat(110)}…`);
  });

  it("is one line of safe text, whatever the arguments hold", () => {
    expect(lineOf({ text: "a\u2028b\u202ec\u009b\n\ud800" })).toBe('{"text":"a\\u2028b\\u202ec\\u009b\\n\ufffd"}');
    fc.assert(
      fc.property(fc.jsonValue(), anyText(), (value, text) => {
        const line = lineOf({ text, value });
        expect(line.length).toBeLessThanOrEqual(121);
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/);
        expect(line).not.toMatch(/\p{Surrogate}/u);
        const whole = stripResult(result(""), "t", { headOf: { ...call, arguments: { text, value } } });
        if (!line.endsWith("…")) expect(whole.content).toBe(`[compacted] t: success\n${line}`);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("drop", () => {
  const write = (args: unknown): ToolCallRequest => ({ ...call, arguments: args });
  const dropped = (args: unknown, maxChars: number): unknown => dropLongTexts(write(args), maxChars).arguments;

  it("leaves out the long texts at any depth and keeps the rest in its order", () => {
    const args = {
      file_path: "a.ts",
      content: "x".repeat(11),
      edits: [{ old: "y".repeat(11), all: true }, "z".repeat(11)],
    };
    expect(dropped(args, 10)).toEqual({ file_path: "a.ts", edits: [{ all: true }] });
    expect(Object.keys(dropped(args, 10) as object)).toEqual(["file_path", "edits"]);
  });

  it("gives back the very call when nothing is long, and an object when the whole of the arguments is", () => {
    const short = write({ file_path: "0123456789", n: 1, none: null });
    expect(dropLongTexts(short, 10)).toBe(short);
    expect(dropped("x".repeat(11), 10)).toEqual({});
  });

  it("leaves out texts that were moved to attachments", () => {
    expect(dropped({ path: "a", content: { $attachment: "ab/cd" } }, 1000)).toEqual({ path: "a" });
    const moved = "x".repeat(256 * 1024 + 1);
    expect(dropped({ path: "a", content: moved, kept: moved.slice(1) }, 1_000_000)).toEqual({
      path: "a",
      kept: moved.slice(1),
    });
  });
});

describe("truncate", () => {
  it("keeps head and tail and says how much is missing", () => {
    const text = `${"a".repeat(60)}${"b".repeat(60)}`;
    expect(truncateText(text, { max_chars: 20 })).toBe(
      `${"a".repeat(10)}\n[compacted: 100 characters left out]\n${"b".repeat(10)}`,
    );
    expect(truncateText(text, { max_chars: 20, head: 0 })).toBe(
      `\n[compacted: 100 characters left out]\n${"b".repeat(20)}`,
    );
  });

  it("leaves a result alone that is short or would not become shorter", () => {
    const short = result("0123456789");
    expect(truncateResult(short, { max_chars: 10 }, "grep", {})).toBe(short);
    expect(truncateResult(short, { max_chars: 9 }, "grep", {})).toBe(short);
  });

  it("never makes a text longer nor cuts a character in two", () => {
    const text = anyText({ maxLength: 200 });
    const limits = fc.record({
      max_chars: fc.integer({ min: 1, max: 100 }),
      head: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(text, limits, (whole, truncation) => {
        const shorter = truncateText(whole, truncation);
        expect(shorter.length).toBeLessThanOrEqual(whole.length);
        expect(shorter).not.toMatch(/\p{Surrogate}/u);
      }),
      { numRuns: runs(300) },
    );
  });

  it("counts the text of all parts together and keeps the other parts", () => {
    const image = { type: "image", media_type: "image/png" } as const;
    const text = (size: number, letter: string) => ({ type: "text", text: letter.repeat(size) }) as const;
    const shorter = truncateResult(result([text(60, "a"), image, text(60, "b")]), { max_chars: 20 }, "grep", {});
    const joined = `${"a".repeat(10)}\n[compacted: 101 characters left out]\n${"b".repeat(10)}`;
    expect(shorter.content).toEqual([{ type: "text", text: joined }, image]);
  });

  it("strips a result whose text was not brought in", () => {
    const referenced = result({ $attachment: "abc" });
    expect(truncateResult(referenced, { max_chars: 10 }, "grep", {}).content).toBe("[compacted] grep: success");
  });

  it("shortens long strings inside arguments and keeps the rest by reference", () => {
    const shorter = truncateCall(call, { max_chars: 4 });
    expect(shorter.arguments).toEqual({
      pattern: "01\n[compacted: 96 characters left out]\n89",
      flags: ["-n"],
      depth: 2,
    });
    expect(truncateCall(call, { max_chars: 100 })).toBe(call);
  });
});

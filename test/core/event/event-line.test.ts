// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import { formatEventLine, parseEventLine } from "../../../src/core/conversation/turn-file.ts";
import { MAX_RECORD_DEPTH } from "../../../src/core/json.ts";
import { anyCharacter } from "../../helpers/any-text.ts";

const where = { file: "turns/0000/000003.jsonl", line: 7 };
const parse = (value: unknown): Event => parseEventLine(JSON.stringify(value), where);
const base = { id: "a1", timestamp: "2026-03-01T10:00:00Z" };

describe("parseEventLine", () => {
  it.each<[string, object]>([
    ["a request", { type: "chat_request", ...base, content: "hello" }],
    ["a request in parts", { type: "chat_request", ...base, role: "system", content: [{ type: "text", text: "x" }] }],
    ["an answer", { type: "chat_response", ...base, message: "hi", metadata: { message_id: "m" } }],
    ["reasoning kept as an attachment", { type: "chat_response", ...base, reasoning: { $attachment: "ab.txt" } }],
    ["data that is null", { type: "chat_response", ...base, data: null }],
    ["a call", { type: "tool_call_request", ...base, call_id: "c", name: "read", arguments: { path: "x" } }],
    ["a result", { type: "tool_call_response", ...base, call_id: "c", content: "", is_error: false }],
    ["a request of a developer", { type: "chat_request", ...base, role: "developer", content: { $attachment: "a" } }],
    ["a request of the user", { type: "chat_request", ...base, role: "user", content: [] }],
    ["a start after another turn", { type: "turn_start", ...base, prev: "ab" }],
    ["settings from turn 0", { type: "config_delta", ...base, delta: null, at_turn: 0 }],
    ["an inquiry", { type: "inquiry_request", ...base }],
    ["an answer to it", { type: "inquiry_response", ...base }],
    ["a note", { type: "note", ...base, kind: "progress" }],
    ["a note of which the kind was moved", { type: "note", ...base, kind: { $attachment: "ab.txt" } }],
    ["an unknown kind", { type: "weather", id: "w1", wind: [1, { from: "west" }] }],
    ["unknown fields", { type: "turn_start", ...base, colour: "blue" }],
  ])("keeps %s as it is", (_name, event) => {
    expect(parse(event)).toEqual(event);
  });

  it("refuses what nests too deep to be walked", () => {
    const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const event = (levels: number): string => `{"type":"weather","id":"w1","wind":${nested(levels)}}`;
    expect(parseEventLine(event(MAX_RECORD_DEPTH - 1), where).type).toBe("weather");
    for (const levels of [MAX_RECORD_DEPTH, 100_000])
      expect(() => parseEventLine(event(levels), where)).toThrow(/nested deeper than 1000 levels/);
  });

  it.each<[string, unknown, string]>([
    ["is no object", [1], "expected a JSON object, found a list"],
    ["has no type", { id: "a" }, '"type" is missing, expected a non-empty string'],
    ["has an empty id", { type: "note", id: "" }, '"id" is empty'],
    ["has a number as id", { type: "note", id: 3 }, '"id" is a number'],
    ["has no time", { type: "turn_start", id: "a" }, '"timestamp" is missing'],
    ["answers twice", { type: "chat_response", ...base, message: "a", data: 1 }, "found message and data"],
    ["answers nothing", { type: "chat_response", ...base }, "found none"],
    ["has a number as content", { type: "chat_request", ...base, content: 5 }, '"content" is a number'],
    ["has a part without type", { type: "chat_request", ...base, content: [{}] }, '"content" is a list, expected'],
    ["has an unknown role", { type: "chat_request", ...base, content: "", role: "king" }, '"role" is a string'],
    ["calls no tool", { type: "tool_call_request", ...base, call_id: "c", arguments: {} }, '"name" is missing'],
    ["does not say if it failed", { type: "tool_call_response", ...base, call_id: "c", content: "" }, '"is_error"'],
    ["is null", null, "expected a JSON object, found null: null"],
    ["is a text", "x", "expected a JSON object, found a string"],
    ["has an id that is null", { type: "note", id: null }, '"id" is null, expected a non-empty string'],
    [
      "has a number as an earlier turn",
      { type: "turn_start", ...base, prev: 1 },
      '"prev" is a number, expected an object id',
    ],
    ["has no content", { type: "chat_request", ...base }, '"content" is missing, expected a text or a list of parts'],
    ["has a part that is a text", { type: "chat_request", ...base, content: ["x"] }, '"content" is a list, expected'],
    [
      "has a part whose type is a number",
      { type: "chat_request", ...base, content: [{ type: 1 }] },
      '"content" is a list',
    ],
    ["refers to no name", { type: "chat_request", ...base, content: { $attachment: 1 } }, '"content" is a object'],
    [
      "answers with a number",
      { type: "chat_response", ...base, message: 1 },
      '"message" is a number, expected a text or a list',
    ],
    ["thinks in a list", { type: "chat_response", ...base, reasoning: [] }, '"reasoning" is a list, expected a text'],
    [
      "has a number as call id",
      { type: "tool_call_request", ...base, call_id: 1, name: "n", arguments: {} },
      '"call_id" is a number, expected a string',
    ],
    [
      "has no call id",
      { type: "tool_call_response", ...base, content: "", is_error: false },
      '"call_id" is missing, expected a string',
    ],
    [
      "has no arguments",
      { type: "tool_call_request", ...base, call_id: "c", name: "n" },
      '"arguments" is missing, expected a JSON value',
    ],
    [
      "fails by a word",
      { type: "tool_call_response", ...base, call_id: "c", content: "", is_error: "no" },
      '"is_error" is a string, expected true or false',
    ],
    ["changes no settings", { type: "config_delta", ...base }, '"delta" is missing, expected a JSON value'],
    [
      "stands at turn -1",
      { type: "config_delta", ...base, delta: {}, at_turn: -1 },
      '"at_turn" is a number, expected a turn position >= 0',
    ],
    ["stands at half a turn", { type: "config_delta", ...base, delta: {}, at_turn: 0.5 }, '"at_turn" is a number'],
    ["notes nothing", { type: "note", ...base }, '"kind" is missing, expected a string'],
    [
      "has a time that is a number",
      { type: "inquiry_request", ...base, timestamp: 1 },
      '"timestamp" is a number, expected an RFC 3339 time',
    ],
    ["has a list as metadata", { type: "turn_start", ...base, metadata: [] }, '"metadata" is a list'],
  ])("refuses an event that %s", (_name, value, reason) => {
    expect(() => parse(value)).toThrowError(
      expect.objectContaining({ code: "malformed_line", kind: "repository", message: expect.stringContaining(reason) }),
    );
  });

  it("names file, line, reason and the start of the text, without control characters", () => {
    const text = `{"type":"\u001b[31m${"long ".repeat(40)}`;
    expect(() => parseEventLine(text, where)).toThrowError(
      /^turns\/0000\/000003\.jsonl:7 is not an event: not valid JSON: \{"type":"␛\[31mlong [a-z ]*…$/,
    );
    expect(() => parseEventLine("  ", where)).toThrowError(/the line is empty/);
    expect(() => parseEventLine("[]", where)).toThrowError(
      expect.objectContaining({
        message: `${where.file}:7 is not an event: expected a JSON object, found a list: [].`,
        data: { ...where, reason: "expected a JSON object, found a list" },
        hints: [`Look at line 7 of ${where.file}, or run: jpg fsck`],
      }),
    );
  });

  it("shows 60 characters of a line at most, blanks at its end not counted", () => {
    const shown = (text: string) => {
      try {
        parseEventLine(text, where);
      } catch (error) {
        return (error as Error).message.split("not valid JSON: ")[1];
      }
      return undefined;
    };
    expect(shown(`${"x".repeat(60)}  \n`)).toBe(`${"x".repeat(60)}.`);
    expect(shown("x".repeat(61))).toBe(`${"x".repeat(60)}…`);
    expect(shown("a\u0000b\u009fc\u007fd")).toBe("a␀b\ufffdc␡d.");
  });
});

describe("formatEventLine", () => {
  it("writes type, id and timestamp first and metadata last", () => {
    const event = {
      metadata: { model: "m" },
      content: "hello",
      timestamp: base.timestamp,
      role: "user",
      id: "a1",
      type: "chat_request",
    };
    expect(formatEventLine(event as Event)).toBe(
      `{"type":"chat_request","id":"a1","timestamp":"${base.timestamp}","content":"hello","role":"user","metadata":{"model":"m"}}`,
    );
  });

  it("writes what parsing reads back, for any event and any field", () => {
    const events = fc
      .record({
        fields: fc.dictionary(fc.string(), fc.jsonValue({ stringUnit: anyCharacter })),
        kind: fc.constantFrom("note", "weather"),
      })
      .map(({ fields, kind }) => ({ ...fields, kind: "k", metadata: {}, ...base, type: kind }));
    fc.assert(
      fc.property(events, (event) => {
        const line = formatEventLine(event as unknown as Event);
        expect(line).not.toContain("\n");
        const parsed = parseEventLine(line, where);
        // JSON has one zero.
        expect(parsed).toEqual(JSON.parse(JSON.stringify(event)));
        expect(formatEventLine(parsed)).toBe(line);
      }),
    );
  });

  it("writes type, id and time first also where a field is called by a number, and leaves out what is not there", () => {
    const event = { ...base, type: "note", 7: "seven", kind: "k", data: undefined, metadata: { model: "m" } };
    expect(formatEventLine(event as unknown as Event)).toBe(
      `{"type":"note","id":"a1","timestamp":"${base.timestamp}","7":"seven","kind":"k","metadata":{"model":"m"}}`,
    );
    expect(formatEventLine({ ...event, metadata: undefined } as unknown as Event)).toBe(
      `{"type":"note","id":"a1","timestamp":"${base.timestamp}","7":"seven","kind":"k"}`,
    );
  });

  it("keeps a field called __proto__ as a field", () => {
    const line = `{"type":"weather","id":"w","timestamp":"t","__proto__":{"wind":1}}`;
    expect(formatEventLine(parseEventLine(line, where))).toBe(line);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { formatEventLine, parseEventLine } from "../../src/core/event-line.ts";

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
    ["a note", { type: "note", ...base, kind: "progress" }],
    ["an unknown kind", { type: "weather", id: "w1", wind: [1, { from: "west" }] }],
    ["unknown fields", { type: "turn_start", ...base, colour: "blue" }],
  ])("keeps %s as it is", (_name, event) => {
    expect(parse(event)).toEqual(event);
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
    ["has a list as metadata", { type: "turn_start", ...base, metadata: [] }, '"metadata" is a list'],
  ])("refuses an event that %s", (_name, value, reason) => {
    expect(() => parse(value)).toThrowError(
      expect.objectContaining({ code: "malformed_line", kind: "repository", message: expect.stringContaining(reason) }),
    );
  });

  it("names file, line, reason and the start of the text, without control characters", () => {
    const text = `{"type":"\u001b[31m${"long ".repeat(40)}`;
    expect(() => parseEventLine(text, where)).toThrowError(
      /^turns\/0000\/000003\.jsonl:7 is not an event: not valid JSON: \{"type":"·\[31mlong [a-z ]*…$/,
    );
    expect(() => parseEventLine("  ", where)).toThrowError(/the line is empty/);
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
        fields: fc.dictionary(fc.string(), fc.jsonValue({ noUnicodeString: false })),
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

  it("keeps a field called __proto__ as a field", () => {
    const line = `{"type":"weather","id":"w","timestamp":"t","__proto__":{"wind":1}}`;
    expect(formatEventLine(parseEventLine(line, where))).toBe(line);
  });
});

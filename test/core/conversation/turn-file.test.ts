// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import {
  cutTurnFile,
  cutTurnFileBefore,
  formatEventLine,
  formatTurnFile,
  parseEventLine,
  parseTurnFile,
  sourcePath,
  turnDirectory,
  turnIndexOfPath,
  turnPath,
} from "../../../src/core/conversation/turn-file.ts";
import { MAX_RECORD_DEPTH } from "../../../src/core/json.ts";
import { anyCharacter } from "../../helpers/any-text.ts";
import { parseConversation } from "../../helpers/notation.ts";

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

const events = parseConversation("U R T t A")[0]?.events ?? [];
const text = formatTurnFile(events);

describe("turn files", () => {
  it("read back what was written, a line an event", () => {
    expect(parseTurnFile(text, "f")).toEqual(events);
    expect(text.split("\n")).toHaveLength(events.length + 1);
    expect(text.endsWith("\n")).toBe(true);
    expect(parseTurnFile("", "f")).toEqual([]);
  });

  it("accept a last line without a line end and Windows line ends", () => {
    expect(parseTurnFile(text.slice(0, -1), "f")).toEqual(events);
    expect(parseTurnFile(text.replaceAll("\n", "\r\n"), "f")).toEqual(events);
  });

  it("name file and line of what is malformed", () => {
    expect(() => parseTurnFile(`${text}\n`, "turns/x.jsonl")).toThrowError(
      /^turns\/x\.jsonl:7 is not an event: the line is empty/,
    );
  });
});

describe("turn paths", () => {
  it("hold 100 turns a directory", () => {
    expect(turnPath(12)).toBe("turns/0000/000012.jsonl");
    expect(turnPath(12_345)).toBe("turns/0123/012345.jsonl");
  });

  it("give the position back, and only for turn files", () => {
    fc.assert(fc.property(fc.nat(50_000_000), (index) => turnIndexOfPath(turnPath(index)) === index));
    for (const path of ["turns/0001/000012.jsonl", "turns/0000/12.jsonl", "sources/s/0000/000012.jsonl", "x"]) {
      expect(turnIndexOfPath(path)).toBeNull();
    }
  });

  it("name the pieces of a source", () => {
    expect(sourcePath("s-1", 12)).toBe("sources/s-1/0000/000012.jsonl");
    expect(sourcePath("s-1", 12, 1)).toBe("sources/s-1/0000/000012.p01.jsonl");
  });

  it("number directories and pieces, and take session names of 128 letters", () => {
    expect([0, 12, 12_345].map(turnDirectory)).toEqual(["turns/0000", "turns/0012", "turns/12345"]);
    expect([turnPath(99), turnPath(100)]).toEqual(["turns/0000/000099.jsonl", "turns/0001/000100.jsonl"]);
    expect(sourcePath("s", 100, 12)).toBe("sources/s/0001/000100.p12.jsonl");
    expect(sourcePath("x".repeat(128), 0)).toBe(`sources/${"x".repeat(128)}/0000/000000.jsonl`);
    expect(sourcePath("a.b", 0)).toBe("sources/a.b/0000/000000.jsonl");
    expect(sourcePath(".a.", 0)).toBe("sources/.a./0000/000000.jsonl");
    expect(() => sourcePath("a/b", 0)).toThrowError(
      expect.objectContaining({
        message: '"a/b" cannot name a folder of sources: expected 1 to 128 of `A-Z a-z 0-9 . _ -`.',
      }),
    );
    for (const path of ["xturns/0000/000012.jsonl", "turns/0000/000012.jsonl.x", "turns/0000/0000012.jsonl"])
      expect(turnIndexOfPath(path)).toBeNull();
    expect(turnIndexOfPath("turns/10000/1000000.jsonl")).toBe(1_000_000);
    expect(turnIndexOfPath("turns/0000/000012.jsonl")).toBe(12);
  });

  it.each(["", ".", "..", "...", " a", "a b", "a/b", "a\u0000b", "x".repeat(129)])(
    "refuse the session name %j",
    (name) => {
      expect(() => sourcePath(name, 0)).toThrowError(expect.objectContaining({ code: "bad_session_name" }));
    },
  );
});

describe("cutting a turn file", () => {
  it("keeps everything up to the event's line end, or up to its line", () => {
    for (const [index, event] of events.entries()) {
      expect(parseTurnFile(cutTurnFile(text, event.id) ?? "", "f")).toEqual(events.slice(0, index + 1));
      expect(parseTurnFile(cutTurnFileBefore(text, event.id) ?? "x", "f")).toEqual(events.slice(0, index));
    }
    expect(cutTurnFile(text, events.at(-1)?.id ?? "")).toBe(text);
  });

  it("is not misled by an id inside another event", () => {
    const quoting = `{"type":"note","id":"n","timestamp":"t","kind":"k","data":{"id":"e9"}}\n`;
    const named = `{"type":"note","id":"e9","timestamp":"t","kind":"k"}\n`;
    expect(cutTurnFile(quoting + named + quoting, "e9")).toBe(quoting + named);
    expect(cutTurnFileBefore(quoting + named, "e9")).toBe(quoting);
  });

  it("finds an event in a line without a line end, and skips lines that are no objects", () => {
    const named = `{"type":"note","id":"e9","timestamp":"t","kind":"k"}`;
    expect(cutTurnFile(named, "e9")).toBe(named);
    expect(cutTurnFile(`no JSON "e9"\n${named}`, "e9")).toBe(`no JSON "e9"\n${named}`);
    expect(cutTurnFile('no JSON "e9"\n', "e9")).toBeNull();
    expect(cutTurnFileBefore(named, "e9")).toBe("");
    const odd = `"e9"\nnull\n["e9"]\n{"kind":"e9"}\n`;
    expect(cutTurnFileBefore(odd + named, "e9")).toBe(odd);
    expect(cutTurnFile(odd, "e9")).toBeNull();
  });

  it("gives null for an event that is not there", () => {
    expect(cutTurnFile(text, "nowhere")).toBeNull();
    expect(cutTurnFileBefore(text, "nowhere")).toBeNull();
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/compaction.ts";
import {
  compactionFileName,
  formatCompactionLine,
  formatRecordLine,
  parseCompactionLine,
  parseRecordLine,
  recordPath,
} from "../../src/core/compaction-line.ts";

const file = "compactions/x.jsonl";
const plain: Compaction = {
  type: "compaction",
  id: "k3f9q2",
  timestamp: "2026-11-21T20:30:00.123Z",
  from_turn: 0,
  to_turn: 12,
};
const parse = (fields: object): Compaction => parseCompactionLine(JSON.stringify({ ...plain, ...fields }), file);

describe("parseCompactionLine", () => {
  it.each<[string, object]>([
    [
      "every policy",
      { reasoning: "strip", tool_calls: { policy: "strip", request: true, response: false }, attachments: "strip" },
    ],
    ["truncation", { tool_calls: { policy: "truncate", max_chars: 2000, head: 0.5 } }],
    [
      "selection",
      {
        tool_calls: {
          policy: "selective",
          calls: [{ event: "e", request: "keep", response: { truncate: { max_chars: 9 } } }],
          else: { policy: "omit" },
        },
      },
    ],
    ["hints", { tool_overrides: { read: { request: "keep" }, "*": { response: "strip" } } }],
    [
      "a summary",
      { summary: { summary: "s", source: "imported", inject: "request", files: ["a"] }, keep: ["e1"], covers: "c" },
    ],
    ["a replacement", { replacement: [{ type: "chat_request", content: "x" }] }],
    ["event bounds", { from_event: "a", to_event: "b", turns: "omit", basis: ["x"] }],
    ["statistics", { stats: { original_message_count: 3, tokens: { before: 9, after: 1 } } }],
    ["unknown fields", { mood: { good: true } }],
  ])("reads %s", (_name, fields) => {
    expect(parse(fields)).toEqual({ ...plain, ...fields });
  });

  it.each<[string, object, string]>([
    [
      "a negative position",
      { from_turn: -1 },
      '"from_turn": expected a turn position (whole number, 0 or more), found -1',
    ],
    ["a position in words", { to_turn: "last" }, '"to_turn": expected a turn position'],
    [
      "a date that is none",
      { timestamp: "yesterday" },
      '"timestamp": expected an RFC 3339 time in UTC, found "yesterday"',
    ],
    [
      "an unknown policy",
      { tool_calls: { policy: "squeeze" } },
      '"tool_calls.policy": expected "strip" or "truncate" or "omit" or "selective", found "squeeze"',
    ],
    ["a short word as policy", { tool_calls: "strip" }, '"tool_calls": expected an object, found "strip"'],
    ["half a strip policy", { tool_calls: { policy: "strip", request: true } }, '"tool_calls.response": missing'],
    [
      "an unknown hint",
      { tool_overrides: { read: { request: "maybe" } } },
      '"tool_overrides.read.request": expected "keep" or "strip"',
    ],
    ["a wrong call", { tool_calls: { policy: "selective", calls: [{}] } }, '"tool_calls.calls.0.event": missing'],
    ["reasoning other than strip", { reasoning: true }, '"reasoning": expected "strip", found true'],
    ["a summary as text", { summary: "short" }, '"summary": expected an object'],
    ["a keep that is no list", { keep: "e1" }, '"keep": expected a list'],
    ["another type", { type: "config_delta" }, '"type": expected "compaction"'],
  ])("refuses %s", (_name, fields, reason) => {
    expect(() => parse(fields)).toThrowError(
      expect.objectContaining({
        code: "malformed_compaction",
        kind: "repository",
        message: expect.stringContaining(`${file} is not a compaction: ${reason}`),
      }),
    );
  });

  it.each([
    ["", "the file is empty"],
    ["{", "not valid JSON"],
    ["[]", "expected an object, found []"],
    [`${JSON.stringify(plain)}\n${JSON.stringify(plain)}\n`, "expected one line, found several"],
    ["<<<<<<< HEAD\n{}\n=======\n", "expected one line, found several"],
  ])("refuses the text %j", (text, reason) => {
    expect(() => parseCompactionLine(text, file)).toThrowError(reason);
  });
});

describe("formatCompactionLine", () => {
  it("writes one line, spaces before each top-level key in turn", () => {
    expect(formatCompactionLine(plain, [0, 2])).toBe(
      `{"type":"compaction",  "id":"k3f9q2","timestamp":"2026-11-21T20:30:00.123Z",  "from_turn":0,"to_turn":12}`,
    );
    expect(formatCompactionLine(plain, [])).toBe(JSON.stringify(plain));
  });

  it("is read back whatever the padding and the unknown fields", () => {
    const padding = fc.array(fc.nat(63), { maxLength: 12 });
    fc.assert(
      fc.property(padding, fc.dictionary(fc.string(), fc.jsonValue()), (spaces, unknown) => {
        const compaction = { ...unknown, ...plain } as Compaction;
        const line = formatCompactionLine(compaction, spaces);
        expect(line).not.toContain("\n");
        expect(parseCompactionLine(`${line}\n`, file)).toEqual(JSON.parse(JSON.stringify(compaction)));
      }),
    );
  });

  it.each([64, -1, 1.5])("refuses padding of %d spaces", (count) => {
    expect(() => formatCompactionLine(plain, [count])).toThrowError(expect.objectContaining({ code: "bad_padding" }));
  });
});

describe("records of config and meta", () => {
  it("are read back and keep unknown fields", () => {
    const record = { type: "meta", id: "m1", timestamp: plain.timestamp, title: "A title", more: [1] };
    expect(parseRecordLine(`${formatRecordLine(record, [5])}\n`, "meta/x.jsonl")).toEqual(record);
  });

  it.each(["", "[]", "null", `{"type":"meta","id":"m"}`, "nonsense"])("refuse %j with malformed_record", (text) => {
    expect(() => parseRecordLine(text, "meta/x.jsonl")).toThrowError(
      expect.objectContaining({ code: "malformed_record" }),
    );
  });
});

describe("names of record files", () => {
  it("sort by time and carry the id", () => {
    expect(compactionFileName(plain.timestamp, plain.id)).toBe("20261121T203000.123Z-k3f9q2.jsonl");
    expect(recordPath("config", "2026-11-21 20:30:00+00:00", "p81")).toBe("config/20261121T203000.000Z-p81.jsonl");
    expect(compactionFileName("2026-11-21T20:30:00.123456Z", "a")).toBe("20261121T203000.123Z-a.jsonl");
  });

  it.each([
    ["2026-11-21", "a"],
    [plain.timestamp, "../a"],
    [plain.timestamp, ""],
  ])("are refused for %j and %j", (timestamp, id) => {
    expect(() => compactionFileName(timestamp, id)).toThrowError(expect.objectContaining({ code: "bad_record_name" }));
  });
});

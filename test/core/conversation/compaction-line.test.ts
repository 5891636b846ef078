// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import {
  compactionFileName,
  formatCompactionLine,
  formatRecordLine,
  parseCompactionLine,
  parseRecordLine,
  recordPath,
} from "../../../src/core/conversation/compaction-line.ts";

const file = "compactions/x.jsonl";
const plain: Compaction = {
  type: "compaction",
  id: "k3f9q2",
  timestamp: "2026-11-21T20:30:00.123Z",
  from_turn: 0,
  to_turn: 12,
};
const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (thrown) {
    return thrown;
  }
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
    [" \t\n", "the file is empty"],
    ["{", "not valid JSON"],
    ["[]", "expected an object, found []"],
    [`${JSON.stringify(plain)}\n${JSON.stringify(plain)}\n`, "expected one line, found several"],
    [`${JSON.stringify(plain)}\n\n`, "expected one line, found several"],
    [`\n${JSON.stringify(plain)}`, "expected one line, found several"],
    ["<<<<<<< HEAD\n{}\n=======\n", "expected one line, found several"],
  ])("refuses the text %j and says how to take the file back", (text, reason) => {
    expect(thrownBy(() => parseCompactionLine(text, file))).toMatchObject({
      kind: "repository",
      code: "malformed_compaction",
      message: `${file} is not a compaction: ${reason}.`,
      data: { file, reason },
      hints: [
        `To see what changed it: git log -p -- ${file}`,
        `To take the file back as it was: git restore --source=COMMIT -- ${file}`,
      ],
    });
  });

  it("passes on what the JSON parser said", () => {
    expect(thrownBy(() => parseCompactionLine("{", file))).toMatchObject({ cause: expect.any(SyntaxError) });
    expect(thrownBy(() => parseRecordLine("{", file))).toMatchObject({ cause: expect.any(SyntaxError) });
  });

  it("reads a line that ends as on Windows, or not at all", () => {
    for (const end of ["", "\n", "\r\n"]) expect(parseCompactionLine(JSON.stringify(plain) + end, file)).toEqual(plain);
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
    expect(thrownBy(() => formatCompactionLine(plain, [0, count]))).toMatchObject({
      kind: "internal",
      code: "bad_padding",
      message: `A padding of ${count} spaces is not possible: expected whole numbers from 0 to 63.`,
    });
  });

  it("takes padding of 63 spaces, and leaves out fields without a value", () => {
    const record = { type: "meta", id: "m1", title: undefined, more: 1 };
    expect(formatRecordLine(record, [63, 0])).toBe(
      `{${" ".repeat(63)}"type":"meta","id":"m1",${" ".repeat(63)}"more":1}`,
    );
  });
});

describe("records of config and meta", () => {
  it("are read back and keep unknown fields", () => {
    const record = { type: "meta", id: "m1", timestamp: plain.timestamp, title: "A title", more: [1] };
    expect(parseRecordLine(`${formatRecordLine(record, [5])}\n`, "meta/x.jsonl")).toEqual(record);
  });

  it.each([
    ["", "the file is empty"],
    ["nonsense", "not valid JSON"],
    ["[]", "expected a JSON object"],
    ["null", "expected a JSON object"],
    ['"a text"', "expected a JSON object"],
    ['{"id":"m","timestamp":"t"}', '"type" is missing or not a string'],
    ['{"type":"meta","id":"","timestamp":"t"}', '"id" is missing or not a string'],
    ['{"type":"meta","id":7,"timestamp":"t"}', '"id" is missing or not a string'],
    ['{"type":"meta","id":"m"}', '"timestamp" is missing or not a string'],
  ])("refuse %j with malformed_record", (text, reason) => {
    expect(thrownBy(() => parseRecordLine(text, "meta/x.jsonl"))).toMatchObject({
      kind: "repository",
      code: "malformed_record",
      message: `meta/x.jsonl is not a record: ${reason}.`,
      data: { file: "meta/x.jsonl", reason },
    });
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
    [plain.timestamp, "a".repeat(65)],
    [`at ${plain.timestamp}`, "a"],
    [`${plain.timestamp}!`, "a"],
    ["2026-11-21T20:30:00", "a"],
    ["2026-11-21T20:30:00.Z", "a"],
  ])("are refused for %j and %j", (timestamp, id) => {
    expect(thrownBy(() => compactionFileName(timestamp, id))).toMatchObject({
      kind: "user",
      code: "bad_record_name",
      message: `No file can be named after "${timestamp}" and "${id}": expected an RFC 3339 time in UTC and 1 to 64 of \`A-Z a-z 0-9 _ -\`.`,
    });
  });

  it("hold ids of up to 64 characters", () => {
    const id = "a".repeat(64);
    expect(compactionFileName("2026-11-21T20:30:00Z", id)).toBe(`20261121T203000.000Z-${id}.jsonl`);
  });
});

import { describe, expect, it } from "vitest";
import { checkCompaction } from "../../../src/core/conversation/compaction-line.ts";

const MINIMAL = { type: "compaction", id: "k1", timestamp: "2026-03-01T00:00:00Z", from_turn: 0, to_turn: 0 };
const WHOLE = "a whole number, 0 or more";
const POSITION = "a turn position (whole number, 0 or more)";
const TIME = "an RFC 3339 time in UTC";
const KEEP_OR_STRIP = '"keep" or "strip"';
const POLICIES = '"strip" or "truncate" or "omit" or "selective"';
const usage = { calls: 1, input: 0, cache_read: 0, cache_write: 0, output: 0 };

/** Calls of a selective policy with what is said of one half. */
const half = (request: unknown): object => ({ tool_calls: { policy: "selective", calls: [{ event: "e", request }] } });
const truncate = (more: object): object => ({ tool_calls: { policy: "truncate", max_chars: 9, ...more } });
const summary = (more: object): object => ({ summary: { summary: "s", ...more } });

describe("a compaction is well formed", () => {
  it.each<[string, object]>([
    ["the least there is", {}],
    ["positions", { from_turn: 3, to_turn: Number.MAX_SAFE_INTEGER, from_event: "a", to_event: "b", keep: ["c"] }],
    ["times of other forms", { timestamp: "2026-03-01 00:00:00.123456+00:00" }],
    ["a time without a zone", { timestamp: "2026-03-01T00:00:00" }],
    ["empty lists", { keep: [], replacement: [], basis: [], strategy: [], tools: { policy: "prune", names: [] } }],
    ["every part of a summary", summary({ source: "extractive", inject: "system", model: "", files: [""], usage })],
    ["a summary for nothing", { summary: { summary: "", price_usd: 0 } }],
    ["the bounds of a share", { ...truncate({ max_chars: 1, head: 0 }), stats: { compression_ratio: 0.5 } }],
    ["the other bound of a share", truncate({ head: 1 })],
    ["words for halves of calls", half("omit")],
    ["shortened arguments", half({ drop: { max_chars: 1 } })],
    ["truncated halves", half({ truncate: { max_chars: 1, head: 0.5 } })],
    ["hints", { tool_overrides: { constructor: { request: "keep", response: "strip" }, "*": {} } }],
    ["stubs", { stubs: { pointers: true, first_line: false } }],
    ["heads in stubs", { stubs: { heads: true }, needs: ["heads"] }],
    ["a receipt", { receipt: { facts: {}, mentioned_later: [{}] } }],
    ["unknown fields, also by names that every object has", { mood: 1, toString: 2, summary: { summary: "s", x: [] } }],
    ["known fields of another place", { metadata: { from_turn: -1 }, calls: 7 }],
  ])("with %s", (_name, fields) => {
    expect(checkCompaction({ ...MINIMAL, ...fields })).toBeNull();
  });

  it.each([["type"], ["id"], ["timestamp"], ["from_turn"], ["to_turn"]])("not without %s", (name) => {
    const left = Object.fromEntries(Object.entries(MINIMAL).filter(([key]) => key !== name));
    expect(checkCompaction(left)).toBe(`"${name}": missing`);
  });

  it.each<[unknown, string]>([
    [null, "null"],
    [[], "[]"],
    ["text", '"text"'],
    [undefined, "nothing"],
  ])("not as %j, which is no object", (value, found) => {
    expect(checkCompaction(value)).toBe(`expected an object, found ${found}`);
  });

  it.each<[object, string, string, string]>([
    [{ type: 7 }, "type", '"compaction"', "7"],
    [{ id: "" }, "id", "a non-empty string", '""'],
    [{ id: 1 }, "id", "a non-empty string", "1"],
    [{ timestamp: 1 }, "timestamp", TIME, "1"],
    [{ timestamp: "2026-03-01T00:00:00+01:00" }, "timestamp", TIME, '"2026-03-01T00:00:00+01:00"'],
    [{ from_turn: -1 }, "from_turn", POSITION, "-1"],
    [{ to_turn: 0.5 }, "to_turn", POSITION, "0.5"],
    [{ to_turn: "0" }, "to_turn", POSITION, '"0"'],
    [{ keep: "e1" }, "keep", "a list", '"e1"'],
    [{ keep: { 0: "e1" } }, "keep", "a list", '{"0":"e1"}'],
    [{ keep: ["e1", ""] }, "keep.1", "a non-empty string", '""'],
    [{ summary: "s" }, "summary", "an object", '"s"'],
    [{ summary: { summary: 1 } }, "summary.summary", "a string", "1"],
    [
      summary({ source: "guessed" }),
      "summary.source",
      '"generated" or "authored" or "extractive" or "imported"',
      '"guessed"',
    ],
    [summary({ files: ["a", 1] }), "summary.files.1", "a string", "1"],
    [summary({ usage: { ...usage, output: -1 } }), "summary.usage.output", WHOLE, "-1"],
    [summary({ price_usd: -0.1 }), "summary.price_usd", "a number, 0 or more", "-0.1"],
    [summary({ price_usd: "0" }), "summary.price_usd", "a number, 0 or more", '"0"'],
    [{ replacement: [[]] }, "replacement.0", "an object", "[]"],
    [{ turns: true }, "turns", '"omit"', "true"],
    [{ tool_calls: { policy: "toString" } }, "tool_calls.policy", POLICIES, '"toString"'],
    [{ tool_calls: { policy: "strip", request: 1, response: true } }, "tool_calls.request", "true or false", "1"],
    [truncate({ max_chars: 0 }), "tool_calls.max_chars", "a whole number above 0", "0"],
    [truncate({ head: 1.1 }), "tool_calls.head", "a share from 0 to 1", "1.1"],
    [truncate({ head: -0.1 }), "tool_calls.head", "a share from 0 to 1", "-0.1"],
    [truncate({ head: "1" }), "tool_calls.head", "a share from 0 to 1", '"1"'],
    [half("hide"), "tool_calls.calls.0.request", '"keep" or "strip" or "omit"', '"hide"'],
    [half({ drop: {}, truncate: { max_chars: 1 } }), "tool_calls.calls.0.request.drop.max_chars", "", ""],
    [
      half({ truncate: { max_chars: 0 } }),
      "tool_calls.calls.0.request.truncate.max_chars",
      "a whole number above 0",
      "0",
    ],
    [half({}), "tool_calls.calls.0.request.truncate", "", ""],
    [
      { tool_calls: { policy: "selective", calls: [], else: { policy: "selective" } } },
      "tool_calls.else.policy",
      '"strip" or "truncate" or "omit"',
      '"selective"',
    ],
    [{ tool_overrides: [] }, "tool_overrides", "an object", "[]"],
    [{ tool_overrides: { a: {}, b: { request: "omit" } } }, "tool_overrides.b.request", KEEP_OR_STRIP, '"omit"'],
    [{ stubs: { pointers: "yes" } }, "stubs.pointers", "true or false", '"yes"'],
    [{ tools: { policy: "prune" } }, "tools.names", "", ""],
    [{ receipt: { facts: [], mentioned_later: [] } }, "receipt.facts", "an object", "[]"],
    [{ receipt: { facts: {}, mentioned_later: [1] } }, "receipt.mentioned_later.0", "an object", "1"],
    [{ stats: { tokens: { before: "9", after: 1 } } }, "stats.tokens.before", "a number", '"9"'],
    [{ metadata: null }, "metadata", "an object", "null"],
  ])("not with %j: what is wrong is %s", (fields, path, expected, found) => {
    const reason = expected === "" ? "missing" : `expected ${expected}, found ${found}`;
    expect(checkCompaction({ ...MINIMAL, ...fields })).toBe(`"${path}": ${reason}`);
  });

  it("says the first of several problems, a missing field before a wrong one", () => {
    expect(checkCompaction({ ...MINIMAL, from_turn: -1, to_turn: -1 })).toContain('"from_turn"');
    expect(checkCompaction({ type: "other", id: "k" })).toBe('"timestamp": missing');
  });

  it("shows 40 characters of a wrong value", () => {
    const shownOf = (length: number) => checkCompaction({ ...MINIMAL, turns: "x".repeat(length) });
    expect(shownOf(38)).toBe(`"turns": expected "omit", found "${"x".repeat(38)}"`);
    expect(shownOf(39)).toBe(`"turns": expected "omit", found "${"x".repeat(39)}…`);
  });
});

// Which lines a read asks for, in each form that tools say it.
import { describe, expect, it } from "vitest";
import { type KnownTool, linesAsked } from "../../../src/core/compact/shell-read.ts";

const END = Number.POSITIVE_INFINITY;
const READ: KnownTool = { kind: "read" };
const FROM_1: KnownTool = { kind: "read", lines: ["offset-from-1"], limit: 100 };
const FROM_0: KnownTool = { kind: "read", lines: ["offset-from-0"], limit: 100 };
const START_END: KnownTool = { kind: "read", lines: ["start-end"] };
const PAIR: KnownTool = { kind: "read", lines: ["view-range"] };
const BOTH: KnownTool = { kind: "read", lines: ["start-end", "offset-from-0"], limit: 100, parts: ["pages", "cell"] };

describe("linesAsked", () => {
  it.each<[string, KnownTool, Readonly<Record<string, unknown>>, number, number]>([
    ["an offset from 1", FROM_1, { offset: 1 }, 1, 100],
    ["an offset from 1 that is 0", FROM_1, { offset: 0 }, 1, 100],
    ["an offset from 1 with a limit", FROM_1, { offset: 7, limit: 1 }, 7, 7],
    ["a limit alone", FROM_1, { limit: 8 }, 1, 8],
    ["a limit that is larger than the tool's", FROM_1, { limit: 500 }, 1, 500],
    ["an offset from 0", FROM_0, { offset: 0 }, 1, 100],
    ["an offset from 0 with a limit", FROM_0, { offset: 7, limit: 2 }, 8, 9],
    ["a limit alone, counted from 0", FROM_0, { limit: 8 }, 1, 8],
    ["numbers written as texts", FROM_1, { offset: "10", limit: "123456789" }, 10, 123456798],
    ["a large number", FROM_1, { offset: 1234567890, limit: 1 }, 1234567890, 1234567890],
    ["a start", START_END, { start_line: 4 }, 4, END],
    ["a start of 0", START_END, { start_line: 0, end_line: 2 }, 1, 2],
    ["an end", START_END, { end_line: 4 }, 1, 4],
    ["start and end on one line", START_END, { start_line: 4, end_line: 4 }, 4, 4],
    ["a start in a tool with a limit", BOTH, { start_line: 11 }, 11, 110],
    ["the first form of two", BOTH, { start_line: 2, end_line: 3, offset: 50, limit: 1 }, 2, 3],
    ["the second form of two", BOTH, { offset: 50, limit: 1 }, 51, 51],
    ["parts that are null", BOTH, { start_line: 2, end_line: 3, pages: null }, 2, 3],
    ["a pair", PAIR, { view_range: [2, 3] }, 2, 3],
    ["a pair to the end", PAIR, { view_range: [2, -1] }, 2, END],
    ["a pair of texts", PAIR, { view_range: ["2", "3"] }, 2, 3],
  ])("reads %s", (_, tool, args, first, last) => {
    expect(linesAsked(tool, args)).toEqual({ lines: { first, last }, isWhole: false });
  });

  it.each<[string, KnownTool, Readonly<Record<string, unknown>>, number]>([
    ["a tool that has no form", READ, { offset: 3, start_line: 3, view_range: [3, 4] }, END],
    ["a tool with a limit", FROM_1, {}, 100],
    ["arguments that are null", BOTH, { start_line: null, end_line: null, offset: null, limit: null }, 100],
    ["a pair that is null", PAIR, { view_range: null }, END],
    ["arguments of another form", START_END, { offset: 3, limit: 4 }, END],
  ])("takes %s for a read of the whole file", (_, tool, args, last) => {
    expect(linesAsked(tool, args)).toEqual({ lines: { first: 1, last }, isWhole: true });
  });

  it.each<[string, KnownTool, Readonly<Record<string, unknown>>]>([
    ["a part of another kind", BOTH, { start_line: 2, cell: "x" }],
    ["a limit of 0", FROM_1, { offset: 3, limit: 0 }],
    ["an offset below 0", FROM_1, { offset: -1 }],
    ["an offset that is no number", FROM_1, { offset: "x", limit: 3 }],
    ["a limit that is no number", FROM_1, { offset: 3, limit: "x" }],
    ["a number with a blank before it", FROM_1, { offset: " 10" }],
    ["a number with a blank behind it", FROM_1, { offset: "10 " }],
    ["a text of ten digits", FROM_1, { offset: "1234567890" }],
    ["a number in a list", FROM_1, { offset: [5] }],
    ["a number that is not exact", FROM_1, { offset: 2 ** 53 }],
    ["half a line", FROM_1, { offset: 1.5 }],
    ["a start that is no number", START_END, { start_line: "x", end_line: 3 }],
    ["an end that is no number", START_END, { start_line: 3, end_line: "x" }],
    ["an end before the start", START_END, { start_line: 4, end_line: 3 }],
    ["an end before the first line", START_END, { end_line: 0 }],
    ["a pair of one", PAIR, { view_range: [1] }],
    ["a pair of three", PAIR, { view_range: [1, 2, 3] }],
    ["a pair that is a text", PAIR, { view_range: "15" }],
    ["a pair without a first line", PAIR, { view_range: [null, 4] }],
    ["a pair without a last line", PAIR, { view_range: [4, null] }],
    ["a pair of no numbers", PAIR, { view_range: [4, "x"] }],
    ["a pair that ends before the last line", PAIR, { view_range: [1, -2] }],
  ])("cannot tell the lines of %s", (_, tool, args) => {
    expect(linesAsked(tool, args)).toBeNull();
  });
});

// Which lines a read asks for, in each form that tools say it.

import { describe, expect, it } from "vitest";
import { type KnownTool, linesAsked, patchFiles, readShellCommand } from "../../../src/core/compact/shell-read.ts";

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

// Shell commands that do nothing but show lines of one file, and those that only look so.

const END_READ = Number.POSITIVE_INFINITY;

describe("readShellCommand", () => {
  it.each<[string, string, number, number]>([
    ["cat a", "a", 1, END_READ],
    ["cat -n a", "a", 1, END_READ],
    ["cat a -n", "a", 1, END_READ],
    ["cat 'a|b|c'", "a|b|c", 1, END_READ],
    ['cat "a b"', "a b", 1, END_READ],
    ["nl a", "a", 1, END_READ],
    ["nl -ba a", "a", 1, END_READ],
    ["head -n 1 a", "a", 1, 1],
    ["head -n12 a", "a", 1, 12],
    ["head -1 a", "a", 1, 1],
    ["sed -n 1p a", "a", 1, 1],
    ["sed -n '2,3p' a", "a", 2, 3],
    ["sed -n '3,3p' a", "a", 3, 3],
    ["nl a | sed -n '4,$p'", "a", 4, END_READ],
    ["nl -ba a|sed -n 4p", "a", 4, 4],
  ])("sees the lines of one file in %j", (command, path, first, last) => {
    expect(readShellCommand(command)).toEqual({ path, lines: { first, last } });
  });

  it.each([
    "",
    "|",
    "cat",
    "cat -A",
    "cat -",
    "cat ''",
    "cat -ba a",
    "nl",
    "nl -n a",
    "head",
    "head a",
    "head -n",
    "head -n n5 a",
    "head -n x a",
    "head -n 5",
    "head -n 5 a b",
    "head -5",
    "head -5 -n a",
    "head -0 a",
    "sed",
    "sed -n",
    "sed -n 3p",
    "sed 3p a",
    "sed -e 3p a",
    "sed -n 3p a b",
    "sed -n 0p a",
    "sed -n '4,3p' a",
    "sed -n 3d a",
    "tail -n 5 a",
    "cat a | sed -n 3p",
    "nl a | cat -n 3p",
    "nl a | sed -e 3p",
    "nl a | sed -n",
    "nl a | sed -n 3p b",
    "nl a | sed -n 3d",
    "nl a | sed",
    "nl a b | sed -n 3p",
    "nl -n a | sed -n 3p",
    "nl | sed -n 3p",
    "nl $a | sed -n 3p",
    "nl a | sed -n $b",
    "| sed -n 3p",
    "nl a |",
    "nl a | sed -n 3p | cat",
  ])("sees no lines of a file in %j", (command) => {
    expect(readShellCommand(command)).toBeNull();
  });
});

// Which files a patch in Codex's form touches.

describe("patchFiles", () => {
  it.each<[string, string, readonly string[], boolean]>([
    ["an update", "*** Update File: a", ["a"], false],
    ["a deletion", "*** Delete File: a", ["a"], false],
    ["an addition", "*** Add File: a", ["a"], true],
    ["additions alone", "*** Add File: a\n+x\n*** Add File: b", ["a", "b"], true],
    ["an addition before something else", "*** Add File: a\n*** Update File: b", ["a", "b"], false],
    ["an addition behind something else", "*** Update File: b\n*** Add File: a", ["b", "a"], false],
    ["a move", "*** Update File: a\n*** Move to: b", ["a", "b"], false],
    ["a name with blanks around it", "*** Add File:  my file \t", ["my file"], true],
    ["a name that comes twice", "*** Update File: a\n*** Update File:  a", ["a"], false],
    ["a header inside a line", "+*** Add File: a", [], false],
    ["a header of no file", "*** Add File: ", [], false],
    ["no patch", "text", [], false],
  ])("lists the files of %s", (_, patch, paths, isNew) => {
    expect(patchFiles(patch)).toEqual({ paths, isNew });
  });
});

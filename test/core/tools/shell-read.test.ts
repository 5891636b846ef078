// Shell commands that do nothing but show lines of one file, and those that only look so.
import { describe, expect, it } from "vitest";
import { readShellCommand } from "../../../src/core/compact/shell-read.ts";

const END = Number.POSITIVE_INFINITY;

describe("readShellCommand", () => {
  it.each<[string, string, number, number]>([
    ["cat a", "a", 1, END],
    ["cat -n a", "a", 1, END],
    ["cat a -n", "a", 1, END],
    ["cat 'a|b|c'", "a|b|c", 1, END],
    ['cat "a b"', "a b", 1, END],
    ["nl a", "a", 1, END],
    ["nl -ba a", "a", 1, END],
    ["head -n 1 a", "a", 1, 1],
    ["head -n12 a", "a", 1, 12],
    ["head -1 a", "a", 1, 1],
    ["sed -n 1p a", "a", 1, 1],
    ["sed -n '2,3p' a", "a", 2, 3],
    ["sed -n '3,3p' a", "a", 3, 3],
    ["nl a | sed -n '4,$p'", "a", 4, END],
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

// Wraps sentences at a terminal's width, so that no word is broken. What stands between backticks, a command to copy, stays on one line.
import { stripVTControlCharacters } from "node:util";
import type { SafeText } from "../../core/safe-text.ts";
import { displayWidth } from "./terminal.ts";

/** Blanks that a later line of a message begins with, beyond those of its first, so that it reads as one message. */
const INDENT = "  ";
/** A narrower terminal breaks the lines itself. */
const LEAST_COLUMNS = 20;

/** Blanks, a command between backticks with what touches it, or a word. */
const PIECE = /\s+|(?:[^\s`]*`[^`]*`)+[^\s`]*|\S+/g;

/**
 * Wraps each line of a text, colours in it, at `columns`; later rows of a line are indented. A word or command that is wider than the
 * terminal has a row of its own.
 */
export function wrapProse(text: SafeText, columns: number): SafeText[] {
  return text.split("\n").flatMap((line) => wrapLine(line, columns)) as SafeText[];
}

function wrapLine(line: string, columns: number): readonly string[] {
  if (columns < LEAST_COLUMNS || widthOf(line) <= columns) return [line];
  const first = /^ */.exec(line)?.[0] ?? "";
  const indent = first.length + INDENT.length < columns / 2 ? first + INDENT : "";
  const rows: string[] = [];
  let row = first;
  let blanks = "";
  for (const piece of line.slice(first.length).match(PIECE) ?? []) {
    if (piece.trim() === "") {
      blanks = piece;
      continue;
    }
    const isBegun = row.trim() !== "";
    if (isBegun && widthOf(row + blanks + piece) > columns) {
      rows.push(row);
      row = indent + piece;
    } else row += (isBegun ? blanks : "") + piece;
    blanks = "";
  }
  return [...rows, row];
}

function widthOf(text: string): number {
  return displayWidth(stripVTControlCharacters(text));
}

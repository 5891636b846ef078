// Wraps sentences at a terminal's width, so that no word is broken. A command to copy, between backticks or in the colour of ids, stays
// on one line.
import { stripVTControlCharacters } from "node:util";
import type { SafeText } from "../../core/safe-text.ts";
import { displayWidth } from "./terminal.ts";

/** Blanks that a later line of a message begins with, beyond those of its first, so that it reads as one message. */
const INDENT = "  ";
/** A narrower terminal breaks the lines itself. */
const LEAST_COLUMNS = 20;

/** Blanks, a command (between backticks, or cyan) with what touches it, or a word. */
const PIECE = /\s+|(?:[^\s`\u001b]*(?:`[^`]*`|\u001b\[36m[^\u001b]*\u001b\[39m))+[^\s`]*|\S+/g;
/** A colour's beginning or end, as `createStyle` makes them. */
const COLOR = /\u001b\[(\d+)m/g;

/**
 * Wraps each line of a text, colours in it, at `columns`; later rows of a line are indented. A word or command that is wider than the
 * terminal has a row of its own.
 */
export function wrapProse(text: SafeText, columns: number): SafeText[] {
  return text.split("\n").flatMap((line) => wrapLine(line, columns)) as SafeText[];
}

/** Returns the columns of a text of one line, its colours not counted. */
export function shownWidth(text: string): number {
  return displayWidth(stripVTControlCharacters(text));
}

function wrapLine(line: string, columns: number): readonly string[] {
  if (columns < LEAST_COLUMNS || shownWidth(line) <= columns) return [line];
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
    if (isBegun && shownWidth(row + blanks + piece) > columns) {
      rows.push(row);
      row = indent + piece;
    } else row += (isBegun ? blanks : "") + piece;
    blanks = "";
  }
  return withWholeColours([...rows, row]);
}

/** Ends at the end of each row the colours that go on in the next one, and begins them there again: a pager forgets them. */
function withWholeColours(rows: readonly string[]): readonly string[] {
  let open: readonly string[] = [];
  return rows.map((row) => {
    const blanks = /^ */.exec(row)?.[0] ?? "";
    const begun = open.map(sequenceOf).join("");
    for (const [, code = ""] of row.matchAll(COLOR))
      open = ENDS.has(code) ? open.filter((one) => endOf(one) !== code) : [...open, code];
    const ended = [...open].reverse().map(endOf).map(sequenceOf).join("");
    return `${blanks}${begun}${row.slice(blanks.length)}${ended}`;
  });
}

const ENDS: ReadonlySet<string> = new Set(["22", "23", "27", "39"]);

function endOf(code: string): string {
  return code === "1" || code === "2" ? "22" : code === "3" || code === "7" ? `2${code}` : "39";
}

function sequenceOf(code: string): string {
  return `\u001b[${code}m`;
}

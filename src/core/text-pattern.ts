// What is searched for in the texts of a conversation: a text as it is, or a regular expression; and the line where it was
// found, cut to what fits on one.
import { messageOf, userError } from "./errors.ts";

/** A pattern that is ready. */
export interface TextPattern {
  readonly expression: RegExp;
  /** The same for texts in plain form; null where the pattern has none. */
  readonly plain: RegExp | null;
  readonly ignoreCase: boolean;
  /**
   * Every text that matches holds one of them: the first in a form that no writer of JSON has reason to escape, the others as jpg
   * writes them. What holds none need not be read. Null when nothing is known of all of them.
   */
  readonly needles: readonly string[] | null;
}

export interface PatternOptions {
  /** Whether the text is a regular expression of JavaScript; default false. */
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
}

/** The line that holds the first match, white space and far ends cut. */
export interface MatchedLine {
  readonly line: string;
  /** Where the match stands in `line`: characters, 0-based, the end exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Longest line shown, characters, and how much of it may stand before the match. */
const LONGEST_LINE = 160;
const BEFORE_MATCH = 60;
/** What JSON must or may escape is no part of a needle, nor what `git grep` cannot fold, nor a blank, which has several forms. */
const UNESCAPED = /[^\u0000-\u0020"\\/<>&'\u007f-\uffff]+/g;
/** Blanks that look like a space: no-break, figure, thin, narrow no-break, ideographic. */
const BLANKS = /[\u00a0\u2007\u2009\u202f\u3000]/g;
/** Nobody sees them, or knows that they are there: soft hyphen, zero-width space, word joiner, byte order mark. */
const UNSEEN: readonly string[] = ["\u00ad", "\u200b", "\u2060", "\ufeff"];
const ANY_UNSEEN = new RegExp(`[${UNSEEN.join("")}]`, "g");
const ASCII = /^[\0-\x7f]*$/;

/**
 * Gives a text in the form in which texts that look alike are equal: composed (NFC), every space a plain one, without characters that
 * nobody sees.
 */
export function plainForm(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFC").replace(BLANKS, " ").replace(ANY_UNSEEN, "");
}

/** Parses a pattern. Throws `bad_pattern` for an empty one, and for an expression that is none. */
export function parsePattern(text: string, { regex = false, ignoreCase = false }: PatternOptions = {}): TextPattern {
  if (text === "") throw badPattern("the pattern is empty");
  const flags = ignoreCase ? "iu" : "u";
  if (!regex) {
    const runs = text.normalize("NFC").match(UNESCAPED) ?? [];
    const longest = runs.reduce<string>((best, run) => (run.length > best.length ? run : best), "");
    const plain = plainForm(text);
    return {
      expression: new RegExp(escaped(text), flags),
      plain: plain === "" ? null : new RegExp(escaped(plain), flags),
      ignoreCase,
      needles: longest === "" ? null : [longest, ...UNSEEN],
    };
  }
  try {
    return { expression: new RegExp(text, flags), plain: plainExpression(text, flags), ignoreCase, needles: null };
  } catch (error) {
    throw badPattern(messageOf(error));
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** An expression in plain form; null where only its first form is one. */
function plainExpression(text: string, flags: string): RegExp | null {
  const plain = plainForm(text);
  try {
    return plain === "" ? null : new RegExp(plain, flags);
  } catch {
    return null; // an escaped blank, say
  }
}

/** Finds the first match in texts, as they are written or in plain form; null when there is none. */
export function findLine(texts: Iterable<string>, { expression, plain }: TextPattern): MatchedLine | null {
  for (const text of texts) {
    const match = expression.exec(text);
    if (match !== null) return lineAround(text, match.index, match.index + match[0].length);
    const form = plainForm(text);
    const isSame = form === text && plain?.source === expression.source;
    const again = isSame ? null : (plain?.exec(form) ?? null);
    if (again !== null) return lineAround(form, again.index, again.index + again[0].length);
  }
  return null;
}

/** Gives the line that holds a place of a text, cut to what fits; the end is exclusive. */
export function lineAround(text: string, matchFrom: number, matchTo: number): MatchedLine {
  const lineStart = text.lastIndexOf("\n", matchFrom - 1) + 1;
  const nextLine = text.indexOf("\n", matchFrom);
  const lineEnd = nextLine < 0 ? text.length : nextLine;
  const start = Math.max(lineStart, matchFrom - BEFORE_MATCH);
  const end = Math.min(lineEnd, start + LONGEST_LINE);
  const before = tidy(text.slice(start, matchFrom)).trimStart();
  const match = tidy(text.slice(matchFrom, Math.min(matchTo, end)));
  const after = tidy(text.slice(Math.min(matchTo, end), end)).trimEnd();
  const lead = start > lineStart ? "…" : "";
  const from = lead.length + before.length;
  return { line: `${lead}${before}${match}${after}${end < lineEnd ? "…" : ""}`, from, to: from + match.length };
}

/** White space in runs takes one column, and half a character none. */
function tidy(text: string): string {
  return text.replace(/\s+/g, " ").replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

function badPattern(reason: string): Error {
  return userError("bad_pattern", `That cannot be searched for: ${reason}.`, {
    hints: ["jpg search 'words as they stand' · jpg search --regex 'pier|wall'"],
  });
}

/** A text as a regular expression reads it literally. */
export function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

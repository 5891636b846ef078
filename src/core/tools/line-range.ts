// Which lines a read asks for, from the arguments that say so.
import type { KnownTool, LineArguments } from "./known-tools.ts";

/** Lines of a file, 1-based, inclusive, `first` <= `last`; `last` may be Infinity. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** The lines that a read asks for; `isWhole` = it names none. Null when they cannot be told. */
export interface LinesAsked {
  readonly lines: LineRange;
  readonly isWhole: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

/** The numbers of a range as written; absent = not given, `null` = given, but no line number. */
interface Written {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
}

/** Reads the lines that a call of a reading tool asks for. */
export function linesAsked(tool: KnownTool, args: Arguments): LinesAsked | null {
  if (tool.parts?.some((key) => isGiven(args[key])) === true) return null;
  const limit = tool.limit ?? Number.POSITIVE_INFINITY;
  for (const form of tool.lines ?? []) {
    const { first, last } = readForm(form, args, limit);
    if (first === null || last === null) return null;
    if (first === undefined && last === undefined) continue;
    const from = Math.max(1, first ?? 1);
    const to = last ?? from + limit - 1;
    return to < from ? null : { lines: { first: from, last: to }, isWhole: false };
  }
  return { lines: { first: 1, last: limit }, isWhole: true };
}

function readForm(form: LineArguments, args: Arguments, limit: number): Written {
  switch (form) {
    case "offset-from-1":
      return fromOffset(args, 1, limit);
    case "offset-from-0":
      return fromOffset(args, 0, limit);
    case "start-end":
      return { first: lineNumber(args["start_line"]), last: lineNumber(args["end_line"]) };
    case "view-range":
      return fromPair(args["view_range"]);
  }
}

/** An offset of 0 in a tool that counts from 1 means the first line. */
function fromOffset(args: Arguments, base: 0 | 1, limit: number): Written {
  const offset = lineNumber(args["offset"]);
  const count = lineNumber(args["limit"]);
  if (offset === null || count === null) return { first: null, last: null };
  if (offset === undefined && count === undefined) return {};
  const first = Math.max(1, (offset ?? base) + 1 - base);
  return { first, last: first + (count ?? limit) - 1 };
}

/** `[first, last]`; a last line of -1 is the end of the file. */
function fromPair(pair: unknown): Written {
  if (!isGiven(pair)) return {};
  if (!Array.isArray(pair) || pair.length !== 2) return { first: null, last: null };
  const last = pair[1] === -1 ? Number.POSITIVE_INFINITY : lineNumber(pair[1]);
  return { first: lineNumber(pair[0]) ?? null, last: last ?? null };
}

/** Some models write numbers as texts. */
function lineNumber(value: unknown): number | null | undefined {
  if (!isGiven(value)) return undefined;
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

// Shell commands that do nothing but show lines of one file, as agents without a reading tool use them: `cat`, `head`,
// `sed -n '1,200p'`, `nl -ba FILE | sed -n …`. Anything that a shell would expand, chain or redirect is not recognised.
import { splitCommandWords } from "./command-words.ts";
import type { LineRange } from "./line-range.ts";

/** A command that shows lines of a file. */
export interface ShellRead {
  /** As written. */
  readonly path: string;
  readonly lines: LineRange;
}

/** Plain words, and quoted texts in which a shell expands nothing; no operators but the one pipe that is looked for. */
const SIMPLE = /^(?:[\w./@+:,=% -]|'[^'\n]*'|"[^"$`\\!\n]*")+$/;
const SED_LINES = /^(\d{1,9})(?:,(\d{1,9}|\$))?p$/;
const HEAD_COUNT = /^-n?(\d{1,9})$/;

const END = Number.POSITIVE_INFINITY;
const ALL: LineRange = { first: 1, last: END };

/** Recognises a command that shows lines of one file; null for every other. */
export function readShellCommand(command: string): ShellRead | null {
  const parts = command.split("|");
  if (parts.length !== 2) return readWords(simpleWords(command));
  const [listing, filter] = parts.map(simpleWords);
  if (listing?.[0] !== "nl" || filter?.[0] !== "sed" || filter[1] !== "-n" || filter.length !== 3) return null;
  return showing(pathAfter(listing.slice(1), "-ba"), parseSedLines(filter[2]));
}

function readWords(words: readonly string[] | null): ShellRead | null {
  if (words === null) return null;
  const [program, ...rest] = words;
  switch (program) {
    case "cat":
      return showing(pathAfter(rest, "-n"), ALL);
    case "nl":
      return showing(pathAfter(rest, "-ba"), ALL);
    case "head":
      return readHead(rest);
    case "sed":
      return rest[0] === "-n" ? showing(pathAfter(rest.slice(2)), parseSedLines(rest[1])) : null;
    default:
      return null;
  }
}

function readHead(words: readonly string[]): ShellRead | null {
  const option = words.slice(0, words[0] === "-n" ? 2 : 1);
  const last = Number(HEAD_COUNT.exec(option.join(""))?.[1]);
  return last >= 1 ? showing(pathAfter(words.slice(option.length)), { first: 1, last }) : null;
}

function showing(path: string | null, lines: LineRange | null): ShellRead | null {
  return path === null || lines === null ? null : { path, lines };
}

/** The one word that is left when options that change no content are taken away; null when there is none, or more. */
function pathAfter(words: readonly string[], ...options: readonly string[]): string | null {
  const [path = "", ...more] = words.filter((word) => !options.includes(word));
  return path === "" || path.startsWith("-") || more.length > 0 ? null : path;
}

function parseSedLines(script: string | undefined): LineRange | null {
  const match = SED_LINES.exec(script ?? "");
  if (match === null) return null;
  const [, from, to = from] = match;
  const first = Number(from);
  const last = to === "$" ? END : Number(to);
  return first < 1 || last < first ? null : { first, last };
}

function simpleWords(command: string): readonly string[] | null {
  return SIMPLE.test(command) ? splitCommandWords(command) : null;
}

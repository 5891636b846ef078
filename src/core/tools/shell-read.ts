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
const ONE_PIPE = /^([^|]+)\|([^|]+)$/;
const SED_LINES = /^(\d{1,9})(?:,(\d{1,9}|\$))?p$/;
const HEAD_COUNT = /^-n?(\d{1,9})$/;

const END = Number.POSITIVE_INFINITY;
const ALL: LineRange = { first: 1, last: END };

/** Recognises a command that shows lines of one file; null for every other. */
export function readShellCommand(command: string): ShellRead | null {
  const [, numbered, filter] = ONE_PIPE.exec(command) ?? [];
  if (numbered === undefined || filter === undefined) return readWords(simpleWords(command));
  const [program = "", ...rest] = simpleWords(numbered) ?? [];
  const path = program === "nl" ? pathAfter(rest, ["-ba"]) : null;
  const [sed, option, script, ...more] = simpleWords(filter) ?? [];
  const lines = sed === "sed" && option === "-n" && more.length === 0 ? parseSedLines(script) : null;
  return path === null || lines === null ? null : { path, lines };
}

function readWords(words: readonly string[] | null): ShellRead | null {
  const [program, ...rest] = words ?? [];
  switch (program) {
    case "cat":
      return showing(pathAfter(rest, ["-n"]), ALL);
    case "nl":
      return showing(pathAfter(rest, ["-ba"]), ALL);
    case "head":
      return readHead(rest);
    case "sed":
      return rest[0] === "-n" ? showing(pathAfter(rest.slice(2), []), parseSedLines(rest[1])) : null;
    default:
      return null;
  }
}

function readHead(words: readonly string[]): ShellRead | null {
  const isSplit = words[0] === "-n";
  const count = HEAD_COUNT.exec(isSplit ? `-${words[1] ?? ""}` : (words[0] ?? ""))?.[1];
  const last = Number(count);
  return count === undefined || last === 0
    ? null
    : showing(pathAfter(words.slice(isSplit ? 2 : 1), []), { first: 1, last });
}

function showing(path: string | null, lines: LineRange | null): ShellRead | null {
  return path === null || lines === null ? null : { path, lines };
}

/** The one word that is left when options that change no content are taken away; null when there is none, or more. */
function pathAfter(words: readonly string[], options: readonly string[]): string | null {
  const [path = "", ...more] = words.filter((word) => !options.includes(word));
  return path === "" || path.startsWith("-") || more.length > 0 ? null : path;
}

function parseSedLines(script: string | undefined): LineRange | null {
  const [, from, to] = SED_LINES.exec(script ?? "") ?? [];
  if (from === undefined) return null;
  const first = Number(from);
  const last = to === "$" ? END : Number(to ?? from);
  return first < 1 || last < first ? null : { first, last };
}

function simpleWords(command: string): readonly string[] | null {
  return SIMPLE.test(command) ? splitCommandWords(command) : null;
}

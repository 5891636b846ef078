// Well-known tools of agents, and shell commands that only read: what a call of them is about.

// Shell commands that only show lines of one file, as agents without a reading tool use them: `cat`, `head`, `sed -n '1,200p'`, `nl -ba
// FILE | sed -n …`. Anything that a shell would expand, chain or redirect is not recognised.

interface ShellRead {
  /** As written. */
  readonly path: string;
  readonly lines: LineRange;
}

/** Plain words and quoted texts in which a shell expands nothing; no operators except the one pipe handled below. */
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

/** The one word left after removing options that change no content; null when there is none, or more. */
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

/** Blanks between words, or one piece of a word: plain, in single quotes, in double quotes, or an escaped character. */
const PIECE = /\s+|[^\s'"\\]+|'[^']*'|"(?:[^"\\]|\\.)*"|\\./sy;

/**
 * Splits a command line into words. Blanks separate; `'…'` and `"…"` group; inside `"…"` a backslash escapes `"` and `\`, outside quotes
 * any character. Everything else, also `$`, `~` and `|`, is literal. Null when a quote is not closed or the line ends in a backslash.
 */
export function splitCommandWords(line: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < line.length) {
    const piece = PIECE.exec(line)?.[0];
    if (piece === undefined) return null;
    if (piece.trim() !== "") word = (word ?? "") + unquote(piece);
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

function unquote(piece: string): string {
  switch (piece[0]) {
    case "'":
      return piece.slice(1, -1);
    case '"':
      return piece.slice(1, -1).replace(/\\(["\\])/g, "$1");
    case "\\":
      return piece.slice(1);
    default:
      return piece;
  }
}

/** Lines of a file, 1-based, inclusive, `first` <= `last`; `last` may be Infinity. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

/** The lines that a read asks for; `isWhole` = it names none. */
interface LinesAsked {
  readonly lines: LineRange;
  readonly isWhole: boolean;
}

type Arguments = Readonly<Record<string, unknown>>;

/** The numbers of a range as written; absent = not given, `null` = given, but no line number. */
interface Written {
  readonly first?: number | null | undefined;
  readonly last?: number | null | undefined;
}

/** Reads which lines a call of a reading tool asks for; null when they cannot be determined. */
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

/** Some models write numbers as strings. */
function lineNumber(value: unknown): number | null | undefined {
  if (!isGiven(value)) return undefined;
  const number = typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

// The well-known tools of agents: the kind of each, and which arguments name its file and its lines. Facts about other people's tools, by
// the name they have in a conversation; one name may belong to several agents.

/** What a call does. `read`, `write` and `edit` concern files that it names. */
export type CallKind = "read" | "write" | "edit" | "search" | "list" | "shell" | "other";

/**
 * How a read selects lines: `offset` and `limit` counted from 1 or from 0, `start_line` and `end_line`, or a pair `view_range`; the latter
 * two counted from 1, inclusive.
 */
type LineArguments = "offset-from-1" | "offset-from-0" | "start-end" | "view-range";

export interface KnownTool {
  readonly kind: CallKind;
  /** Possible keys of the argument with the path; the first present one counts. */
  readonly path?: readonly string[];
  /** The forms it takes; the first whose arguments are present counts. */
  readonly lines?: readonly LineArguments[];
  /** Lines shown when the call names no end; absent = all. */
  readonly limit?: number;
  /** Arguments that narrow a read other than by lines. */
  readonly parts?: readonly string[];
}

const NO_TOOL: KnownTool = { kind: "other" };

/** Lines that the readers of Claude Code, pi, OpenCode, Codex and Gemini CLI show without a limit. */
const USUAL_LIMIT = 2000;

const KNOWN_TOOLS: Readonly<Record<string, KnownTool>> = {
  // jp
  fs_read_file: { kind: "read", path: ["path"], lines: ["start-end"] },
  fs_create_file: { kind: "write", path: ["path"] },
  fs_modify_file: { kind: "edit", path: ["path"] },
  fs_grep_files: { kind: "search" },
  fs_list_files: { kind: "list" },

  // Claude Code
  Read: {
    kind: "read",
    path: ["file_path"],
    lines: ["offset-from-1"],
    limit: USUAL_LIMIT,
    parts: ["pages"],
  },
  NotebookRead: { kind: "read", path: ["notebook_path"], parts: ["cell_id"] },
  Write: { kind: "write", path: ["file_path"] },
  Edit: { kind: "edit", path: ["file_path"] },
  MultiEdit: { kind: "edit", path: ["file_path"] },
  NotebookEdit: { kind: "edit", path: ["notebook_path"] },
  Grep: { kind: "search", path: ["path"] },
  Glob: { kind: "list", path: ["path"] },
  LS: { kind: "list", path: ["path"] },
  Bash: { kind: "shell" },

  // Codex
  exec_command: { kind: "shell" },
  shell: { kind: "shell" },
  shell_command: { kind: "shell" },
  local_shell: { kind: "shell" },
  apply_patch: { kind: "edit" },
  list_dir: { kind: "list", path: ["dir_path"] },
  grep_files: { kind: "search", path: ["path"] },

  // pi, OpenCode, Copilot
  read: { kind: "read", path: ["path", "filePath"], lines: ["offset-from-1"], limit: USUAL_LIMIT },
  view: { kind: "read", path: ["path"], lines: ["view-range"] },
  write: { kind: "write", path: ["path", "filePath"] },
  create: { kind: "write", path: ["path"] },
  edit: { kind: "edit", path: ["path", "filePath"] },
  multiedit: { kind: "edit", path: ["filePath"] },
  patch: { kind: "edit" },
  grep: { kind: "search", path: ["path"] },
  rg: { kind: "search", path: ["path"] },
  glob: { kind: "list", path: ["path"] },
  find: { kind: "list", path: ["path"] },
  ls: { kind: "list", path: ["path"] },
  list: { kind: "list", path: ["path"] },
  bash: { kind: "shell" },

  // Gemini CLI; read_file is Codex's (counted from 1, which only shifts all its reads) and Cline's as well
  read_file: {
    kind: "read",
    path: ["file_path", "absolute_path", "path"],
    lines: ["start-end", "offset-from-0"],
    limit: USUAL_LIMIT,
  },
  write_file: { kind: "write", path: ["file_path"] },
  replace: { kind: "edit", path: ["file_path"] },
  list_directory: { kind: "list", path: ["dir_path", "path"] },
  search_file_content: { kind: "search", path: ["dir_path", "path"] },
  grep_search: { kind: "search", path: ["dir_path", "path"] },
  run_shell_command: { kind: "shell" },

  // Cline
  write_to_file: { kind: "write", path: ["path"] },
  replace_in_file: { kind: "edit", path: ["path"] },
  editor: { kind: "edit", path: ["path"] },
  search_files: { kind: "search", path: ["path"] },
  list_files: { kind: "list", path: ["path"] },
  execute_command: { kind: "shell" },
  run_commands: { kind: "shell" },
};

/** Returns what is known of a tool; an unknown one has the kind `other`. */
export function findKnownTool(name: string): KnownTool {
  return (Object.hasOwn(KNOWN_TOOLS, name) ? KNOWN_TOOLS[name] : undefined) ?? NO_TOOL;
}

export interface PatchFiles {
  /** Every file named, in order, each once. */
  readonly paths: readonly string[];
  /** Whether it only adds files: their whole content is in it. */
  readonly isNew: boolean;
}

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$/gm;

/** Lists the files that a patch names; none when it is no patch. */
export function patchFiles(patch: string): PatchFiles {
  const paths: string[] = [];
  let isNew = true;
  for (const [, action, path, target] of patch.matchAll(HEADER)) {
    paths.push((path ?? target ?? "").trim());
    if (action !== "Add") isNew = false;
  }
  return { paths: [...new Set(paths)], isNew: isNew && paths.length > 0 };
}

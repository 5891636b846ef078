// The text of a session file: by line, so that a format never holds all lines parsed at once; or whole, for documents.
import { isTooDeep, MAX_FOREIGN_DEPTH } from "../core/json.ts";

/** Text of a file. Line numbers are 0-based; bytes are offsets into the file. */
export interface SessionSource {
  /** Number of lines; a last line without a final newline counts. */
  readonly lineCount: number;
  readonly byteLength: number;
  /** Text of a line without its line end (`\n` or `\r\n`). Invalid UTF-8 comes as U+FFFD. */
  line(index: number): string;
  /** Offset of the line's first byte; `lineCount` gives byteLength. */
  lineStart(index: number): number;
  /** The whole text, line ends as they are. Not for files of lines: they may not fit in memory. */
  text(): string;
}

// One JSON line of a session file, unvalidated: an object, or the reason why it is none. Never throws; the readers below return
// `undefined` for a value of another type.

/** A parsed line; its values are unchecked. */
export type RawLine = Readonly<Record<string, unknown>>;

const BYTE_ORDER_MARK = /^\uFEFF/;

/** Parses one line. A string says why it is not a readable JSON object; null is a blank line. */
export function parseJsonLine(text: string): RawLine | string | null {
  if (text.trim() === "") return null;
  let value: unknown;
  try {
    value = JSON.parse(text.replace(BYTE_ORDER_MARK, ""));
  } catch {
    return describeBadLine(text);
  }
  if (!isRecord(value)) return "not a JSON object";
  return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? `nested deeper than ${MAX_FOREIGN_DEPTH} levels` : value;
}

/** Does not quote the parser: its words change with the version of Node. */
function describeBadLine(text: string): string {
  if (text.includes("\0")) return "NUL bytes";
  if (text.includes("\uFFFD")) return "not JSON, and not UTF-8 in places";
  return text.trimStart().startsWith("{") && !text.trimEnd().endsWith("}")
    ? "not JSON: cut off before its end"
    : "not JSON";
}

/** Whether a value is a plain object. */
export function isRecord(value: unknown): value is RawLine {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads a string; absent for any other type. */
export function stringOf(line: RawLine, key: string): string | undefined {
  const value = line[key];
  return typeof value === "string" ? value : undefined;
}

/** Reads an object; absent for any other type. */
export function recordOf(line: RawLine, key: string): RawLine | undefined {
  const value = line[key];
  return isRecord(value) ? value : undefined;
}

/** Reads the strings of a list and drops its other items. */
export function stringsOf(line: RawLine, key: string): readonly string[] {
  const value = line[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

// Timestamps of session lines, RFC 3339 in UTC. A line without a usable one takes that of the last dated line before it: every
// event is dated, and the same bytes always give the same dates.

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d$/;

/** The date of a session in which no line is dated. */
export const NO_DATE = "1970-01-01T00:00:00.000Z";

/** Reads a timestamp as UTC; absent for anything but an RFC 3339 date and time. */
export function readTimestamp(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (!UTC.test(value) && !WITH_OFFSET.test(value)) return undefined;
  const time = Date.parse(value);
  if (Number.isNaN(time)) return undefined;
  return UTC.test(value) ? value : new Date(time).toISOString();
}

/** Adds milliseconds; in UTC with three fraction digits. */
export function addMilliseconds(timestamp: string, milliseconds: number): string {
  return new Date(Date.parse(timestamp) + milliseconds).toISOString();
}

// Parsed lines. Those of a file of usual size are kept; those of a huge one would not fit in memory and are parsed each time.

/** Lines by number, 0-based, as the format's parser returns them. */
export interface ParsedLines {
  at(line: number): RawLine | string | null;
}

/** Largest file whose lines are kept, bytes: parsed, they take about three times as much. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Creates the lines of a file; parses each when first asked for. */
export function createParsedLines(
  source: SessionSource,
  parse: (text: string) => RawLine | string | null,
): ParsedLines {
  if (source.byteLength > KEPT_BYTES) return { at: (line) => parse(source.line(line)) };
  const kept: (RawLine | string | null | undefined)[] = [];
  return {
    at(line) {
      let parsed = kept[line];
      if (parsed === undefined) {
        parsed = parse(source.line(line));
        kept[line] = parsed;
      }
      return parsed;
    },
  };
}

/** What a session comes from. */
export interface SessionDescent {
  /** `agent`: another session started it to do some work. `fork`: it continues a copy of the other's beginning. */
  readonly kind: "agent" | "fork";
  /** Ids of its ancestors, as `AgentFormat.sessionId` gives them, nearest first. Never empty. */
  readonly sessions: readonly string[];
  /** Id of the call that started it; absent if the files do not say. */
  readonly call?: string;
  /** Its name in the parent's results; absent = its session id. */
  readonly name?: string;
  /** Of an agent that was shown its parent's conversation: the last line of it that it was shown. */
  readonly at?: string;
}

/** Where a session begins that may be a copy of another one's lines. */
export interface SessionStart {
  /** Id of its first line, or of the line that this was copied from. */
  readonly line: string;
  /** Whether the original, if there is one, has lines before it, or is named by the file: it is imported first. */
  readonly hasOriginal: boolean;
}

/** Lines of a session's file that are a sub-agent's session. */
export interface SessionPart {
  /** 0-based, rising, never empty. */
  readonly lines: readonly number[];
  /** The call that started it. */
  readonly call?: string;
}

/** Reads a string that is not blank; absent otherwise. */
export function nonBlankStringOf(line: RawLine, key: string): string | undefined {
  const value = stringOf(line, key);
  return value === undefined || value.trim() === "" ? undefined : value;
}

/** A second file next to the session's, with the same name but another ending; read and stored with it. */
export interface CompanionRule {
  /** Ending of the session's file. */
  readonly session: string;
  /** Ending of the second file. */
  readonly companion: string;
}

/** Sessions made of many small files, found and named by the one that describes the session. */
export interface ScatterRule {
  /** Lists the files, absolute, of the session that the file at `path` describes, that one first; null for any other path. */
  list(folders: FolderReader, path: string): readonly string[] | null;
  /** Joins them to the text that is read and stored; each file's text is in it unchanged. */
  join(files: readonly ScatteredFile[]): string;
}

/** One of many files of a session. */
export interface ScatteredFile {
  /** Relative to their common folder, `/` between names. */
  readonly path: string;
  /** Null if it was gone when read, or is no regular file. */
  readonly text: string | null;
}

/** Joins paths and lists folders. */
export interface FolderReader {
  /** Joins names to a path as this system writes it. */
  join(...names: string[]): string;
  /** The names in a folder, ordered; none where there is no folder. Never throws. */
  namesIn(path: string): readonly string[];
}

/** Files that continue the beginning of another file. The other stays unchanged; both are read and stored as one text. */
export interface BaseRule {
  /** Reads which file a file continues; null for a complete one. Never throws. */
  baseOf(source: SessionSource): SessionBase | null;
  /** Finds that file, absolute; null if it is missing. `path` = the continuing file. */
  find(machine: BasePlaces, path: string, base: SessionBase): string | null;
  /** Number of the file's own bytes that come before the base; the rest comes after it. */
  ownBytesBeforeBase(own: SessionSource, base: SessionSource): number;
  /** The bytes of such a text, rising, that are the continuing file's own; the whole text where it has no base. */
  ownRanges(joined: SessionSource): readonly ByteRange[];
}

/** Bytes from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The beginning that a file continues. */
export interface SessionBase {
  /** The file's id, hexadecimal digits and `-`, as in its name. */
  readonly file: string;
  /** Length of that beginning, > 0, ends at a line end. */
  readonly byteLength: number;
}

/** Where files are looked for. */
export interface BasePlaces extends FolderReader {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
}

/** How a session is resumed. */
export interface ResumePlan {
  /** Where to write the file, absolute. */
  readonly path: string;
  /** Where the agent may have moved it, absolute: a session found there is not written again. Absent = it moves none. */
  readonly elsewhere?: readonly string[];
  /** Program and arguments to run first, e.g. to import the file into the agent's own store; absent = none. */
  readonly before?: readonly string[];
  /** The copy in the agent's own store; absent = it works on the file. */
  readonly held?: HeldSession;
  /** Program and arguments that resume it; this and `before` run in the project's directory. */
  readonly command: readonly string[];
  /** What the user should know about a session written like this, a sentence; absent = nothing. */
  readonly note?: string;
  /** Shown when the file cannot be written. */
  readonly hints: readonly string[];
}

/** A session in the agent's own store. One that the agent continued is not imported a second time. */
export interface HeldSession {
  /**
   * Program and arguments that print it, run in the user's home folder, where no project decides what runs; fails when there
   * is none.
   */
  readonly command: readonly string[];
  /** Whether the printed session is exactly what was written; null = it is another session. Never throws. */
  isAsWritten(printed: string): boolean | null;
}

// A session that is one JSON document, unvalidated. Several formats look at it to see whether it is theirs, so it is parsed
// once.

const parsed = new WeakMap<SessionSource, unknown>();

/** Parses a file; null if it is no JSON document, holds JSON lines, or is nested too deep. Never throws. */
export function parseJsonDocument(source: SessionSource): unknown {
  let value = parsed.get(source);
  if (value === undefined) {
    value = holdsLines(source) ? null : parseSource(source);
    parsed.set(source, value);
  }
  return value;
}

/** The first line decides: a file of lines need not be read to the end. */
function holdsLines(source: SessionSource): boolean {
  return source.lineCount === 0 || (source.lineCount > 1 && isRecord(parseJsonLine(source.line(0))));
}

/** The file may be cut off, or longer than the longest string. */
function parseSource(source: SessionSource): unknown {
  try {
    return parseDocumentText(source.text());
  } catch {
    return null;
  }
}

/** Parses a text; null if it is no document. Never throws. */
export function parseDocumentText(whole: string): unknown {
  try {
    const text = whole.replace(/^\uFEFF/, "");
    if (!/^\s*[[{]/.test(text)) return null;
    const value: unknown = JSON.parse(text);
    return isTooDeep(text, value, MAX_FOREIGN_DEPTH) ? null : value;
  } catch {
    return null;
  }
}

// The text of a session file: as lines, read by position, so that a format never holds all lines parsed at once; and whole,
// for formats that are one document.
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
  /** The whole text, line ends as they are. Not for files of lines: they may be larger than memory allows. */
  text(): string;
}

// One line of a session file of JSON lines, before anything is believed about it: an object, or the reason why it is none.
// Never throws; every reader asks for a type and gets `undefined` when the file holds something else.

/** A parsed line; its values have not been checked. */
export type RawLine = Readonly<Record<string, unknown>>;

const BYTE_ORDER_MARK = /^\uFEFF/;

/** Parses one line. A string is the reason why it is no JSON object that can be read; null is a blank line. */
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

/** The reason does not quote the parser: its words change with the version of Node. */
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

/** The string under a key; absent when it is none. */
export function stringOf(line: RawLine, key: string): string | undefined {
  const value = line[key];
  return typeof value === "string" ? value : undefined;
}

/** The object under a key; absent when it is none. */
export function recordOf(line: RawLine, key: string): RawLine | undefined {
  const value = line[key];
  return isRecord(value) ? value : undefined;
}

/** The strings of a list under a key; anything else in it is left out. */
export function stringsOf(line: RawLine, key: string): readonly string[] {
  const value = line[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

// Timestamps of session lines as RFC 3339 in UTC. A line without a usable one takes that of the dated line before it, so
// that every event is dated and the same bytes always give the same date.

const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d:\d\d$/;

/** The date of a session in which no line is dated. */
export const NO_DATE = "1970-01-01T00:00:00.000Z";

/** Reads a timestamp; absent when the value is no RFC 3339 date and time. */
export function readTimestamp(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (!UTC.test(value) && !WITH_OFFSET.test(value)) return undefined;
  const time = Date.parse(value);
  if (Number.isNaN(time)) return undefined;
  return UTC.test(value) ? value : new Date(time).toISOString();
}

/** The timestamp some milliseconds later, in UTC with three fraction digits. */
export function addMilliseconds(timestamp: string, milliseconds: number): string {
  return new Date(Date.parse(timestamp) + milliseconds).toISOString();
}

// The lines of a session, parsed. A file of usual size is parsed once and kept until the session is let go; of a huge one,
// which would not fit in memory, a line is parsed each time it is asked for.

/** The lines by number, 0-based, as the format's parser gives them. */
export interface ParsedLines {
  at(line: number): RawLine | string | null;
}

/** Largest file whose lines are kept, bytes: parsed they take about three times as much. */
const KEPT_BYTES = 16 * 1024 * 1024;

/** Creates the lines of a file; nothing is parsed before it is asked for. */
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
  /** `agent`: another session began it to have something done. `fork`: it goes on from a copy of the other's beginning. */
  readonly kind: "agent" | "fork";
  /** Ids of the sessions it comes from, as `AgentFormat.sessionId` gives them, the nearest first. Never empty. */
  readonly sessions: readonly string[];
  /** The call of the nearest one that began it; absent where the files do not say. */
  readonly call?: string;
  /** What the nearest one's results call it; absent = by its session's id. */
  readonly name?: string;
}

/** Lines of a session's file that are a session of an agent which it began. */
export interface SessionPart {
  /** 0-based, rising, never empty. */
  readonly lines: readonly number[];
  /** The call that began it. */
  readonly call?: string;
}

/** Reads a text under a key that is not blank; absent when it is none. */
export function nonBlankStringOf(line: RawLine, key: string): string | undefined {
  const value = stringOf(line, key);
  return value === undefined || value.trim() === "" ? undefined : value;
}

/** A file beside a session's, of its name with another ending, that is read with it, and stored with it. */
export interface CompanionRule {
  /** How the name of the session's file ends. */
  readonly session: string;
  /** How that of the second one ends. */
  readonly companion: string;
}

/** Sessions that are many small files, of which one describes the session: that one is found and named. */
export interface ScatterRule {
  /** The files of the session that a path describes, absolute, that one first; null for any other path. */
  list(folders: FolderReader, path: string): readonly string[] | null;
  /** Joins them to the text that is read and stored, in which their texts stand as they are. */
  join(files: readonly ScatteredFile[]): string;
}

/** One of many files of a session. */
export interface ScatteredFile {
  /** From the folder that all of them are in, `/` between names. */
  readonly path: string;
  /** Null where it was gone by the time it was read, or is no regular file. */
  readonly text: string | null;
}

/** What paths are made of, and what stands in folders. */
export interface FolderReader {
  /** Joins names to a path as this system writes it. */
  join(...names: string[]): string;
  /** The names in a folder, ordered; none where there is no folder. Never throws. */
  namesIn(path: string): readonly string[];
}

/** Files that go on from the beginning of another one, which stays where it is: both are read, and stored, as one text. */
export interface BaseRule {
  /** The file that one goes on from; null for one that is whole by itself. Never throws. */
  baseOf(source: SessionSource): SessionBase | null;
  /** Where that file is, absolute; null where it is not to be found. `path` = the file that goes on from it. */
  find(machine: BasePlaces, path: string, base: SessionBase): string | null;
  /** How many bytes of a file stand before what it goes on from; the others stand behind it. */
  ownBytesBeforeBase(own: SessionSource, base: SessionSource): number;
}

/** What a file goes on from. */
export interface SessionBase {
  /** The file's id, of hexadecimal digits and `-`: it stands in its name. */
  readonly file: string;
  /** So much of its beginning, > 0, up to the end of a line. */
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
  /** Where its file goes, absolute. */
  readonly path: string;
  /** Where the agent may have moved it since, absolute: a session that stands there is not written again. Absent = it moves none. */
  readonly elsewhere?: readonly string[];
  /** Program and arguments that have to be run first, e.g. to take the file into the agent's own store; absent = none. */
  readonly before?: readonly string[];
  /** What the agent's own store holds of the session; absent = the file is all that it works on. */
  readonly held?: HeldSession;
  /** Program and arguments that go on with it; both are run in the project's directory. */
  readonly command: readonly string[];
  /** What to say when the file cannot be written. */
  readonly hints: readonly string[];
}

/** A session in an agent's own store: one that the agent went on with is not handed to it a second time. */
export interface HeldSession {
  /** Program and arguments that print it, run in the user's home folder, where no project has a say; fails when there is none. */
  readonly command: readonly string[];
  /** Whether what was printed is the session as it was written, and nothing more; null = it is not the session. Never throws. */
  isAsWritten(printed: string): boolean | null;
}

// A session that is one JSON document, before anything is believed about it. Several formats look at such a file to tell whether
// it is theirs: it is parsed once, whoever asks.

const parsed = new WeakMap<SessionSource, unknown>();

/** The value of a file; null where it holds none, or holds lines of JSON, or nests deeper than anything does. Never throws. */
export function parseJsonDocument(source: SessionSource): unknown {
  let value = parsed.get(source);
  if (value === undefined) {
    value = holdsLines(source) ? null : parseSource(source);
    parsed.set(source, value);
  }
  return value;
}

/** Lines of JSON are no document: they need not be read to the end to be told. */
function holdsLines(source: SessionSource): boolean {
  return source.lineCount === 0 || (source.lineCount > 1 && isRecord(parseJsonLine(source.line(0))));
}

/** A file may be cut off, or longer than a text can be. */
function parseSource(source: SessionSource): unknown {
  try {
    return parseDocumentText(source.text());
  } catch {
    return null;
  }
}

/** The value of a text that is a document; null where it is none. Never throws. */
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

// Turn files: the events of one turn, one line each, in a file named by the turn's position (docs/FORMAT.md §2). Every line
// that jpg writes ends in "\n", so a file can grow by appending.
import { userError } from "../errors.ts";
import type { Event } from "./event.ts";
import { formatEventLine, parseEventLine } from "./event-line.ts";

/** Turns a directory holds, so that a tree object stays small. */
export const TURNS_PER_DIRECTORY = 100;
const DIRECTORY_DIGITS = 4;
const TURN_DIGITS = 6;

/** Parses the text of a turn file; `file` names it in errors. A last line without a line end counts. Throws `malformed_line`. */
export function parseTurnFile(text: string, file: string): Event[] {
  return parseTurnLines(splitLines(text), file);
}

/** Parses the lines of a turn file, with their line ends or without; `file` names it in errors. Throws `malformed_line`. */
export function parseTurnLines(lines: Iterable<string>, file: string): Event[] {
  const events: Event[] = [];
  let line = 0;
  // The line end is white space to JSON, so it need not be cut off.
  for (const text of lines) events.push(parseEventLine(text, { file, line: ++line }));
  return events;
}

/** Splits a text into its lines, each with its line end; a last one without counts. */
export function* splitLines(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = lineEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

/** Formats events as the text of a turn file, each line ended. No events give an empty text. */
export function formatTurnFile(events: Iterable<Event>): string {
  let text = "";
  for (const event of events) text += `${formatEventLine(event)}\n`;
  return text;
}

/** Gives the path of a turn's file in the tree, e.g. `turns/0000/000012.jsonl`; turn position 0-based. */
export function turnPath(index: number): string {
  return `turns/${numbered(index)}.jsonl`;
}

/** Gives the path of a directory of turns, e.g. `turns/0000`; directory number 0-based, 100 turns each. */
export function turnDirectory(directory: number): string {
  return `turns/${String(directory).padStart(DIRECTORY_DIGITS, "0")}`;
}

/** Reads the turn position off a path; null when the path is no turn file's. */
export function turnIndexOfPath(path: string): number | null {
  const digits = /^turns\/\d{4,}\/(\d{6,})\.jsonl$/.exec(path)?.[1];
  if (digits === undefined) return null;
  const index = Number(digits);
  return turnPath(index) === path ? index : null;
}

const SESSION_NAME = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Gives the path of a turn's piece of the imported session, e.g. `sources/<session>/0000/000012.jsonl`; `piece` 1 and up
 * number the further pieces of a long turn (`000012.p01.jsonl`). Throws `bad_session_name` for a session id that is not a safe folder name.
 */
export function sourcePath(session: string, index: number, piece = 0): string {
  const suffix = piece === 0 ? "" : `.p${String(piece).padStart(2, "0")}`;
  return `${sourceFolder(session)}/${numbered(index)}${suffix}.jsonl`;
}

/**
 * Gives the path of an imported session that is one document, `sources/<session>/document.<extension>`. Throws
 * `bad_session_name` as `sourcePath` does.
 */
export function documentPath(session: string, extension: string): string {
  return `${sourceFolder(session)}/document.${extension}`;
}

function sourceFolder(session: string): string {
  if (!SESSION_NAME.test(session) || /^\.+$/.test(session)) {
    throw userError(
      "bad_session_name",
      `"${session}" cannot name a folder of sources: expected 1 to 128 of \`A-Z a-z 0-9 . _ -\`.`,
    );
  }
  return `sources/${session}`;
}

/** Whether a path is that of an imported session which is one document. */
export function isDocumentPath(path: string): boolean {
  return /^sources\/[^/]+\/document\.[a-z0-9]+$/.test(path);
}

/** Reads the turn position off the path of a piece of an imported session; null when the path is none. */
export function turnIndexOfSource(path: string): number | null {
  const digits = /^sources\/[^/]+\/\d{4,}\/(\d{6,})(\.p\d{2,})?\.jsonl$/.exec(path)?.[1];
  return digits === undefined ? null : Number(digits);
}

/** Cuts a turn file after the line of an event, its line end included; null when the event is not in it. */
export function cutTurnFile(text: string, toEventId: string): string | null {
  const line = findLine(text, toEventId);
  return line === null ? null : text.slice(0, line.end);
}

/** Cuts a turn file before the line of an event; null when the event is not in it. */
export function cutTurnFileBefore(text: string, fromEventId: string): string | null {
  const line = findLine(text, fromEventId);
  return line === null ? null : text.slice(0, line.start);
}

/** Finds the line of an event without parsing the lines that do not mention its id. */
function findLine(text: string, id: string): { readonly start: number; readonly end: number } | null {
  const quoted = JSON.stringify(id);
  for (let at = text.indexOf(quoted); at >= 0; ) {
    const start = text.lastIndexOf("\n", at) + 1;
    const end = lineEnd(text, at);
    if (idOfLine(text.slice(start, end)) === id) return { start, end };
    at = text.indexOf(quoted, end);
  }
  return null;
}

/** A line that is no JSON is reported by whoever reads the turn. */
function idOfLine(line: string): unknown {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && "id" in value ? value.id : undefined;
  } catch {
    return undefined;
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

function numbered(index: number): string {
  const directory = String(Math.floor(index / TURNS_PER_DIRECTORY)).padStart(DIRECTORY_DIGITS, "0");
  return `${directory}/${String(index).padStart(TURN_DIGITS, "0")}`;
}

/** The file that a path under `sources/` is of, as the agent has it: pieces of a session are one file, each side file is its own. */
export function sourceFileOf(path: string): string {
  const [, session] = /^(sources\/[^/]+)\/(?!files\/)/.exec(path) ?? [];
  return session ?? path;
}

// Turn files: the events of one turn, one line each, in a file named by the turn's position (docs/FORMAT.md §2). Every line
// that jpg writes ends in "\n", so a file can grow by appending.
import { asSentence, type JpgError, repositoryError, userError } from "../errors.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../json.ts";
import { forTerminal } from "../safe-text.ts";
import { type Event, type EventKind, type Fields, isFields } from "./event.ts";

/** Turns a directory holds, so that a tree object stays small. */
export const TURNS_PER_DIRECTORY = 100;
const DIRECTORY_DIGITS = 4;
const TURN_DIGITS = 6;

/** Parses the text of a turn file; `file` names it in errors. A last line without a line end counts. Throws `malformed_line`. */
export function parseTurnFile(text: string, file: string): Event[] {
  return parseTurnLines(splitLines(text), file);
}

/** Parses the lines of a turn file, with or without their line ends; `file` names it in errors. Throws `malformed_line`. */
export function parseTurnLines(lines: Iterable<string>, file: string): Event[] {
  const events: Event[] = [];
  let line = 0;
  // The line end is white space to JSON, so it need not be cut off.
  for (const text of lines) events.push(parseEventLine(text, { file, line: ++line }));
  return events;
}

/** Splits a text into its lines, each with its line end; a last line without one counts. */
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

/** Returns the path of a turn's file in the tree, e.g. `turns/0000/000012.jsonl`; turn position 0-based. */
export function turnPath(index: number): string {
  return `turns/${numbered(index)}.jsonl`;
}

/** Returns the path of a directory of turns, e.g. `turns/0000`; directory number 0-based, 100 turns each. */
export function turnDirectory(directory: number): string {
  return `turns/${String(directory).padStart(DIRECTORY_DIGITS, "0")}`;
}

/** Reads the turn position off a path; null when it is not a turn file's. */
export function turnIndexOfPath(path: string): number | null {
  const digits = /^turns\/\d{4,}\/(\d{6,})\.jsonl$/.exec(path)?.[1];
  if (digits === undefined) return null;
  const index = Number(digits);
  return turnPath(index) === path ? index : null;
}

const SESSION_NAME = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Returns the path of a turn's piece of the imported session, e.g. `sources/<session>/0000/000012.jsonl`; `piece` 1 and up
 * number the further pieces of a long turn (`000012.p01.jsonl`). Throws `bad_session_name` for a session id that is not a safe
 * folder name.
 */
export function sourcePath(session: string, index: number, piece = 0): string {
  const suffix = piece === 0 ? "" : `.p${String(piece).padStart(2, "0")}`;
  return `${sourceFolder(session)}/${numbered(index)}${suffix}.jsonl`;
}

/** Returns the path of an imported session that is one document, `sources/<session>/document.<extension>`. Throws `bad_session_name`. */
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

/** Reads the turn position off the path of a piece of an imported session; null for other paths. */
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

/** A line that is not JSON is reported when the turn is read. */
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

/** The agent's file that a path under `sources/` belongs to: the pieces of a session are one file, each side file is its own. */
export function sourceFileOf(path: string): string {
  const [, session] = /^(sources\/[^/]+)\/(?!files\/)/.exec(path) ?? [];
  return session ?? path;
}

// One event as one line of JSON. Parsing checks what the rules rely on and keeps everything else: unknown kinds and unknown
// fields survive reading and writing untouched (docs/FORMAT.md §3).

/** The place of a line, for error messages. */
interface LinePlace {
  readonly file: string;
  /** 1-based, as editors count. */
  readonly line: number;
}

/** What every event has. */
const NAMES = ["type", "id"] as const;
/** How much of a bad line an error shows, characters. */
const EXCERPT_LENGTH = 60;

/** Says what is wrong with a field, or null. */
type Check = (fields: Fields) => string | null;

const isText = (value: unknown): boolean => typeof value === "string";
const isAttachment = (value: unknown): boolean => isFields(value) && isText(value["$attachment"]);
const isLongText = (value: unknown): boolean => isText(value) || isAttachment(value);
const isContent = (value: unknown): boolean =>
  isLongText(value) || (Array.isArray(value) && value.every((part) => isFields(part) && isText(part["type"])));

function field(name: string, expected: string, accepts: (value: unknown) => boolean): Check {
  return (fields) => {
    // JSON has no undefined, and no name here is inherited from Object.
    const value = fields[name];
    if (value === undefined) return `"${name}" is missing, expected ${expected}`;
    return accepts(value) ? null : `"${name}" is ${kindOf(value)}, expected ${expected}`;
  };
}

function optional(check: Check, name: string): Check {
  return (fields) => (fields[name] === undefined ? null : check(fields));
}

const content: Check = field("content", "a text or a list of parts", isContent);
const callId: Check = field("call_id", "a string", isText);
const ANSWERS = ["message", "reasoning", "data"] as const;

const oneAnswer: Check = (fields) => {
  const present = ANSWERS.filter((name) => fields[name] !== undefined);
  if (present.length === 1) return null;
  return `expected exactly one of "message", "reasoning" and "data", found ${present.length === 0 ? "none" : present.join(" and ")}`;
};

const OWN_CHECKS: Readonly<Record<EventKind, readonly Check[]>> = {
  turn_start: [optional(field("prev", "an object id", isText), "prev")],
  chat_request: [content, optional(field("role", "user, system or developer", isRole), "role")],
  chat_response: [
    oneAnswer,
    optional(field("message", "a text or a list of parts", isContent), "message"),
    optional(field("reasoning", "a text", isLongText), "reasoning"),
  ],
  tool_call_request: [callId, field("name", "a string", isText), field("arguments", "a JSON value", () => true)],
  tool_call_response: [callId, content, field("is_error", "true or false", (value) => typeof value === "boolean")],
  inquiry_request: [],
  inquiry_response: [],
  config_delta: [
    field("delta", "a JSON value", () => true),
    optional(field("at_turn", "a turn position >= 0", isPosition), "at_turn"),
  ],
  // Older versions moved long kinds to attachments.
  note: [field("kind", "a string", isLongText)],
};

const COMMON: readonly Check[] = [
  field("timestamp", "an RFC 3339 time", isText),
  optional(field("metadata", "an object", isFields), "metadata"),
];

/** By kind. */
const CHECKS: ReadonlyMap<string, readonly Check[]> = new Map(
  Object.entries(OWN_CHECKS).map(([kind, checks]) => [kind, [...COMMON, ...checks]]),
);

/**
 * Parses one line into an event. Unknown kinds need only a `type` and an `id`. Throws `malformed_line` (kind `repository`)
 * naming file, line, reason and the start of the text.
 */
export function parseEventLine(text: string, where: LinePlace): Event {
  const value = parseObject(text, where);
  for (const name of NAMES) {
    const given = value[name];
    if (typeof given !== "string" || given === "") {
      throw malformedLine(text, where, `"${name}" is ${kindOf(given)}, expected a non-empty string`);
    }
  }
  for (const check of CHECKS.get(String(value["type"])) ?? []) {
    const reason = check(value);
    if (reason !== null) throw malformedLine(text, where, reason);
  }
  return value as unknown as Event;
}

function parseObject(text: string, where: LinePlace): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformedLine(text, where, text.trim() === "" ? "the line is empty" : "not valid JSON", cause);
  }
  if (!isFields(value)) throw malformedLine(text, where, `expected a JSON object, found ${kindOf(value)}`);
  if (isTooDeep(text, value, MAX_RECORD_DEPTH))
    throw malformedLine(text, where, `nested deeper than ${MAX_RECORD_DEPTH} levels`);
  return value;
}

/** Formats an event as one line without a line end: type, id and timestamp first, metadata last, else its own key order. */
export function formatEventLine(event: Event): string {
  const { type, id, timestamp, metadata, ...own } = event as Event & Fields;
  const [first = ""] = Object.keys(own);
  // Keys that look like numbers come first in any object: such an event is formatted field by field.
  if (/^\d/.test(first)) return formatFields({ type, id, timestamp }, own, { metadata });
  return JSON.stringify({ type, id, timestamp, ...own, metadata });
}

function formatFields(...groups: readonly Fields[]): string {
  const parts = groups.flatMap((fields) =>
    Object.entries(fields).flatMap(([key, value]) => {
      const json = JSON.stringify(value);
      return json === undefined ? [] : [`${JSON.stringify(key)}:${json}`];
    }),
  );
  return `{${parts.join(",")}}`;
}

function isRole(value: unknown): boolean {
  return value === "user" || value === "system" || value === "developer";
}

function isPosition(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (value === "") return "empty";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
}

function malformedLine(text: string, { file, line }: LinePlace, reason: string, cause?: unknown): JpgError {
  const shown = forTerminal(text.trimEnd().slice(0, EXCERPT_LENGTH));
  const excerpt = text.trimEnd().length > EXCERPT_LENGTH ? `${shown}\u2026` : shown;
  return repositoryError("malformed_line", `${file}:${line} is not an event: ${reason}: ${asSentence(excerpt)}`, {
    data: { file, line, reason },
    hints: [`Look at line ${line} of ${file}, or run: jpg fsck`],
    cause,
  });
}

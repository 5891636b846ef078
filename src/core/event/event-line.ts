// One event as one line of JSON. Parsing checks what the rules rely on and keeps everything else: unknown kinds and
// unknown fields survive reading and writing untouched (docs/FORMAT.md §3).
import { asSentence, type JpgError, repositoryError } from "../errors.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../json-depth.ts";
import { forTerminal } from "../safe-text.ts";
import type { Event, EventKind } from "./event.ts";
import { type Fields, isFields } from "./fields.ts";

/** Where a line stands, for error messages. */
export interface LinePlace {
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
    // JSON has no undefined, and no name here is one that every object has.
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
  // Long kinds were moved to attachments once.
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
 * Parses one line into an event. Kinds that are not known need only a `type` and an `id`.
 * Throws `malformed_line` (kind `repository`) naming file, line, reason and the start of the text.
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
  // Keys that look like numbers come first in any object: such an event is put together field by field.
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

/** Creates the error of a line that is no event. */
function malformedLine(text: string, { file, line }: LinePlace, reason: string, cause?: unknown): JpgError {
  const shown = forTerminal(text.trimEnd().slice(0, EXCERPT_LENGTH));
  const excerpt = text.trimEnd().length > EXCERPT_LENGTH ? `${shown}\u2026` : shown;
  return repositoryError("malformed_line", `${file}:${line} is not an event: ${reason}: ${asSentence(excerpt)}`, {
    data: { file, line, reason },
    hints: [`Look at line ${line} of ${file}, or run: jpg fsck`],
    cause,
  });
}

// Events that another program made: the library's callers, and format plug-ins. They are checked like lines of a stored turn, and for
// what a stored line is not checked for because jpg wrote it.
import { JpgError, messageOf } from "../errors.ts";
import { ATTACHMENT_LIMITS, needsInlining, spill } from "./attachment.ts";
import type { Event, EventKind } from "./event.ts";
import { formatEventLine, parseEventLine } from "./turn-file.ts";

/** The kinds that a program may give: jpg makes the others. */
export type GivenKind = Exclude<EventKind, "turn_start" | "config_delta">;

const GIVEN: Readonly<Record<GivenKind, true>> = {
  chat_request: true,
  chat_response: true,
  tool_call_request: true,
  tool_call_response: true,
  inquiry_request: true,
  inquiry_response: true,
  note: true,
};
export const GIVEN_KINDS: readonly string[] = Object.keys(GIVEN);

export function isGivenKind(type: string): type is GivenKind {
  return Object.hasOwn(GIVEN, type);
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads an event as its stored line is read again; a text says what is wrong with it. It has an id and a time. */
export function readGivenEvent(given: Fields): Event | string {
  const problem = problemOf(given);
  if (problem !== null) return problem;
  try {
    const event = parseEventLine(formatEventLine(given as unknown as Event), { file: "", line: 0 });
    // An object that looks like a reference to a stored payload is data, and not one where a text belongs.
    if (needsInlining(event)) parseEventLine(formatEventLine(asStored(event)), { file: "", line: 0 });
    return event;
  } catch (error) {
    // What is no JSON, a program's own object among them, cannot be written as a line.
    return error instanceof JpgError ? String(error.data["reason"] ?? error.message) : messageOf(error);
  }
}

function asStored(event: Event): Event {
  return spill(event, ATTACHMENT_LIMITS, () => "0".repeat(64));
}

/** Fields of an event's metadata that jpg reads as texts. */
const TEXTS_IN_METADATA: readonly string[] = [
  "provider",
  "model",
  "message_id",
  "signature",
  "encrypted",
  "origin",
  "unanswered",
  "api",
  "phase",
  "call_type",
  "stop",
  "stop_reason",
  "response_id",
  "line_origin",
];

/** What only an event of jpg's own has. */
const OWN_ORIGINS: readonly unknown[] = ["merge"];

/** Says what is wrong with the metadata or with a part of a content, or null: what a stored line is not checked for. */
function problemOf(given: Fields): string | null {
  const { metadata } = given;
  if (metadata !== undefined) {
    if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) return `"metadata" is no object`;
    const fields = metadata as Fields;
    const wrong = TEXTS_IN_METADATA.find((name) => fields[name] !== undefined && typeof fields[name] !== "string");
    if (wrong !== undefined) return `"metadata.${wrong}" is no text`;
    if (OWN_ORIGINS.includes(fields["origin"]) || fields["merge"] !== undefined)
      return `"metadata" says that jpg merged it`;
  }
  for (const name of ["content", "message"]) {
    const content = given[name];
    const wrong = Array.isArray(content) ? content.map(problemOfPart).find((one) => one !== null) : null;
    if (wrong !== undefined && wrong !== null) return `a part of "${name}" ${wrong}`;
  }
  return null;
}

/** By type: the fields of a part that are texts; those that it must have first. */
const PARTS: Readonly<Record<string, { readonly needed: readonly string[]; readonly allowed: readonly string[] }>> = {
  text: { needed: ["text"], allowed: [] },
  image: { needed: [], allowed: ["media_type", "data", "url", "title"] },
  document: { needed: [], allowed: ["media_type", "data", "url", "title"] },
  attachment: { needed: [], allowed: ["name", "text"] },
  opaque: { needed: [], allowed: ["provider"] },
};

function problemOfPart(part: unknown): string | null {
  if (typeof part !== "object" || part === null) return "is no object";
  const fields = part as Fields;
  const { type } = fields;
  const rule = typeof type === "string" && Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
  if (rule === undefined) return `has a type that is none of ${Object.keys(PARTS).join(", ")}`;
  const missing = rule.needed.find((name) => typeof fields[name] !== "string");
  if (missing !== undefined) return `has no text in "${missing}"`;
  const wrong = rule.allowed.find((name) => fields[name] !== undefined && typeof fields[name] !== "string");
  return wrong === undefined ? null : `has no text in "${wrong}"`;
}

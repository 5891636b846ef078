// Second pass: converts the pieces of a message to events. The same record always gives the same events.
import { type Event, plainText } from "../../core/conversation/event.ts";
import { readFunctionResponse, toGoogleContent, withMedia } from "../google/agent.ts";
import { plainValues, shorten } from "../imported-session.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../session-source.ts";
import {
  eventId,
  isSessionHeader,
  messageEventId,
  type SessionRecords,
  type SessionTurn,
  type TurnEntry,
} from "./records.ts";

const PROVIDER = "google";

/** Reads a turn, turn_start first. */
export function readGeminiTurn(records: SessionRecords, turn: SessionTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { base, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${base}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readTurnEntry(records, entry))];
}

/** Reads the events of an entry. */
export function readTurnEntry(
  records: SessionRecords,
  { place, base, names, timestamp, message }: TurnEntry,
): readonly Event[] {
  const record = records.at(place);
  if (names.length === 0) return [noteOfRecord(record, { id: base, timestamp })];
  const pieces = new Map(readPieces(record).map((piece) => [piece.name, piece]));
  const messageId = messageEventId(message);
  return names.flatMap((name) => {
    const piece = pieces.get(name);
    return piece === undefined ? [] : [toEvent(piece, record, { id: eventId(base, name), timestamp, messageId })];
  });
}

interface EventPlace {
  readonly id: string;
  readonly timestamp: string;
  /** Shared by the events of one answer. */
  readonly messageId: string;
}

/** Reads the event of one piece; absent if the message has no piece of that name. */
export function readPieceEvent(record: RawLine, name: string, place: EventPlace): Event | undefined {
  const piece = readPieces(record).find((one) => one.name === name);
  return piece === undefined ? undefined : toEvent(piece, record, place);
}

function toEvent({ body, voice }: MessagePiece, record: RawLine, place: EventPlace): Event {
  const { id, timestamp, messageId } = place;
  const { type, ...said } = body;
  const model = stringOf(record, "model");
  const made = { provider: PROVIDER, model, message_id: messageId };
  if (voice === "surroundings") return { type: "note", id, timestamp, kind: "session_context" };
  switch (type) {
    case "chat_request": {
      const origin = voice === "queued" || voice === "summary" ? voice : "harness";
      return { type, id, timestamp, ...said, ...(voice !== "user" && { metadata: { origin } }) } as Event;
    }
    case "tool_call_response":
      return { type, id, timestamp, ...said } as Event;
    case "note":
      return { type, id, timestamp, ...said, metadata: { ...made, usage: record["tokens"] } } as Event;
    default:
      return { type, id, timestamp, ...said, metadata: made } as Event;
  }
}

// The pieces of a message: one piece is one event. The agent writes a message again with more in it while it works, and in another
// form when the session is resumed: a piece keeps its name in all of them.

/** An event without id, time and maker. */
type PieceBody = Readonly<Record<string, unknown>> & { readonly type: string };

export interface MessagePiece {
  /** Its place in the message: "" for the first, else `[a-z0-9]+`. */
  readonly name: string;
  readonly body: PieceBody;
  /** Who speaks in a request. */
  readonly voice?: Voice;
  /** Values to compare it by, one for each part that the agent sends; none for what it does not send again. */
  readonly parts: readonly unknown[];
}

/** Reads a message's pieces in event order; none of a message that is only displayed. */
export function readPieces(message: RawLine): readonly MessagePiece[] {
  if (message["type"] === "user") return userPieces(messageParts(message["content"]));
  return message["type"] === "gemini" ? answerPieces(message) : [];
}

/** The parts of a content; a text counts as one. */
export function messageParts(content: unknown): readonly RawLine[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  if (isRecord(content)) return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) =>
    typeof part === "string" ? [{ text: part }] : isRecord(part) ? [part] : [],
  );
}

function userPieces(parts: readonly RawLine[]): readonly MessagePiece[] {
  const { results, rest } = splitResults(parts);
  const hasResults = results.length > 0;
  const pieces = results.map((result, at) => resultPiece(result, `r${at}`));
  const text = beginningOf(rest);
  if (rest.length === 0 || (hasResults && text.trim() === "")) return pieces;
  const voice = hasResults ? voiceAfterResults(text) : voiceOf(text);
  const isSent = voice !== "surroundings" && (hasResults || !isNotResent(text));
  const request = {
    name: hasResults ? "q0" : "",
    body: { type: "chat_request", content: toGoogleContent(rest.map(plainPart)) },
    voice,
    parts: isSent ? rest.map(comparedPart) : [],
  };
  return [...pieces, request];
}

/** The agent marks a text that begins with one of its own signs as no thought, so that it is sent again. */
function plainPart(part: RawLine): RawLine {
  const { thought: _, ...plain } = part;
  return plain;
}

/** The beginning of a message, as the agent checks it. */
function beginningOf(parts: readonly RawLine[]): string {
  let text = "";
  for (const part of parts) {
    const own = stringOf(part, "text");
    if (own === undefined || part["thought"] !== undefined) return `${text}[part]`;
    text += own;
    if (text.trim() !== "") return text;
  }
  return text;
}

/** If its parts hold calls or thoughts, they are complete; else thoughts and calls are in fields of their own. */
function answerPieces(message: RawLine): readonly MessagePiece[] {
  const parts = messageParts(message["content"]);
  const called = parts.flatMap((part): readonly RawLine[] => asList(recordOf(part, "functionCall")));
  const thoughtParts = parts.filter((part) => part["thought"] === true);
  const isWhole = called.length > 0 || thoughtParts.length > 0;
  const thoughts = isWhole ? thoughtParts.map((part) => stringOf(part, "text") ?? "") : thoughtsOf(message);
  const recorded = callsOf(message);
  const calls = called.length > 0 ? called : recorded;
  const said = parts.filter((part) => part["thought"] !== true && recordOf(part, "functionCall") === undefined);
  return [
    ...thoughts.flatMap((text, at) => (text === "" ? [] : [thoughtPiece(text, at)])),
    ...(isBlank(said) ? [] : [answerPiece(said)]),
    ...calls.map((call, at) => callPiece(call, at)),
    ...recorded.flatMap((call, at) => answeredPiece(call, at) ?? []),
    ...(recordOf(message, "tokens") === undefined ? [] : [USAGE]),
  ];
}

/** Tokens may be counted after the answer was written, so they are an event of their own. */
const USAGE: MessagePiece = { name: "usage", body: { type: "note", kind: "usage" }, parts: [] };

function asList(record: RawLine | undefined): readonly RawLine[] {
  return record === undefined ? [] : [record];
}

function isBlank(parts: readonly RawLine[]): boolean {
  return parts.every((part) => stringOf(part, "text")?.trim() === "");
}

function answerPiece(parts: readonly RawLine[]): MessagePiece {
  return { name: "", body: { type: "chat_response", message: toGoogleContent(parts) }, parts: parts.map(comparedPart) };
}

function thoughtPiece(text: string, at: number): MessagePiece {
  return { name: `t${at}`, body: { type: "chat_response", reasoning: text }, parts: [] };
}

function callPiece(call: RawLine, at: number): MessagePiece {
  const name = stringOf(call, "name") ?? "";
  const args: unknown = call["args"] ?? {};
  const body = { type: "tool_call_request", call_id: callIdOf(call), name, arguments: args };
  return { name: `c${at}`, body, parts: [[name, args]] };
}

/** The result stored with a call; null for a call that has none. */
function answeredPiece(call: RawLine, at: number): MessagePiece | null {
  const { result, status } = call;
  const id = callIdOf(call);
  const name = stringOf(call, "name") ?? "";
  const failed = status === "error" || status === "cancelled";
  if (typeof result === "string")
    return withAgentSession(
      call,
      resultPiece({ response: { id, name, response: { output: result } }, media: [] }, `r${at}`, failed),
    );
  const { results } = splitResults(messageParts(result));
  const own =
    results.find(({ response }) => callIdOf(response) === id) ?? (results.length === 1 ? results[0] : undefined);
  if (own === undefined) return null;
  return withAgentSession(call, resultPiece({ ...own, response: { ...own.response, id } }, `r${at}`, failed));
}

/** Names the sub-agent's session in its result. */
function withAgentSession({ agentId: session }: RawLine, piece: MessagePiece): MessagePiece {
  if (typeof session !== "string" || session === "") return piece;
  return { ...piece, body: { ...piece.body, metadata: { session } } };
}

/** A result with the parts after it that are no texts: they belong to it. */
interface FoundResult {
  readonly response: RawLine;
  readonly media: readonly RawLine[];
}

function splitResults(parts: readonly RawLine[]): {
  readonly results: readonly FoundResult[];
  readonly rest: readonly RawLine[];
} {
  const results: { readonly response: RawLine; readonly media: RawLine[] }[] = [];
  const rest: RawLine[] = [];
  for (const part of parts) {
    const response = recordOf(part, "functionResponse");
    if (response !== undefined) results.push({ response, media: messageParts(response["parts"]).slice() });
    else if (stringOf(part, "text") === undefined && results.length > 0) results.at(-1)?.media.push(part);
    else rest.push(part);
  }
  return { results, rest };
}

function resultPiece({ response, media }: FoundResult, name: string, failed = false): MessagePiece {
  const { content, is_error: isError } = readFunctionResponse(response["response"]);
  const whole = withMedia(content, media);
  const body = {
    type: "tool_call_response",
    call_id: callIdOf(response),
    content: whole,
    is_error: isError || failed,
  };
  return { name, body, parts: [whole] };
}

/** Some calls have no id: then the name links the result. */
function callIdOf(call: RawLine): string {
  return stringOf(call, "id") ?? stringOf(call, "name") ?? "";
}

function callsOf(message: RawLine): readonly RawLine[] {
  const { toolCalls } = message;
  return Array.isArray(toolCalls) ? toolCalls.filter(isRecord) : [];
}

function thoughtsOf(message: RawLine): readonly string[] {
  const { thoughts } = message;
  if (!Array.isArray(thoughts)) return [];
  return thoughts.filter(isRecord).map((thought) => thoughtText(thought));
}

/** Compares texts without surrounding white space: the agent strips it from what it writes. */
function comparedPart(part: RawLine): unknown {
  const { thought: _, thoughtSignature: __, ...said } = part;
  return typeof said["text"] === "string" && Object.keys(said).length === 1 ? said["text"].trim() : said;
}

// Texts in the user's name that nobody typed: added by the agent, or about a command that the user had it run. The agent omits some
// of them when it resumes a session, even if the user typed them.

/**
 * Who speaks in a text: the user, perhaps while the agent worked (`queued`); or the agent, which introduces the next request
 * (`context`), reports something (`harness`), summarises, or describes its surroundings.
 */
type Voice = "user" | "queued" | "context" | "harness" | "summary" | "surroundings";

const SURROUNDINGS = /^\s*(?:<session_context>|This is the Gemini CLI\. We are setting up the context for our chat\.)/;
const CONTEXT = [
  /^\s*<hook_context>/,
  /^Here is the user's editor context as a JSON object\./,
  /^Here is a summary of changes in the user's editor context/,
  /^- \*\*Workspace Directories:\*\*\n/,
];
const HARNESS = [
  /^I ran the following shell command:\n```sh\n/,
  /^(?:System: )?Please continue\.$/,
  /^System: Potential loop detected\. /,
];
const SUMMARY = /^\s*(?:<scratchpad>[\s\S]*?<\/scratchpad>\s*)?<state_snapshot>/;
/** The user's words while the agent works. */
const QUEUED = /^\s*User (?:steering update|hints):\n<user_input>\n/;

function voiceOf(text: string): Voice {
  if (SURROUNDINGS.test(text)) return "surroundings";
  if (SUMMARY.test(text)) return "summary";
  if (QUEUED.test(text)) return "queued";
  if (CONTEXT.some((mark) => mark.test(text))) return "context";
  return HARNESS.some((mark) => mark.test(text)) ? "harness" : "user";
}

/** Who speaks in a text after results of calls. */
function voiceAfterResults(text: string): Voice {
  return QUEUED.test(text) ? "queued" : "harness";
}

/** Whether the agent omits a request with this beginning when it resumes the session. */
export function isNotResent(text: string): boolean {
  return /^\s*(?:$|[/?]|<session_context>|<hook_context>)/.test(text);
}

const WORKSPACE = /\*\*Workspace Directories:\*\*\n {2}- (.+)\n/;

/** Reads the first directory in a description of the agent's surroundings; absent if there is none. */
export function directoryIn(text: string): string | undefined {
  return WORKSPACE.exec(text)?.[1];
}

// The model's thoughts: a subject and its description. The agent displays them and never sends them again.

const WORDED = /^\*\*([^*\n]+)\*\* ([\s\S]*)$/;

/** Words a thought as the agent does. */
function thoughtText(thought: RawLine): string {
  const subject = stringOf(thought, "subject") ?? "";
  const description = stringOf(thought, "description") ?? "";
  return subject === "" ? description : `**${subject}** ${description}`;
}

/** Converts reasoning to a thought; absent for that of other providers. */
export function toThought(event: Event): RawLine | undefined {
  if (event.type !== "chat_response" || event.reasoning === undefined) return undefined;
  if (event.metadata?.provider !== "google") return undefined;
  const text = plainText(event.reasoning);
  const [, subject = "", description = text] = WORDED.exec(text) ?? [];
  return text.trim() === "" ? undefined : { subject, description, timestamp: event.timestamp };
}

// Notes: records that no model sees. They keep the small plain values of a record; the whole stays in the sources of the
// conversation.

/** Keys of every record, which say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "id", "timestamp", "sessionId", "projectHash", "lastUpdated"]);

function noteOfRecord(record: RawLine, { id, timestamp }: { readonly id: string; readonly timestamp: string }): Event {
  const text = messageParts(record["content"])
    .flatMap((part) => stringOf(part, "text") ?? [])
    .join("");
  const values = { ...plainValues(recordOf(record, "$set") ?? record), ...(text !== "" && { content: shorten(text) }) };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: noteKind(record), ...(Object.keys(data).length > 0 && { data }) };
}

/** A sub-agent's session says that it is one, but not whose. */
function noteKind(record: RawLine): string {
  if (isSessionHeader(record)) return "subagent_session";
  if (recordOf(record, "$set") !== undefined) return "session_data";
  return stringOf(record, "type") ?? "unknown";
}

// Second pass: the pieces of a message as events. The same record always gives the same events.
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

/** Whose models the agent asks. */
const PROVIDER = "google";

/** Reads a turn, its turn_start first. */
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
  /** What the events of one answer share. */
  readonly messageId: string;
}

/** Reads the event of one piece; absent where the message has none of that name. */
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

// What a message of a session says, piece by piece: one piece, one event. A message is written again with more in it while the
// agent works, and once more, in another form, when the session is resumed: a piece has the same name in all of them.

/** An event without id, time and who made it. */
type PieceBody = Readonly<Record<string, unknown>> & { readonly type: string };

export interface MessagePiece {
  /** Its place in the message: "" for what is said first, else `[a-z0-9]+`. */
  readonly name: string;
  readonly body: PieceBody;
  /** Whose words a request is. */
  readonly voice?: Voice;
  /** What it is compared by, one for each part that the agent sends; none for what it does not send again. */
  readonly parts: readonly unknown[];
}

/** Reads the pieces of a message, in the order of their events; none of a message that only the agent's display shows. */
export function readPieces(message: RawLine): readonly MessagePiece[] {
  if (message["type"] === "user") return userPieces(messageParts(message["content"]));
  return message["type"] === "gemini" ? answerPieces(message) : [];
}

/** The parts of a content: a text counts as one. */
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

/** The agent marks a text that begins with one of its own signs as no thought: so it is not left out. */
function plainPart(part: RawLine): RawLine {
  const { thought: _, ...plain } = part;
  return plain;
}

/** What a message begins with as the agent looks at it. */
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

/** Where its parts hold calls or thoughts, they are all there is; else thoughts and calls stand beside them. */
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

/** Tokens may be counted when the answer has been written down: so they stand in an event of their own. */
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

/** The result that stands with a call; null for a call that has none. */
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

/** A result that a sub-agent gave names its session. */
function withAgentSession({ agentId: session }: RawLine, piece: MessagePiece): MessagePiece {
  if (typeof session !== "string" || session === "") return piece;
  return { ...piece, body: { ...piece.body, metadata: { session } } };
}

/** A result, and the parts behind it that are no texts: they belong to it. */
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

/** Some calls have no id of their own: then a result is known by the name. */
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

/** Texts are compared without the white space around them: the agent takes it off what it writes down. */
function comparedPart(part: RawLine): unknown {
  const { thought: _, thoughtSignature: __, ...said } = part;
  return typeof said["text"] === "string" && Object.keys(said).length === 1 ? said["text"].trim() : said;
}

// Texts in the user's name that nobody typed: the agent puts them in, or jpg's user had the agent run a command. Some the agent
// leaves out when it resumes a session, whoever wrote them.

/**
 * Whose words a text is: a person's, perhaps typed while the agent worked; the agent's, that introduce the next request, tell of
 * something else, sum up what was said, or describe its surroundings.
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
/** What the user adds while the agent works. */
const QUEUED = /^\s*User (?:steering update|hints):\n<user_input>\n/;

/** Tells who speaks in a text. */
function voiceOf(text: string): Voice {
  if (SURROUNDINGS.test(text)) return "surroundings";
  if (SUMMARY.test(text)) return "summary";
  if (QUEUED.test(text)) return "queued";
  if (CONTEXT.some((mark) => mark.test(text))) return "context";
  return HARNESS.some((mark) => mark.test(text)) ? "harness" : "user";
}

/** Tells who speaks in a text that stands behind results of calls. */
function voiceAfterResults(text: string): Voice {
  return QUEUED.test(text) ? "queued" : "harness";
}

/** Whether the agent leaves a request with this beginning out of what it sends when it resumes the session. */
export function isNotResent(text: string): boolean {
  return /^\s*(?:$|[/?]|<session_context>|<hook_context>)/.test(text);
}

const WORKSPACE = /\*\*Workspace Directories:\*\*\n {2}- (.+)\n/;

/** The directory that a text of the agent's surroundings names first; absent where it names none. */
export function directoryIn(text: string): string | undefined {
  return WORKSPACE.exec(text)?.[1];
}

// Thoughts of the model: a subject and what it says of it. The agent shows them and never sends them again.

const WORDED = /^\*\*([^*\n]+)\*\* ([\s\S]*)$/;

/** Gives a thought as the agent words it. */
function thoughtText(thought: RawLine): string {
  const subject = stringOf(thought, "subject") ?? "";
  const description = stringOf(thought, "description") ?? "";
  return subject === "" ? description : `**${subject}** ${description}`;
}

/** Gives reasoning as a thought; absent for that of other makers, which this agent never had. */
export function toThought(event: Event): RawLine | undefined {
  if (event.type !== "chat_response" || event.reasoning === undefined) return undefined;
  if (event.metadata?.provider !== "google") return undefined;
  const text = plainText(event.reasoning);
  const [, subject = "", description = text] = WORDED.exec(text) ?? [];
  return text.trim() === "" ? undefined : { subject, description, timestamp: event.timestamp };
}

// Notes: what the agent wrote down and no model sees. They keep the small plain values of a record; the whole lives on in the
// sources of the conversation.

/** What every record has, and says nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "id", "timestamp", "sessionId", "projectHash", "lastUpdated"]);

/** Creates the note of a record. */
function noteOfRecord(record: RawLine, { id, timestamp }: { readonly id: string; readonly timestamp: string }): Event {
  const text = messageParts(record["content"])
    .flatMap((part) => stringOf(part, "text") ?? [])
    .join("");
  const values = { ...plainValues(recordOf(record, "$set") ?? record), ...(text !== "" && { content: shorten(text) }) };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: noteKind(record), ...(Object.keys(data).length > 0 && { data }) };
}

/** A sub-agent's session says that it is one, and not whose. */
function noteKind(record: RawLine): string {
  if (isSessionHeader(record)) return "subagent_session";
  if (recordOf(record, "$set") !== undefined) return "session_data";
  return stringOf(record, "type") ?? "unknown";
}

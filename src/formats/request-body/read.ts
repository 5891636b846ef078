// Imports API requests as sessions: recognises them, parses them, makes events.
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type Event,
  type Fields,
  isFields,
  type ToolCallRequest,
  type ToolCallResponse,
  wordsOfContent,
} from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { type ProviderName, recognizeRequest } from "../../core/model/provider-rules.ts";
import type { AgentFormat } from "../agent-format.ts";
import { deriveName, type ImportedSession, type SkippedLine } from "../imported-session.ts";
import { parseJsonDocument, parseJsonLine, type SessionSource } from "../session-source.ts";

// The events of a request. A request has neither ids nor times.

type Unnamed<Kind> = Kind extends unknown ? Omit<Kind, "id" | "timestamp"> : never;

/** An event that has neither id nor time yet. */
export type UnnamedEvent = Unnamed<ChatRequest | ChatResponse | ToolCallRequest | ToolCallResponse>;

/** One message of the list, or one item of it. */
export interface BodyMessage {
  readonly events: readonly UnnamedEvent[];
  /** Said by a person: it begins a turn if the turn before has an answer. */
  readonly isFromUser: boolean;
}

interface ReadBody {
  /** The system prompt outside the list; null if there is none. */
  readonly prompt: Content | null;
  /** One for each list item, possibly empty. */
  readonly messages: readonly BodyMessage[];
  readonly tools: readonly ToolDefinition[];
}

// An API's requests as an importable format. They belong to no agent: they have no usual folder, and nothing resumes them; `export
// --to` writes them.

/** What differs between APIs. */
interface BodyRules {
  /** As typed after `--to`. */
  readonly name: ProviderName;
  /** What the API is called. */
  readonly title: string;
  /** Form of a request, for error messages. */
  readonly shape: string;
  /** Reads a request whose list is not empty. Never throws. */
  read(body: Fields, list: readonly unknown[]): ReadBody;
}

/** Creates the format of an API's requests. */
export function createBodyFormat({ name, title, shape, read }: BodyRules): AgentFormat {
  const bodyIn = (source: SessionSource): ReadBody | null => {
    const { body } = parseBody(source);
    const found = recognizeRequest(body);
    if (found === null || found.list.length === 0 || !found.possible.includes(name)) return null;
    return read(isFields(body) ? body : {}, found.list);
  };
  return {
    name,
    agent: { name: title, email: `${name}@jpg.invalid` },
    importer: BODY_IMPORTER,
    files: { endings: [], document: (source) => (parseBody(source).isLines ? "jsonl" : "json") },
    detect: (source) => {
      const found = recognizeRequest(parseBody(source).body);
      return found?.provider === name && found.list.length > 0;
    },
    sessionId: (source) => {
      const body = bodyIn(source);
      return body === null ? null : bodySessionId(body);
    },
    origin: () => null,
    read: (source) => {
      const body = bodyIn(source);
      if (body === null) throw notABody(title, shape);
      const { brokenAtLine, skipped } = parseBody(source);
      if (brokenAtLine !== undefined) throw severalConversations(brokenAtLine);
      if (body.messages.every(({ events }) => events.length === 0))
        throw notABody(title, `${shape} with a message in it`);
      return createBodySession(name, body, skipped);
    },
    help: {
      place: `Requests to the ${title} API are wherever you saved them.`,
      file: "request.json",
      reads:
        "A request as a JSON document, only its messages, or a log of requests, one per line, each of which continues the one before.",
      lost: [
        "A request does not say when it was sent: its messages are dated from 1970 on, a second apart.",
        "Settings such as temperature and limits stay in the source.",
      ],
    },
  };
}

function notABody(title: string, shape: string): Error {
  return userError("not_a_session", `The file is not a request to the ${title} API: expected ${shape}.`, {
    hints: ["A file holds one JSON document, or one request per line, each of which continues the one before."],
  });
}

function severalConversations(line: number): Error {
  return userError(
    "several_conversations",
    `The file holds more than one conversation: line ${line} does not continue the line before.`,
    { hints: ["Nothing of it was imported. Give each its own file: `split -l 1 FILE part-`, then import these."] },
  );
}

// A request as a session. It has no times: messages are dated in seconds from the epoch. Its id derives from its beginning, so that
// a longer request of the same conversation is recognised, and two with the same beginning count as one.

/** Version of this importer: raise it when the same bytes would give other events. */
const BODY_IMPORTER = 2;

const EMPTY = "a message without content";

/** Title of a conversation without a user request. */
const UNTITLED = "untitled conversation";

/** A message and its place. */
interface PlacedMessage extends BodyMessage {
  /** Position in the list, 0-based; `prompt` = outside it. */
  readonly at: number | "prompt";
}

/** Derives an id from everything up to the user's first words. */
function bodySessionId({ prompt, messages }: Pick<ReadBody, "prompt" | "messages">): string {
  const asked = messages.findIndex(({ isFromUser }) => isFromUser);
  const beginning = messages.slice(0, asked === -1 ? 1 : asked + 1);
  return deriveName(JSON.stringify([prompt ?? "", beginning.flatMap(({ events }) => events)]));
}

/** Makes a session of a request; lists empty lines and messages as skipped. */
function createBodySession(format: string, body: ReadBody, skippedLines: readonly SkippedLine[]): ImportedSession {
  const sessionId = bodySessionId(body);
  const placed = placeMessages(body);
  const turns = turnsOf(placed);
  const known = new Set(placed.map(({ at }) => messageId(sessionId, at)));
  const empty = body.messages.flatMap(({ events }, at) => (events.length > 0 ? [] : [{ line: at + 1, reason: EMPTY }]));
  return {
    format,
    importer: BODY_IMPORTER,
    sessionId,
    title: titleOf(placed),
    titles: [],
    toolLists:
      body.tools.length === 0
        ? []
        : [{ turn: 0, timestamp: timestamp(0), id: `${sessionId}-tools`, tools: body.tools }],
    createdAt: timestamp(0),
    turnCount: turns.length,
    readTurn: (turn) => readTurn(turns[turn] ?? [], sessionId),
    turnLine: () => 0,
    turnTime: (turn) => timestamp(turns[turn]?.[0]?.at ?? 0),
    hasLine: (id) => known.has(id),
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: [...skippedLines, ...empty],
  };
}

function placeMessages({ prompt, messages }: ReadBody): readonly PlacedMessage[] {
  const content = prompt ?? "";
  const isBlank = content === "" || (Array.isArray(content) && content.length === 0);
  const system: PlacedMessage = {
    events: isBlank ? [] : [{ type: "chat_request", role: "system", content }],
    isFromUser: false,
    at: "prompt",
  };
  return [system, ...messages.map((message, at) => ({ ...message, at }))].filter(({ events }) => events.length > 0);
}

/** A user message begins a turn if the turn before has an answer; system prompts before it belong to it. */
function turnsOf(messages: readonly PlacedMessage[]): readonly (readonly PlacedMessage[])[] {
  const turns: PlacedMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    if (open === undefined || (message.isFromUser && isAnswered(open))) turns.push([message]);
    else open.push(message);
  }
  return turns;
}

function isAnswered(turn: readonly PlacedMessage[]): boolean {
  return turn.some(({ events }) => events.some(({ type }) => type !== "chat_request"));
}

function readTurn(messages: readonly PlacedMessage[], sessionId: string): readonly Event[] {
  const events = messages.flatMap(({ events: unnamed, at }) => {
    const id = messageId(sessionId, at);
    return unnamed.map((event, n) => nameEvent(event, { id: n === 0 ? id : `${id}.${n}`, message: id, at }));
  });
  const [first] = messages;
  if (first === undefined) return [];
  const start: Event = {
    type: "turn_start",
    id: `${messageId(sessionId, first.at)}.turn`,
    timestamp: timestamp(first.at),
  };
  return [start, ...events];
}

function nameEvent(
  event: UnnamedEvent,
  { id, message, at }: { readonly id: string; readonly message: string; readonly at: PlacedMessage["at"] },
): Event {
  const { type, metadata, ...rest } = event;
  const isAnswer = type === "chat_response" || type === "tool_call_request";
  const whole = isAnswer ? { ...metadata, message_id: message } : metadata;
  return { type, id, timestamp: timestamp(at), ...rest, metadata: whole } as Event;
}

function titleOf(messages: readonly PlacedMessage[]): string {
  for (const { events, isFromUser } of messages) {
    if (!isFromUser) continue;
    for (const event of events) {
      const title = event.type === "chat_request" ? titleOfRequest(wordsOfContent(event.content)) : "";
      if (title !== "") return title;
    }
  }
  return UNTITLED;
}

function messageId(sessionId: string, at: PlacedMessage["at"]): string {
  return `${sessionId}-${at}`;
}

function timestamp(at: PlacedMessage["at"]): string {
  return new Date(at === "prompt" ? 0 : at * 1000).toISOString();
}

// A file of requests: one JSON document, or one request per line. Each line continues the one before, so the last holds everything.
// A file is parsed once.

interface ParsedBody {
  /** The request that holds everything; null if there is none. */
  readonly body: unknown;
  /** One request per line. */
  readonly isLines: boolean;
  readonly skipped: readonly SkippedLine[];
  /** Line, 1-based, of the first request that does not continue the one before; absent = all do. */
  readonly brokenAtLine?: number;
}

const parsed = new WeakMap<SessionSource, ParsedBody>();

/** Parses a file. Never throws. */
function parseBody(source: SessionSource): ParsedBody {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const made = readBody(source);
  parsed.set(source, made);
  return made;
}

function readBody(source: SessionSource): ParsedBody {
  const isLines = source.lineCount > 1 && isFields(parseJsonLine(source.line(0)));
  return isLines ? readLines(source) : { body: parseJsonDocument(source), isLines, skipped: [] };
}

function readLines(source: SessionSource): ParsedBody {
  const skipped: SkippedLine[] = [];
  let body: unknown = null;
  for (let line = 0; line < source.lineCount; line++) {
    const value = parseJsonLine(source.line(line));
    if (value === null) continue;
    if (typeof value === "string") skipped.push({ line: line + 1, reason: value });
    else if (body !== null && !continues(body, value)) return { body, isLines: true, skipped, brokenAtLine: line + 1 };
    else body = value;
  }
  return { body, isLines: true, skipped };
}

/** Whether a request begins with all messages of an earlier one. */
function continues(before: unknown, after: unknown): boolean {
  const [known, list] = [recognizeRequest(before)?.list, recognizeRequest(after)?.list];
  if (known === undefined || list === undefined || known.length > list.length) return false;
  return known.every((message, at) => JSON.stringify(message) === JSON.stringify(list[at]));
}

// The messages of a Cline document, with id, time and content, and their events.
import type { ContentPart, Event, EventMetadata } from "../../core/conversation/event.ts";
import { opaqueFieldsOf, readAnswerBlock, readResultBlock, toContent } from "../anthropic/agent.ts";
import { deriveName, type SkippedLine, toUsableId } from "../imported-session.ts";
import type { BodyMessage, UnnamedEvent } from "../request-body/read.ts";
import {
  isRecord,
  NO_DATE,
  parseDocumentText,
  parseJsonDocument,
  type RawLine,
  recordOf,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

/** A message that is not empty. */
export interface ClineMessage {
  readonly id: string;
  readonly timestamp: string;
  readonly said: readonly UnnamedEvent[];
  readonly isFromUser: boolean;
  /** Cline's metadata: in a compacted state, where the message came from. */
  readonly about: RawLine;
}

/** Reads the messages of a document; `names` makes ids for messages without one. */
export function placeMessages(
  { messages }: ClineDocument,
  names: string,
): { readonly messages: readonly ClineMessage[]; readonly skipped: readonly SkippedLine[] } {
  const placed: ClineMessage[] = [];
  const skipped: SkippedLine[] = [];
  const ids = new Set<string>();
  let timestamp = NO_DATE;
  for (const [at, message] of messages.entries()) {
    const own = ownId(message);
    const id = own !== "" && !ids.has(own) ? own : `${at}-${names.replaceAll(".", "_")}`;
    ids.add(id);
    timestamp = timeOf(message) ?? timestamp;
    const { events: said, isFromUser } = readClineMessage(message, id);
    if (said.length > 0) placed.push({ id, timestamp, said, isFromUser, about: recordOf(message, "metadata") ?? {} });
    else skipped.push({ line: at + 1, reason: "a message without a known role or content" });
  }
  return { messages: placed, skipped };
}

/** Makes the events of a message. */
export function eventsOf({ id, timestamp, said }: ClineMessage): readonly Event[] {
  return said.map(({ type, ...rest }, n) => ({ type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest }) as Event);
}

/** A message's id. On each save Cline appends the call's id once more to that of a result's message. */
function ownId(message: RawLine): string {
  const [first = "", call] = (stringOf(message, "id") ?? "").split("_tool_");
  const id = call === undefined ? first : `${first}_tool_${call}`;
  return id === "" || /^[A-Za-z0-9_-]{1,128}$/.test(id) ? id : `id-${deriveName(id)}`;
}

/** Milliseconds since 1970. */
function timeOf(message: RawLine): string | undefined {
  const time = new Date(typeof message["ts"] === "number" ? message["ts"] : Number.NaN);
  const year = time.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? time.toISOString() : undefined;
}

// A file of a Cline session, unvalidated: one JSON document with all messages, or in the second file those that Cline sends since a
// compaction. Each file is parsed once.

export interface ClineDocument {
  /** As in the file. */
  readonly id: string;
  /** The session's id, usable in names; a compacted state has another one. */
  readonly sessionId: string;
  /** One for each list item; an item that is no object counts as empty. */
  readonly messages: readonly RawLine[];
  /** Time of the last save. */
  readonly updatedAt: unknown;
}

const parsed = new WeakMap<SessionSource, ClineDocument | null>();

/** Parses a file; null if it is no document of Cline's. Never throws. */
export function parseClineDocument(source: SessionSource): ClineDocument | null {
  let document = parsed.get(source);
  if (document === undefined) {
    document = toDocument(parseJsonDocument(source));
    parsed.set(source, document);
  }
  return document;
}

/** Parses a session's second file; null if it belongs to another session. Never throws. */
export function parseCompactedState(text: string, { id }: ClineDocument): ClineDocument | null {
  const state = toDocument(parseDocumentText(text));
  return state?.id === id ? state : null;
}

function toDocument(value: unknown): ClineDocument | null {
  if (!isRecord(value) || typeof value["version"] !== "number") return null;
  const id = stringOf(value, "sessionId") ?? "";
  const list = value["messages"];
  if (id === "" || !Array.isArray(list)) return null;
  const messages = list.map((message) => (isRecord(message) ? message : {}));
  const isCompacted = messages.some((message) => recordOf(message, "metadata")?.["kind"] === KIND);
  const sessionId = toUsableId(isCompacted ? `${id}-compacted` : id);
  return { id, sessionId, messages, updatedAt: value["updated_at"] };
}

/** Marks a compaction's first message. */
const KIND = "compaction";

/** Reads a message; one of another role than user or assistant is empty. */
function readClineMessage(message: RawLine, id: string): BodyMessage {
  switch (message["role"]) {
    case "assistant":
      return { events: answersOf(message, id), isFromUser: false };
    case "user":
      return readUsers(blocksOf(message));
    default:
      return { events: [], isFromUser: false };
  }
}

function blocksOf(message: RawLine): readonly RawLine[] {
  const { content } = message;
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

function answersOf(message: RawLine, id: string): readonly UnnamedEvent[] {
  const made = recordOf(message, "modelInfo") ?? {};
  const model = stringOf(made, "id");
  const metadata: EventMetadata = {
    provider: stringOf(made, "provider") ?? "cline",
    model,
    message_id: id,
  };
  const usage = usageOf(recordOf(message, "metrics"));
  return blocksOf(message).map((block, at) =>
    readAnswerBlock(block, {
      ...metadata,
      ...opaqueFieldsOf(block),
      ...(at === 0 && usage !== undefined && { usage }),
    }),
  );
}

/** Cline's input count includes cache reads and writes. */
function usageOf(metrics: RawLine | undefined): RawLine | undefined {
  if (metrics === undefined) return undefined;
  const count = (key: string): number => (typeof metrics[key] === "number" ? Number(metrics[key]) : 0);
  const [sent, cacheRead, cacheWrite] = [count("inputTokens"), count("cacheReadTokens"), count("cacheWriteTokens")];
  const rest = sent - cacheRead - cacheWrite;
  const cost = metrics["cost"];
  return {
    input: rest < 0 ? sent : rest,
    cacheRead,
    cacheWrite,
    output: count("outputTokens"),
    ...(typeof cost === "number" && { cost }),
  };
}

/** Order: results, the user's words, what Cline added. */
function readUsers(blocks: readonly RawLine[]): BodyMessage {
  const results = blocks.filter(isResult);
  const notices = blocks.filter(isNotice);
  const own = blocks.filter((block) => !isResult(block) && !isNotice(block));
  const said: readonly UnnamedEvent[] = [
    ...results.map(readResultBlock),
    ...(own.length === 0 ? [] : [{ type: "chat_request" as const, content: contentOf(own) }]),
    ...notices.map((block): UnnamedEvent => {
      return { type: "chat_request", content: stringOf(block, "text") ?? "", metadata: { origin: "harness" } };
    }),
  ];
  return { events: said, isFromUser: own.length > 0 };
}

function isResult(block: RawLine): boolean {
  return block["type"] === "tool_result";
}

function isNotice(block: RawLine): boolean {
  return block["type"] === "text" && (stringOf(block, "text") ?? "").startsWith("<SYSTEM_NOTICE>");
}

function contentOf(blocks: readonly RawLine[]): ReturnType<typeof toContent> {
  if (!blocks.some(isFile)) return toContent(blocks);
  return blocks.flatMap((block): readonly ContentPart[] => {
    if (isFile(block))
      return [{ type: "attachment", name: stringOf(block, "path") ?? "file", text: stringOf(block, "content") ?? "" }];
    const content = toContent([block]);
    return Array.isArray(content) ? content : [{ type: "text", text: content as string }];
  });
}

/** A file that the user named, with its content at that time. */
function isFile(block: RawLine): boolean {
  return block["type"] === "file" && typeof block["content"] === "string";
}

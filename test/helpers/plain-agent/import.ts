// Sessions of the plain agent: JSON lines of `{role, text}`, where lines that jpg wrote have an `id` as well. There are neither
// times nor names in them: lines count seconds, and a session is called after its first line, so that two that begin with
// the same words are taken for one.

import type { Event } from "../../../src/core/conversation/event.ts";
import { userError } from "../../../src/core/errors.ts";
import type { ImportedSession, SkippedLine } from "../../../src/formats/imported-session.ts";
import { parseExportOrigin, toUsableId } from "../../../src/formats/imported-session.ts";
import type { SessionSource } from "../../../src/formats/session-source.ts";

/** Version of this importer: raise it when the same bytes would give other events. */
export const PLAIN_IMPORTER = 1;

/** One message, and where it stands in the file. */
export interface PlainMessage {
  readonly id?: string;
  readonly role: "user" | "assistant";
  readonly text: string;
  /** 0-based. */
  readonly line: number;
}

/** Whether the first line, after jpg's own, is a message. */
export function isPlainSession(source: SessionSource): boolean {
  const first = firstLine(source);
  return first < source.lineCount && parseMessage(source.line(first), first) !== null;
}

/** The id that jpg gave a session which it exported, else one derived from the first line; null for an empty file. */
export function plainSessionId(source: SessionSource): string | null {
  if (source.lineCount === 0) return null;
  const own = source.line(0);
  if (firstLine(source) === 0) return toUsableId(`first line: ${own}`);
  const { sessionId } = JSON.parse(own) as { sessionId?: unknown };
  return toUsableId(String(sessionId));
}

/** Reads a session. Throws `not_a_session` when no line is a message. */
export function readPlainSession(source: SessionSource): ImportedSession {
  const messages: PlainMessage[] = [];
  const skippedLines: SkippedLine[] = [];
  for (let line = firstLine(source); line < source.lineCount; line++) {
    const message = parseMessage(source.line(line), line);
    if (message !== null) messages.push(message);
    else skippedLines.push({ line: line + 1, reason: "no message" });
  }
  if (messages.length === 0) {
    throw userError("not_a_session", "The file is not a session of the plain agent: expected lines of role and text.");
  }
  return createSession(messages, { format: "plain", sessionId: plainSessionId(source) ?? "", skippedLines });
}

/** Makes turns of messages: each of the user's opens one. */
export function createSession(
  messages: readonly PlainMessage[],
  names: Pick<ImportedSession, "format" | "sessionId" | "skippedLines">,
): ImportedSession {
  const turns: PlainMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    if (open === undefined || message.role === "user") turns.push([message]);
    else open.push(message);
  }
  const timeOf = (turn: number): string => timestamp(turns[turn]?.[0]);
  const known = new Set(messages.flatMap(({ id }) => id ?? []));
  return {
    ...names,
    importer: PLAIN_IMPORTER,
    title: messages[0]?.text.split("\n", 1)[0] ?? "",
    titles: [],
    createdAt: timeOf(0),
    turnCount: turns.length,
    readTurn: (turn) => eventsOf(turns[turn] ?? [], names.sessionId),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.[0]?.line ?? 0)),
    turnTime: timeOf,
    hasLine: (id) => known.has(id),
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
  };
}

function eventsOf(turn: readonly PlainMessage[], session: string): readonly Event[] {
  return turn.flatMap((message, at): Event[] => {
    const id = message.id ?? `${session}-${message.line}`;
    const time = timestamp(message);
    const start: Event[] = at === 0 ? [{ type: "turn_start", id: `${id}.turn`, timestamp: time }] : [];
    return message.role === "user"
      ? [...start, { type: "chat_request", id, timestamp: time, content: message.text }]
      : [...start, { type: "chat_response", id, timestamp: time, message: message.text }];
  });
}

/** The line at which messages begin: jpg's own stands before them. */
function firstLine(source: SessionSource): number {
  return source.lineCount > 0 && parseExportOrigin(source.line(0)) !== null ? 1 : 0;
}

function parseMessage(text: string, line: number): PlainMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return null;
    const { id, role, text: said } = value as Readonly<Record<string, unknown>>;
    if ((role !== "user" && role !== "assistant") || typeof said !== "string") return null;
    return { ...(typeof id === "string" && { id }), role, text: said, line };
  } catch {
    return null; // cut off, or none of the agent's: counted and named as skipped
  }
}

function timestamp(message: PlainMessage | undefined): string {
  return new Date((message?.line ?? 0) * 1000).toISOString();
}

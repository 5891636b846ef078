// The lines of a turn's journal and what they come to. Each line stands by itself, an event's later lines replace or extend
// its earlier ones, so any prefix of a journal replays to a prefix of its events, and replaying twice changes nothing.
import * as z from "zod/mini";
import type { ChatResponse, Event } from "../../core/conversation/event.ts";
import { parseEventLine } from "../../core/conversation/turn-file.ts";
import { parseJson } from "../../core/json.ts";
import { type ProcessMark, processMark } from "../../store/running-process.ts";
import { type ConversationHeader, conversationHeader } from "../branch/branch-tree.ts";
import { objectId } from "../workspace/object-id.ts";

/** The first line, and again when it changes: what is needed to commit the turn without its writer. The last one holds. */
export interface JournalHead {
  /** Version of the journal's lines. */
  readonly journal: 1;
  readonly branch: string;
  /** Position of the turn, 0-based. */
  readonly turn: number;
  /** Id of the turn's first event: tells whether a branch holds the turn already. */
  readonly start: string;
  /** The commit it was begun on; null = it begins a conversation. */
  readonly parent: string | null;
  /** Object id of the turn before it; null = there is none. */
  readonly prev: string | null;
  /** Written by the root commit of a new conversation. */
  readonly root?: ConversationHeader;
  /** Whose turn it is. */
  readonly writer: ProcessMark;
}

const journalHead: z.ZodMiniType<JournalHead> = z.looseObject({
  journal: z.literal(1),
  branch: z.string(),
  turn: z.int().check(z.minimum(0)),
  start: z.string(),
  parent: z.nullable(objectId),
  prev: z.nullable(objectId),
  root: z.exactOptional(conversationHeader),
  writer: processMark,
});

/** A text that streams, as its event will hold it. */
export type TextKind = "message" | "reasoning";

/** One line after the first. */
export type JournalLine =
  /** An event whose text streams; its text so far. */
  | { readonly open: ChatResponse }
  /** More text of the event with that id. */
  | { readonly delta: string; readonly id: string }
  /** A whole event, in place of what was opened with its id, or of its earlier form. */
  | { readonly event: Event }
  /** The turn is as it should be; without it, it was interrupted. */
  | { readonly complete: true };

/** What a journal comes to. */
export interface Replay {
  readonly head: JournalHead;
  /** In the order begun. What streamed and did not end is marked `metadata.interrupted`; nothing of it = left out. */
  readonly events: readonly Event[];
  readonly isComplete: boolean;
}

/** Formats a line of a journal, its line end included. */
export function formatJournalLine(line: JournalHead | JournalLine): string {
  return `${JSON.stringify(line)}\n`;
}

/** Replays a journal; reads up to the first line that is torn or makes no sense. Null when not even its head is whole. */
export function replayJournal(text: string): Replay | null {
  const [first = "", ...rest] = wholeLines(text);
  let head = parseHead(first);
  if (head === null) return null;
  const events = new Map<string, Event | Streaming>();
  let isComplete = false;
  for (const line of rest) {
    const parsed = parseLine(line);
    if (parsed === null) break;
    if ("journal" in parsed) head = parsed;
    else if ("complete" in parsed) isComplete = true;
    else apply(events, parsed);
  }
  return {
    head,
    events: [...events.values()].flatMap((entry) => ("partial" in entry ? ended(entry) : entry)),
    isComplete,
  };
}

/** Parses the first line of a journal that may go on after it; null when it is torn or no head. */
export function parseJournalHead(text: string): JournalHead | null {
  const end = text.indexOf("\n");
  return end < 0 ? null : parseHead(text.slice(0, end));
}

/** An event that streams. */
interface Streaming {
  readonly partial: ChatResponse;
  text: string;
}

function apply(events: Map<string, Event | Streaming>, line: Exclude<JournalLine, { readonly complete: true }>): void {
  if ("event" in line) events.set(line.event.id, line.event);
  else if ("open" in line) {
    if (!events.has(line.open.id)) events.set(line.open.id, { partial: line.open, text: textOf(line.open) });
  } else {
    const entry = events.get(line.id);
    if (entry !== undefined && "partial" in entry) entry.text += line.delta;
  }
}

function ended({ partial, text }: Streaming): Event | [] {
  return text === "" ? [] : interruptedAt(partial, text);
}

/** An event with the text that came of it, marked as interrupted. */
export function interruptedAt(event: ChatResponse, text: string): ChatResponse {
  const { metadata, ...rest } = event;
  return {
    ...rest,
    ...(event.reasoning === undefined ? { message: text } : { reasoning: text }),
    metadata: { ...metadata, interrupted: true },
  };
}

function textOf({ message, reasoning }: ChatResponse): string {
  const text = message ?? reasoning;
  return typeof text === "string" ? text : "";
}

/** The lines that have their end: the last one may be torn. */
function wholeLines(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

function parseHead(line: string): JournalHead | null {
  return parseJson(line, journalHead);
}

function parseLine(line: string): JournalHead | JournalLine | null {
  const value = parseObject(line);
  if (value === null) return null;
  if (value["journal"] !== undefined) return parseHead(line);
  if (value["complete"] === true) return { complete: true };
  if (typeof value["delta"] === "string" && typeof value["id"] === "string")
    return { delta: value["delta"], id: value["id"] };
  const event = parseEvent(value["event"] ?? value["open"]);
  if (event === null) return null;
  if (value["event"] !== undefined) return { event };
  return event.type === "chat_response" ? { open: event } : null;
}

function parseEvent(value: unknown): Event | null {
  try {
    return parseEventLine(JSON.stringify(value) ?? "", { file: "journal", line: 1 });
  } catch {
    return null; // written by another version, or damaged: what stands before it counts
  }
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
  } catch {
    return null; // torn
  }
}

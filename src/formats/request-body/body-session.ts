// A request as a session. It has no times: messages count seconds from the epoch. Nor has it a name: a session is called after
// what it begins with, so that a longer request of the same conversation is known for one, and two that begin with the same
// words are taken for one.

import { type Event, wordsOfContent } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import type { ImportedSession, SkippedLine } from "../imported-session.ts";
import type { ReadBody, SaidEvent, SaidMessage } from "./said.ts";

/** Version of this importer: raise it when the same bytes would give other events. */
export const BODY_IMPORTER = 1;

const EMPTY = "a message without content";

/** What a conversation is called in which nobody asked anything. */
const UNTITLED = "untitled conversation";

/** A message and where it stands. */
interface PlacedMessage extends SaidMessage {
  /** Position in the list, 0-based; `prompt` = beside it. */
  readonly at: number | "prompt";
}

/** Gives the id of a conversation: everything up to the first words of the user, in their words, names it. */
export function bodySessionId({ prompt, messages }: Pick<ReadBody, "prompt" | "messages">): string {
  const asked = messages.findIndex(({ isUsers }) => isUsers);
  const beginning = messages.slice(0, asked === -1 ? 1 : asked + 1);
  return deriveName(JSON.stringify([prompt ?? "", beginning.flatMap(({ said }) => said)]));
}

/** Makes a session of what a request of the format holds. Lines and messages that say nothing are skipped by name. */
export function createBodySession(
  format: string,
  body: ReadBody,
  skippedLines: readonly SkippedLine[],
): ImportedSession {
  const sessionId = bodySessionId(body);
  const placed = placeMessages(body);
  const turns = turnsOf(placed);
  const known = new Set(placed.map(({ at }) => messageId(sessionId, at)));
  const empty = body.messages.flatMap(({ said }, at) => (said.length > 0 ? [] : [{ line: at + 1, reason: EMPTY }]));
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
    said: isBlank ? [] : [{ type: "chat_request", role: "system", content }],
    isUsers: false,
    at: "prompt",
  };
  return [system, ...messages.map((message, at) => ({ ...message, at }))].filter(({ said }) => said.length > 0);
}

/** What a person says begins a turn once somebody answered; system prompts before it belong to it. */
function turnsOf(messages: readonly PlacedMessage[]): readonly (readonly PlacedMessage[])[] {
  const turns: PlacedMessage[][] = [];
  for (const message of messages) {
    const open = turns.at(-1);
    if (open === undefined || (message.isUsers && isAnswered(open))) turns.push([message]);
    else open.push(message);
  }
  return turns;
}

function isAnswered(turn: readonly PlacedMessage[]): boolean {
  return turn.some(({ said }) => said.some(({ type }) => type !== "chat_request"));
}

function readTurn(messages: readonly PlacedMessage[], sessionId: string): readonly Event[] {
  const events = messages.flatMap(({ said, at }) => {
    const id = messageId(sessionId, at);
    return said.map((event, n) => nameEvent(event, { id: n === 0 ? id : `${id}.${n}`, message: id, at }));
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
  said: SaidEvent,
  { id, message, at }: { readonly id: string; readonly message: string; readonly at: PlacedMessage["at"] },
): Event {
  const { type, metadata, ...rest } = said;
  const isAnswer = type === "chat_response" || type === "tool_call_request";
  const whole = isAnswer ? { ...metadata, message_id: message } : metadata;
  return { type, id, timestamp: timestamp(at), ...rest, ...defined({ metadata: whole }) } as Event;
}

function titleOf(messages: readonly PlacedMessage[]): string {
  for (const { said, isUsers } of messages) {
    if (!isUsers) continue;
    for (const event of said) {
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

// Classifies the messages of a session and finds the path that the agent continues from.
import type { SkippedLine } from "../imported-session.ts";
import { NO_DATE, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { createdAt, type RawMessage, type SessionDocument, timeOf } from "./store.ts";

/**
 * - `prompt`: what the user typed or attached
 * - `queued`: typed while the agent worked
 * - `harness`: what the agent added, sent as if the user had said it
 * - `compaction`: the question that a summary answers
 * - `answer`: an answer that the agent sends again
 * - `summary`: an answer that replaces everything before it
 * - `failed`: an answer that ended in an error; the agent never sends it again, nor its calls
 * - `empty`: a message of which nothing is sent
 */
type MessageKind = "prompt" | "queued" | "harness" | "compaction" | "answer" | "summary" | "failed" | "empty";

export interface Message extends RawMessage {
  readonly kind: MessageKind;
  /** As in the document; empty if it has none. */
  readonly sourceId: string;
  /** Id of its first event: no dot in it, and unique. */
  readonly id: string;
  /** RFC 3339 UTC; that of the previous message if it has none. */
  readonly timestamp: string;
}

/** The messages that are read. */
interface MessagePath {
  /** The path that the agent continues from. */
  readonly active: readonly Message[];
  /** The path with the messages that the user reverted and may still restore; absent = none. */
  readonly reverted?: readonly Message[];
  readonly skipped: readonly SkippedLine[];
}

/** Ids usable in names; a dot separates an event's ordinal from its message. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;
/** Finish reasons after which the agent continues by itself. */
const CONTINUED_ENDS: ReadonlySet<unknown> = new Set(["tool-calls", "unknown"]);
const TYPED: ReadonlySet<unknown> = new Set(["text", "file", "agent"]);

/** Reads the messages of a session. */
export function readMessages(document: SessionDocument): MessagePath {
  const { settled, open } = withoutOpenAnswer(document.messages);
  const messages = nameMessages(document.sessionId, settled);
  const active = beforeRevert(messages, recordOf(document.info, "revert"));
  const skipped = [...document.skipped, ...open].sort((a, b) => a.line - b.line);
  return { active, ...(active !== messages && { reverted: messages }), skipped };
}

/**
 * Omits the newest answer while it is being written, and what was typed since, because imported turns must not change. An answer
 * that another one follows is finished in any case.
 */
function withoutOpenAnswer(messages: readonly RawMessage[]): {
  readonly settled: readonly RawMessage[];
  readonly open: readonly SkippedLine[];
} {
  const newest = messages.findLastIndex(({ role }) => role === "assistant");
  const message = messages[newest];
  if (message === undefined || isSettled(message.info)) return { settled: messages, open: [] };
  const open = messages.slice(newest).map(({ position }, at) => ({
    line: position,
    reason: at === 0 ? "an answer that is still being written" : "typed while an answer was being written",
  }));
  return { settled: messages.slice(0, newest), open };
}

function isSettled(info: RawLine): boolean {
  return recordOf(info, "error") !== undefined || completedAt(info) !== undefined;
}

function completedAt(info: RawLine): number | undefined {
  return timeOf(recordOf(info, "time")?.["completed"]);
}

function nameMessages(sessionId: string, messages: readonly RawMessage[]): readonly Message[] {
  const taken = new Set<string>();
  const asked = new Set(messages.filter(asksForSummary).map(({ info }) => stringOf(info, "id") ?? ""));
  const answers = messages.filter(isSummary).map(({ info }) => stringOf(info, "parentID") ?? "");
  const summarised = new Set(answers.filter((id) => asked.has(id)));
  let timestamp = NO_DATE;
  let before: RawMessage | undefined;
  return messages.map((message, at) => {
    const time = createdAt(message);
    if (time !== undefined) timestamp = new Date(time).toISOString();
    const sourceId = stringOf(message.info, "id") ?? "";
    const id = USABLE.test(sourceId) && !taken.has(sourceId) ? sourceId : freeId(sessionId, at, taken);
    taken.add(id);
    const kind = kindOf(message, before, summarised);
    if (message.role === "assistant") before = message;
    return { ...message, kind, sourceId, id, timestamp };
  });
}

/** Made of session and ordinal, with a counter: messages with unusable ids may collide. */
function freeId(sessionId: string, at: number, taken: ReadonlySet<string>): string {
  const base = `${sessionId.replaceAll(".", "-")}-${at}`;
  let id = base;
  for (let n = 1; taken.has(id); n++) id = `${base}-${n}`;
  return id;
}

function kindOf(message: RawMessage, before: RawMessage | undefined, summarised: ReadonlySet<string>): MessageKind {
  return message.role === "assistant" ? kindOfAnswer(message, summarised) : kindOfRequest(message, before, summarised);
}

function kindOfAnswer(message: RawMessage, summarised: ReadonlySet<string>): MessageKind {
  const { info, parts } = message;
  if (isSummary(message) && summarised.has(stringOf(info, "parentID") ?? "")) return "summary";
  if (isSentAnswer(message)) return "answer";
  return parts.length === 0 && info["error"] === undefined ? "empty" : "failed";
}

function kindOfRequest(
  message: RawMessage,
  before: RawMessage | undefined,
  summarised: ReadonlySet<string>,
): MessageKind {
  const { info, parts } = message;
  if (asksForSummary(message)) return summarised.has(stringOf(info, "id") ?? "") ? "compaction" : "harness";
  if (!parts.some(({ type, synthetic }) => TYPED.has(type) && synthetic !== true))
    return parts.some(isSentByHarness) ? "harness" : "empty";
  return before !== undefined && wasWorking(before.info, createdAt(message)) ? "queued" : "prompt";
}

function asksForSummary({ role, parts }: RawMessage): boolean {
  return role === "user" && parts.some(({ type }) => type === "compaction");
}

function isSentByHarness({ type, text, ignored }: RawLine): boolean {
  return type === "subtask" || (type === "text" && ignored !== true && text !== "");
}

/** Whether an answer is a valid summary: finished, without an error. */
function isSummary({ role, info }: RawMessage): boolean {
  return (
    role === "assistant" && info["summary"] === true && Boolean(info["finish"]) && recordOf(info, "error") === undefined
  );
}

/** An answer that the user stopped is sent if it has more than reasoning; one that failed is not. */
function isSentAnswer({ info, parts }: RawMessage): boolean {
  const error = recordOf(info, "error");
  if (error === undefined) return parts.length > 0;
  if (error["name"] !== "MessageAbortedError") return false;
  return parts.some(({ type }) => type !== "step-start" && type !== "reasoning");
}

/** Whether something was typed while the agent wrote an answer from which it continued. */
function wasWorking(info: RawLine, typed: number | undefined): boolean {
  const completed = completedAt(info);
  if (completed === undefined || typed === undefined || recordOf(info, "error") !== undefined) return false;
  return CONTINUED_ENDS.has(info["finish"]) && typed <= completed;
}

/** The messages before the message or part that the user reverted to; the agent deletes the rest when it continues. */
function beforeRevert(messages: readonly Message[], revert: RawLine | undefined): readonly Message[] {
  const at = messages.findIndex(({ sourceId }) => sourceId !== "" && sourceId === revert?.["messageID"]);
  const message = messages[at];
  if (message === undefined) return messages;
  const partId = revert === undefined ? undefined : stringOf(revert, "partID");
  const cut = partId === undefined ? -1 : message.parts.findIndex(({ id }) => id === partId);
  const kept = partId === undefined ? [] : [cut < 0 ? message : cutMessage(message, cut)];
  return [...messages.slice(0, at), ...kept];
}

function cutMessage(message: Message, parts: number): Message {
  const left = message.parts.slice(0, parts);
  return { ...message, parts: left, kind: left.length === 0 ? "empty" : message.kind };
}

/** One turn, before its events are read. */
export interface MessageTurn {
  /** Opening message. */
  readonly opener: Message;
  readonly messages: readonly Message[];
}

/** Whether the agent sends any part of a message in its place. */
export function isSentMessage({ kind }: Message): boolean {
  return kind !== "failed" && kind !== "empty";
}

/** Cuts messages into turns; none if nothing was ever sent. */
export function cutMessages(messages: readonly Message[]): readonly MessageTurn[] {
  const turns: { opener: Message; readonly messages: Message[]; hasContent: boolean }[] = [];
  const head: Message[] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    const hasContent = isSentMessage(message) && message.kind !== "harness";
    if (current === undefined) {
      head.push(message);
      if (isSentMessage(message)) turns.push({ opener: message, messages: head, hasContent });
    } else if (message.kind === "prompt" && current.hasContent) {
      turns.push({ opener: message, messages: [message], hasContent });
    } else {
      current.messages.push(message);
      current.hasContent ||= hasContent;
    }
  }
  return turns;
}

// One line of a session as events. Ids come from the line's uuid (`<uuid>`, `<uuid>.1`, …), or from session and line number
// for lines without one, so that the same bytes give the same events wherever they stand.

import type { ChatRequest, Event, EventMetadata } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { toContent } from "../anthropic/content-parts.ts";
import { readAnswerBlock, readResultBlock, secretsOfBlock } from "../anthropic/read-blocks.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { isQueuedPrompt } from "./attachment-kind.ts";
import { renderAttachment } from "./attachment-text.ts";
import { messageBlocks } from "./line.ts";
import { isNotification } from "./line-kind.ts";
import { createNote } from "./notes.ts";
import { wrapNotification } from "./notification.ts";
import type { LineEntry } from "./session-index.ts";

/** How a line is to be read, beyond what it says itself. */
export interface LineReading {
  readonly entry: LineEntry;
  readonly raw: RawLine;
  readonly sessionId: string;
  /** `note`: not sent from where it stands · `request`: the user's own words · `plain`: as its kind says. */
  readonly as: "note" | "request" | "plain";
  /** Usage last seen by message id; a line repeats it only when it changed. */
  readonly usages: Map<string, string>;
}

/** The id of a line's first event. */
export function lineId(entry: LineEntry, sessionId: string): string {
  return entry.uuid ?? `${sessionId}.${entry.line}`;
}

/** Reads the events of one line, in block order. */
export function toEvents(reading: LineReading): readonly Event[] {
  const { entry, raw, sessionId, as } = reading;
  const at = { id: lineId(entry, sessionId), timestamp: entry.timestamp };
  if (as === "note") return [createNote(raw, at)];
  switch (entry.kind) {
    case "assistant":
      return numbered(reading, assistantEvents(reading));
    case "attachment":
      return [attachmentEvent(reading)];
    case "prompt":
    case "command":
    case "harness":
    case "result":
      return numbered(reading, userEvents(reading));
    case "summary":
      return as === "request" ? numbered(reading, [request(raw, "summary")]) : [];
    case "boundary":
      return [];
    case "side":
      return [createNote(raw, at)];
  }
}

type Body = Omit<ChatRequest, "id" | "timestamp"> | (Record<string, unknown> & { readonly type: string });

function numbered({ entry, sessionId }: LineReading, bodies: readonly Body[]): readonly Event[] {
  const id = lineId(entry, sessionId);
  return bodies.map((body, position) => {
    const { type, ...rest } = body;
    return { type, id: position === 0 ? id : `${id}.${position}`, timestamp: entry.timestamp, ...rest } as Event;
  });
}

function request(
  raw: RawLine,
  origin: string | undefined,
  content: unknown = recordOf(raw, "message")?.["content"],
): Body {
  const isNotice = isNotification(raw);
  const metadata = {
    ...defined({ origin }),
    ...(raw["isMeta"] === true && { is_meta: true }),
    ...(isNotice && { line_origin: raw["origin"] }),
  };
  return {
    type: "chat_request",
    content: isNotice ? wrapNotification(toContent(content)) : toContent(content),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Results first, as the agent sends them; what else stands beside them follows as one request. */
function userEvents({ entry, raw, as }: LineReading): readonly Body[] {
  const isUsers = entry.kind === "prompt" || as === "request";
  const origin = isUsers ? undefined : "harness";
  if (entry.kind !== "result") return [request(raw, origin)];
  const blocks = messageBlocks(raw) ?? [];
  const results = blocks.filter((block) => block["type"] === "tool_result").map(readResultBlock);
  const others = blocks.filter((block) => block["type"] !== "tool_result");
  return others.length === 0 ? results : [...results, request(raw, origin, others)];
}

/** A harness attachment keeps the agent's own fields, from which an export to the same agent writes the same line. */
function attachmentEvent({ entry, raw, sessionId }: LineReading): Event {
  const attachment = recordOf(raw, "attachment") ?? {};
  const at = { id: lineId(entry, sessionId), timestamp: entry.timestamp };
  if (isQueuedPrompt(attachment)) {
    return { type: "chat_request", ...at, content: toContent(attachment["prompt"]), metadata: { origin: "queued" } };
  }
  const { rendered, renderedRole } = raw;
  const metadata = {
    origin: "harness",
    attachment,
    ...defined({ rendered, renderedRole }),
  };
  return { type: "chat_request", ...at, role: "system", content: renderAttachment(raw), metadata };
}

function assistantEvents(reading: LineReading): readonly Body[] {
  const blocks = messageBlocks(reading.raw) ?? [];
  return blocks.map((block, position) => blockBody(block, assistantMetadata(reading, block, position === 0)));
}

function assistantMetadata({ entry, raw, usages }: LineReading, block: RawLine, isFirst: boolean): EventMetadata {
  const message = recordOf(raw, "message") ?? {};
  const messageId = entry.messageId ?? entry.uuid ?? "";
  const model = stringOf(message, "model");
  const usage = isFirst ? newUsage(message["usage"], messageId, usages) : undefined;
  return {
    provider: "anthropic",
    ...defined({ model }),
    message_id: messageId,
    ...secretsOfBlock(block),
    ...defined({ usage }),
  };
}

function newUsage(usage: unknown, messageId: string, usages: Map<string, string>): unknown {
  if (usage === undefined) return undefined;
  const text = JSON.stringify(usage);
  if (usages.get(messageId) === text) return undefined;
  usages.set(messageId, text);
  return usage;
}

/** `fallback` is the agent's mark that another model took over, and no block of the API. */
function blockBody(block: RawLine, metadata: EventMetadata): Body {
  return block["type"] === "fallback"
    ? { type: "note", kind: "model_fallback", metadata }
    : readAnswerBlock(block, metadata);
}

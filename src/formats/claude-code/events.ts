// Converts one line of a session to events. Ids come from the line's uuid (`<uuid>`, `<uuid>.1`, …), or from session and line number
// for lines without one: the same bytes give the same events.
import type { ChatRequest, Event, EventMetadata } from "../../core/conversation/event.ts";
import { opaqueFieldsOf, readAnswerBlock, readResultBlock, toContent } from "../anthropic/agent.ts";
import { type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { createGraph, findActivePath, type SessionGraph, type SessionPath } from "./active-path.ts";
import { type AnsweredIndex, findAnswers } from "./answers.ts";
import {
  createNote,
  isQueuedPrompt,
  isSpokenRow,
  isVoiceTalk,
  readAttachedImage,
  renderAttachment,
  SPOKEN_RECORD,
  spokenText,
  wrapNotification,
  wrapSpoken,
} from "./attachments.ts";
import {
  commandOutput,
  findEmptyMessages,
  isNotification,
  type LineEntry,
  messageBlocks,
  NO_CONTENT,
  type SessionIndex,
} from "./session-index.ts";
import { arrangeTurns, cutTurns, findNotes, requestLines, type TurnCut, titleOfEvents } from "./turns.ts";

/** Context for reading a line. */
interface LineReading {
  readonly entry: LineEntry;
  readonly raw: RawLine;
  readonly sessionId: string;
  /** `note`: not sent from its place · `request`: the user's own words · `empty`: an answer without content · `plain`: as its kind says. */
  readonly as: "note" | "request" | "empty" | "plain";
  /** Usage last seen by message id; recorded again only when it changed. */
  readonly usages: Map<string, string>;
}

/** The id of a line's first event. */
function lineId(entry: LineEntry, sessionId: string): string {
  return entry.uuid ?? `${sessionId}.${entry.line}`;
}

/** Reads the events of one line, in block order. */
function toEvents(reading: LineReading): readonly Event[] {
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
    case "repeated":
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
    ...(origin !== undefined && { origin }),
    ...(raw["isMeta"] === true && { is_meta: true }),
    ...(isNotice && { line_origin: raw["origin"] }),
  };
  return {
    type: "chat_request",
    content: isNotice ? wrapNotification(toContent(content)) : toContent(content),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Results first, as the agent sends them; the other blocks follow as one request. */
function userEvents({ entry, raw, sessionId, as }: LineReading): readonly Body[] {
  const isFromUser = entry.kind === "prompt" || as === "request";
  const origin = isFromUser ? undefined : "harness";
  if (isVoiceTalk(raw)) return spokenEvents(lineId(entry, sessionId), raw);
  if (raw["type"] === "system") return [request(raw, origin, commandOutput(raw))];
  if (entry.kind !== "result") return [request(raw, origin)];
  const blocks = messageBlocks(raw) ?? [];
  const results = blocks.filter((block) => block["type"] === "tool_result").map(readResultBlock);
  const others = blocks.filter((block) => block["type"] !== "tool_result");
  return others.length === 0 ? results : [...results, request(raw, origin, others)];
}

/** A record of a voice call: the result of a call that nobody made, or a reminder in the middle of a turn. */
function spokenEvents(id: string, raw: RawLine): readonly Body[] {
  const message = recordOf(raw, "message")?.["content"];
  const said = message ?? (Array.isArray(raw["blocks"]) ? raw["blocks"] : raw["content"]);
  if (raw["type"] === "system" && !isSpokenRow(raw)) return [request(raw, "harness", wrapSpoken(said))];
  const call_id = `voicecallrecord_${id}`;
  const metadata = { provider: "anthropic" };
  return [
    { type: "tool_call_request", call_id, name: "VoiceCallRecord", arguments: {}, metadata },
    { type: "tool_call_response", call_id, content: `${SPOKEN_RECORD}${spokenText(said)}`, is_error: false },
  ];
}

/** Keeps the agent's own fields, so that an export to the same agent writes the same line. */
function attachmentEvent({ entry, raw, sessionId }: LineReading): Event {
  const attachment = recordOf(raw, "attachment") ?? {};
  const at = { id: lineId(entry, sessionId), timestamp: entry.timestamp };
  if (isQueuedPrompt(attachment)) {
    return { type: "chat_request", ...at, content: toContent(attachment["prompt"]), metadata: { origin: "queued" } };
  }
  const { rendered, renderedRole } = raw;
  const image = readAttachedImage(attachment);
  const metadata = {
    origin: "harness",
    attachment: image === null ? attachment : image.attachment,
    rendered,
    renderedRole,
  };
  const text = renderAttachment(raw);
  const content = image === null ? text : [...(text === "" ? [] : [{ type: "text" as const, text }]), image.part];
  return { type: "chat_request", ...at, role: "system", content, metadata };
}

function assistantEvents(reading: LineReading): readonly Body[] {
  if (reading.as === "empty") return [emptyAnswer(reading.raw)];
  const blocks = messageBlocks(reading.raw) ?? [];
  return blocks.map((block, position) => blockBody(block, assistantMetadata(reading, block, position === 0)));
}

/** Without the message id: the agent does not send the message's thinking with it. */
function emptyAnswer(raw: RawLine): Body {
  const model = stringOf(recordOf(raw, "message") ?? {}, "model");
  return { type: "chat_response", message: NO_CONTENT, metadata: { provider: "anthropic", model } };
}

function assistantMetadata({ entry, raw, usages }: LineReading, block: RawLine, isFirst: boolean): EventMetadata {
  const message = recordOf(raw, "message") ?? {};
  const messageId = entry.messageId ?? entry.uuid ?? "";
  const model = stringOf(message, "model");
  const usage = isFirst ? newUsage(message["usage"], messageId, usages) : undefined;
  return {
    provider: "anthropic",
    model,
    message_id: messageId,
    ...opaqueFieldsOf(block),
    usage,
  };
}

function newUsage(usage: unknown, messageId: string, usages: Map<string, string>): unknown {
  if (usage === undefined) return undefined;
  const text = JSON.stringify(usage);
  if (usages.get(messageId) === text) return undefined;
  usages.set(messageId, text);
  return usage;
}

/** `fallback` is no block of the API: the agent marks that another model took over. */
function blockBody(block: RawLine, metadata: EventMetadata): Body {
  return block["type"] === "fallback"
    ? { type: "note", kind: "model_fallback", metadata }
    : readAnswerBlock(block, metadata);
}

// Second pass: reads the lines of one turn again and makes its events. Turns can be read in any order, any number of times, with the
// same result.

/** Everything needed to read a path's turns. */
export interface TurnPlan {
  readonly source: ParsedLines;
  readonly sessionId: string;
  /** The line that opens each turn. */
  readonly openers: readonly LineEntry[];
  /** Lines of each turn in event order. */
  readonly lines: readonly (readonly LineEntry[])[];
  /** The user's side although their kind does not say so: commands that open a turn, and a summary before everything else. */
  readonly requests: ReadonlySet<LineEntry>;
  /** Lines that are not sent from their place. */
  readonly notes: ReadonlySet<LineEntry>;
  /** Answers without content. */
  readonly empty: ReadonlySet<LineEntry>;
}

/** Reads one turn, turn_start first. `turn` is 0-based; empty when out of range. */
export function readPlannedTurn(plan: TurnPlan, turn: number): readonly Event[] {
  const opener = plan.openers[turn];
  if (opener === undefined) return [];
  const start: Event = {
    type: "turn_start",
    id: `${lineId(opener, plan.sessionId)}.turn`,
    timestamp: opener.timestamp,
  };
  const usages = new Map<string, string>();
  return [start, ...(plan.lines[turn] ?? []).flatMap((entry) => readLineEvents(plan, entry, usages))];
}

/** Reads the events of one line; none for lines that only mark a compaction. */
export function readLineEvents(
  plan: TurnPlan,
  entry: LineEntry,
  usages: Map<string, string> = new Map(),
): readonly Event[] {
  const raw = plan.source.at(entry.line);
  if (raw === null || typeof raw === "string") return [];
  return toEvents({ entry, raw, sessionId: plan.sessionId, as: readingOf(plan, entry), usages });
}

function readingOf(plan: TurnPlan, entry: LineEntry): LineReading["as"] {
  if (plan.notes.has(entry)) return "note";
  if (plan.empty.has(entry)) return "empty";
  return plan.requests.has(entry) ? "request" : "plain";
}

// The path that the agent would resume, cut into turns.

interface SessionReading extends AnsweredIndex {
  readonly graph: SessionGraph;
  readonly path: SessionPath;
  readonly cuts: readonly TurnCut[];
  readonly plan: TurnPlan;
}

/** Reads the path of an indexed session. */
export function readPath(lines: ParsedLines, indexed: SessionIndex, sessionId: string): SessionReading {
  const { index, answers } = findAnswers(lines, indexed);
  const graph = createGraph(index);
  const path = findActivePath(index, graph);
  const cuts = cutTurns(path.chain);
  const notes = findNotes(index, graph, path);
  const plan: TurnPlan = {
    source: lines,
    sessionId,
    openers: cuts.map((cut) => cut.opener),
    lines: arrangeTurns(cuts, path.offPath, notes),
    requests: requestLines(path.chain),
    notes: new Set(notes),
    empty: findEmptyMessages([...path.chain, ...path.offPath.keys()]),
  };
  return { index, answers, graph, path, cuts, plan };
}

/** The first words of the first request; undefined when there is none. */
export function firstTitle(plan: TurnPlan): string | undefined {
  for (const entry of plan.lines.flat()) {
    const title = titleOfEvents(readLineEvents(plan, entry));
    if (title !== undefined) return title;
  }
  return undefined;
}

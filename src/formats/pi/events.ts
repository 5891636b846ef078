// Converts one entry to events. Ids come from the entry's own (`<id>`, `<id>.1`, …), or from session and line in files without ids:
// the same bytes give the same events.
import {
  type Content,
  type ContentPart,
  type Event,
  type EventMetadata,
  plainText,
} from "../../core/conversation/event.ts";
import { plainValues, shorten } from "../imported-session.ts";
import { isRecord, parseJsonLine, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { blocksOf, type Entry, isOriginEntry, messageOfEntry, roleOf } from "./entries.ts";

/** Context for reading an entry. */
export interface EntryReading {
  readonly entry: Entry;
  readonly raw: RawLine;
  /** Typed while the agent worked. */
  readonly isQueued: boolean;
  /** A summary before everything else. */
  readonly isFirst: boolean;
}

/** Reads the events of one entry; none for titles, and for entries that only change the view. */
export function eventsOfEntry(reading: EntryReading): readonly Event[] {
  const { entry, raw } = reading;
  const bodies = bodiesOf(reading);
  if (bodies === null) return [noteOfEntry(raw, { id: entry.eventId, timestamp: entry.timestamp })];
  return bodies.map((body, position) => {
    const { type, ...rest } = body;
    const id = position === 0 ? entry.eventId : `${entry.eventId}.${position}`;
    return { type, id, timestamp: entry.timestamp, ...rest } as Event;
  });
}

/** Null = it is a note. */
function bodiesOf({ entry, raw, isQueued, isFirst }: EntryReading): readonly EventBody[] | null {
  switch (entry.kind) {
    case "prompt":
      return [request(messageOfEntry(raw)["content"], isQueued ? { origin: "queued" } : undefined)];
    case "assistant": {
      const bodies = answerEvents(raw, entry.eventId);
      return bodies.length === 0 ? null : bodies;
    }
    case "result":
      return [resultBody(messageOfEntry(raw))];
    case "harness":
      return [harnessRequest(raw)];
    case "compaction":
      return isFirst ? [request(compactionText(stringOf(raw, "summary") ?? ""), { origin: "summary" })] : [];
    case "edit":
      return [];
    case "failed":
      return null;
    case "side":
      return raw["type"] === "session_info" || isOriginEntry(raw) ? [] : null;
  }
}

function request(content: unknown, metadata?: Readonly<Record<string, unknown>>): EventBody {
  return { type: "chat_request", content: contentOfBlocks(content), metadata };
}

function resultBody(message: RawLine): EventBody {
  return {
    type: "tool_call_response",
    call_id: stringOf(message, "toolCallId") ?? "",
    content: withText(contentOfBlocks(message["content"])),
    is_error: message["isError"] === true,
  };
}

/** What pi sends before the images of a result without a text. */
const SEE_IMAGE = "(see attached image)";

function withText(content: Content): Content {
  if (typeof content === "string" || !Array.isArray(content)) return content;
  const types = new Set(content.map(({ type }) => type));
  return types.has("image") && !types.has("text") ? [{ type: "text", text: SEE_IMAGE }, ...content] : content;
}

/** Keeps the agent's own fields, so that an export to pi writes the same entry. */
function harnessRequest(raw: RawLine): EventBody {
  const { type, id: _, parentId: __, timestamp: ___, ...fields } = raw;
  return request(harnessContent(raw), { origin: "harness", entry: { type, ...fields } });
}

/** The text that pi sends for an entry that nobody typed. */
export function harnessContent(raw: RawLine): unknown {
  const message = messageOfEntry(raw);
  const summary = stringOf(raw, "summary") ?? stringOf(message, "summary") ?? "";
  if (raw["type"] === "custom_message") return raw["content"];
  if (raw["type"] === "branch_summary") return branchText(summary);
  switch (roleOf(raw)) {
    case "bashExecution":
      return bashText(message);
    case "branchSummary":
      return branchText(summary);
    case "compactionSummary":
      return compactionText(summary);
    default:
      return message["content"];
  }
}

/** Reads the events of an entry with the content of an edit. */
export function editedEvents(reading: EntryReading, replacement: RawLine): readonly Event[] {
  const { raw } = reading;
  const content = replacement["content"];
  const message = recordOf(raw, "message");
  const edited = message === undefined ? { ...raw, content } : { ...raw, message: { ...message, content } };
  return eventsOfEntry({ ...reading, raw: edited });
}

// An answer's blocks as events: texts, reasoning and calls, each with its maker and the signature that pi needs to send it to that
// model again.

/** An event without id and time. */
type EventBody = Readonly<Record<string, unknown>> & { readonly type: string };

/** What pi sends for a call without a result, wherever the call is. */
export const NO_RESULT = "No result provided";
/** pi's text in place of encrypted reasoning. */
export const REDACTED = "[Reasoning redacted]";
/** The normal ends of answers. */
const USUAL_ENDS: ReadonlySet<unknown> = new Set(["stop", "toolUse"]);

/** Reads the events of an answer in block order; usage and the like go to the first. None for an empty answer. */
function answerEvents(line: RawLine, messageId: string): readonly EventBody[] {
  const message = messageOfEntry(line);
  return blocksOf(message["content"]).map((block, at) => blockBody(block, metadataOf(message, messageId, at === 0)));
}

function metadataOf(message: RawLine, messageId: string, isFirst: boolean): EventMetadata {
  const provider = stringOf(message, "provider");
  const model = stringOf(message, "model");
  const api = stringOf(message, "api");
  const { usage, stopReason } = message;
  return {
    provider,
    model,
    api,
    message_id: messageId,
    ...(isFirst && usage !== undefined && { usage }),
    ...(isFirst && stopReason !== undefined && !USUAL_ENDS.has(stopReason) && { stop_reason: stopReason }),
  };
}

function blockBody(block: RawLine, made: EventMetadata): EventBody {
  switch (block["type"]) {
    case "thinking":
      return thinkingBody(block, made);
    case "toolCall":
      return {
        type: "tool_call_request",
        call_id: stringOf(block, "id") ?? "",
        name: stringOf(block, "name") ?? "",
        arguments: block["arguments"] ?? {},
        metadata: { ...signed(made, block, "thoughtSignature"), unanswered: NO_RESULT },
      };
    default:
      return {
        type: "chat_response",
        message: contentOfBlocks([block]),
        metadata: signed(made, block, "textSignature"),
      };
  }
}

/** Anthropic's signature is the encrypted text itself; OpenAI's is the whole item, which holds the encrypted text. */
function thinkingBody(block: RawLine, made: EventMetadata): EventBody {
  const reasoning = stringOf(block, "thinking") ?? "";
  const signature = stringOf(block, "thinkingSignature");
  if (block["redacted"] === true && signature !== undefined)
    return { type: "chat_response", reasoning: "", metadata: { ...made, encrypted: signature } };
  const encrypted = signature === undefined ? undefined : encryptedOf(signature);
  return {
    type: "chat_response",
    reasoning,
    metadata: { ...signed(made, block, "thinkingSignature"), encrypted },
  };
}

function encryptedOf(signature: string): string | undefined {
  const item = signature.startsWith("{") ? parseJsonLine(signature) : null;
  return item === null || typeof item === "string" ? undefined : stringOf(item, "encrypted_content");
}

function signed(made: EventMetadata, block: RawLine, key: string): EventMetadata {
  const signature = stringOf(block, key);
  return signature === undefined ? made : { ...made, signature };
}

// pi's content blocks as content parts, and back. What jpg does not know is carried verbatim.

const PI = "pi";

/** Converts the content of a message; a list of one plain text becomes that text. */
export function contentOfBlocks(content: unknown): Content {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? "" : [toPart(content)];
  const parts = content.map(toPart);
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

function toPart(block: unknown): ContentPart {
  if (typeof block === "string") return { type: "text", text: block };
  if (!isRecord(block)) return { type: "opaque", provider: PI, value: block };
  const text = stringOf(block, "text");
  if (block["type"] === "text" && text !== undefined) return { type: "text", text };
  const data = stringOf(block, "data");
  const mediaType = stringOf(block, "mimeType");
  if (block["type"] === "image" && data !== undefined && mediaType !== undefined)
    return { type: "image", media_type: mediaType, data };
  return { type: "opaque", provider: PI, value: block };
}

/** Converts a content to blocks. Content without a matching block is named, so that the model sees that something is missing. */
export function blocksOfContent(content: Content): readonly RawLine[] {
  if (typeof content === "string" || !Array.isArray(content)) return textBlocks(plainText(content as string));
  return content.flatMap(partBlocks);
}

function partBlocks(part: ContentPart): readonly RawLine[] {
  switch (part.type) {
    case "text":
      return textBlocks(plainText(part.text));
    case "attachment":
      return textBlocks([part.name, plainText(part.text ?? "")].filter(Boolean).join("\n"));
    case "opaque":
      return part.provider === PI && isRecord(part.value) ? [part.value] : [];
    case "image":
    case "document":
      return [mediaBlock(part)];
  }
}

function mediaBlock({
  type,
  data,
  media_type,
  url,
  title,
}: Extract<ContentPart, { type: "image" | "document" }>): RawLine {
  if (type === "image" && typeof data === "string")
    return { type, data, mimeType: media_type ?? "application/octet-stream" };
  return { type: "text", text: `[${[type, title, url].filter((word) => word !== undefined).join(" ")}]` };
}

function textBlocks(text: string): readonly RawLine[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** Text around a summary. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

const COMPACTION: Frame = {
  before: "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
  after: "\n</summary>",
};
const BRANCH: Frame = {
  before: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
  after: "</summary>",
};

/** The text that replaces what a compaction hides. */
export function compactionText(summary: string): string {
  return put(summary, COMPACTION);
}

/** The summary in such a text; null for any other text. */
export function compactedSummary(text: string): string | null {
  const { before, after } = COMPACTION;
  const isFramed = text.startsWith(before) && text.endsWith(after) && text.length >= before.length + after.length;
  return isFramed ? text.slice(before.length, text.length - after.length) : null;
}

/** The text about an abandoned branch. */
function branchText(summary: string): string {
  return put(summary, BRANCH);
}

/** The text of a command that the user ran in the agent's own shell. */
function bashText(message: RawLine): string {
  const output = stringOf(message, "output") ?? "";
  const ran = `Ran \`${stringOf(message, "command") ?? ""}\`\n`;
  return `${ran}${output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``}${bashEnding(message)}`;
}

function bashEnding({ cancelled, exitCode, truncated, fullOutputPath }: RawLine): string {
  const failed = typeof exitCode === "number" && exitCode !== 0;
  const ending =
    cancelled === true ? "\n\n(command cancelled)" : failed ? `\n\nCommand exited with code ${exitCode}` : "";
  const isCut = truncated === true && typeof fullOutputPath === "string" && fullOutputPath !== "";
  return isCut ? `${ending}\n\n[Output truncated. Full output: ${fullOutputPath}]` : ending;
}

function put(text: string, { before, after }: Frame): string {
  return `${before}${text}${after}`;
}

// Notes: what no model sees. They keep the small plain values of an entry; the whole line stays in the sources.

/** Keys of every entry, which say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["type", "id", "parentId", "timestamp", "role"]);

interface EntryPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

function noteOfEntry(line: RawLine, { id, timestamp }: EntryPlace): Event {
  const said = messageOfEntry(line);
  const values = {
    ...plainValues(line),
    ...plainValues(recordOf(line, "data") ?? {}),
    ...plainValues(said),
    ...spoken(said),
  };
  const data = Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
  return { type: "note", id, timestamp, kind: noteKind(line), ...(Object.keys(data).length > 0 && { data }) };
}

/** Creates the note that names a session's parent. */
export function createParentNote(parent: string, { id, timestamp }: EntryPlace): Event {
  return { type: "note", id, timestamp, kind: "parent_session", data: { path: parent } };
}

function noteKind(line: RawLine): string {
  const type = stringOf(line, "type") ?? "unknown";
  if (type !== "message") return type;
  const role = roleOf(line);
  const reason = messageOfEntry(line)["stopReason"];
  if (role === "assistant" && reason === "aborted") return "aborted_answer";
  if (role === "assistant" && reason === "error") return "failed_answer";
  if (role === "bashExecution") return "bash_execution";
  return role === "system" ? "system_prompt" : role === "" ? type : role;
}

/** A message's text, and the names of the calls in a failed answer. */
function spoken(message: RawLine): RawLine {
  const blocks = blocksOf(message["content"]);
  const text = blocks.flatMap((block) => stringOf(block, "text") ?? []).join("\n");
  const calls = blocks.flatMap((block) => (block["type"] === "toolCall" ? (stringOf(block, "name") ?? []) : []));
  return {
    ...(text !== "" && { text: shorten(text) }),
    ...(calls.length > 0 && { calls }),
    usage: message["usage"],
  };
}

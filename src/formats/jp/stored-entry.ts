// Converts an event to a stored entry. jp's own goes back unchanged; of other agents' events jp has fields for texts, calls, results
// and reasoning.
import {
  attachmentText,
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  type Event,
  isText,
  plainText,
  type ToolCallRequest,
} from "../../core/conversation/event.ts";
import { pairCalls } from "../../core/conversation/tool-pairing.ts";
import { formatReminder, unusedId } from "../../core/model/thread.ts";
import { isRecord, type RawLine, recordOf, stringOf } from "../session-source.ts";
import type { StreamDraft } from "./draft-turns.ts";
import { IMPLIED, isStoredText, JP_MARK, SIGNATURE_KEY } from "./events.ts";
import { encodeStoredText, formatStoredTime, ID_KEY, isOwnId, isTalk, keysOf, mapTexts } from "./stream.ts";

/** Converts an event; null for one that jp has no entry for. */
export function entryOfEvent(event: Event): RawLine | null {
  switch (event.type) {
    case "turn_start":
      return event.metadata?.origin === IMPLIED ? null : stored(event, {});
    case "chat_request":
      return stored(event, { ...extras(event), content: requestText(event) });
    case "chat_response":
      return responseEntry(event);
    case "tool_call_request":
      return stored(event, { id: event.call_id, name: event.name, arguments: argumentsOf(event.arguments) });
    case "tool_call_response":
      return stored(event, { id: event.call_id, content: textOf(event.content), is_error: event.is_error });
    case "inquiry_request":
    case "inquiry_response": {
      const id = stringOf(extras(event), "call_id");
      return id === undefined ? null : stored(event, { ...extras(event), id });
    }
    case "config_delta":
      return isRecord(event.delta) ? stored(event, { delta: event.delta }) : null;
    case "note":
      return event.metadata?.["format"] === JP_MARK && isRecord(event.data) ? event.data : null;
    default:
      return null; // a kind that only jpg's own conversations have
  }
}

/** Adds an event's id to its entry, where kind and time do not give it: jp keeps metadata. */
export function withId(entry: RawLine, id: string): RawLine {
  return { ...entry, metadata: { ...recordOf(entry, "metadata"), [ID_KEY]: encodeStoredText(id) } };
}

function extras(event: Event): RawLine {
  return event as unknown as RawLine;
}

/** Builds an entry: keys in stored order, texts encoded. */
function stored(event: Event & { readonly type: Parameters<typeof keysOf>[0] }, fields: RawLine): RawLine {
  const { type } = event;
  const body = keysOf(type).flatMap((key): [string, unknown][] => {
    if (fields[key] === undefined) return [];
    return [[key, isStoredText(type, key) ? mapTexts(fields[key], encodeStoredText) : fields[key]]];
  });
  const head = isTalk(type)
    ? { timestamp: formatStoredTime(event.timestamp), type }
    : { type, timestamp: formatStoredTime(event.timestamp) };
  const metadata = isTalk(type) ? metadataOf(event) : {};
  return {
    ...head,
    ...Object.fromEntries(body),
    ...recordOf(event.metadata ?? {}, "jp_fields"),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

function metadataOf({ metadata = {} }: Event): RawLine {
  const own = mapTexts(recordOf(metadata, JP_MARK) ?? {}, encodeStoredText) as RawLine;
  const isSigned = metadata.provider === "anthropic" && metadata.signature !== undefined;
  if (!isSigned || Object.hasOwn(own, SIGNATURE_KEY)) return own;
  return { ...own, [SIGNATURE_KEY]: encodeStoredText(metadata.signature) };
}

/** jp has no roles: what nobody typed becomes a reminder. */
function requestText({ role = "user", content, metadata }: ChatRequest): string {
  const text = textOf(content);
  return role === "user" && metadata?.origin !== "harness" ? text : formatReminder(text);
}

/** Reasoning that only its provider can read is dropped. */
function responseEntry(event: ChatResponse): RawLine | null {
  if (event.reasoning !== undefined) {
    const reasoning = plainText(event.reasoning);
    return reasoning === "" && recordOf(event.metadata ?? {}, JP_MARK) === undefined
      ? null
      : stored(event, { reasoning });
  }
  return event.message === undefined
    ? stored(event, { data: event.data ?? null })
    : stored(event, { message: textOf(event.message) });
}

/** jp's calls take an object. */
function argumentsOf(value: unknown): RawLine {
  return isRecord(value) ? value : { input: value ?? null };
}

/** jp's texts are plain: other content is named, so that the model sees that something is missing. */
function textOf(content: Content): string {
  return isText(content) ? plainText(content) : content.flatMap(partText).join("\n");
}

function partText(part: ContentPart): readonly string[] {
  switch (part.type) {
    case "text":
      return [plainText(part.text)];
    case "attachment":
      return [attachmentText(part)];
    case "opaque":
      return [];
    case "image":
    case "document":
      return [`[${[part.type, part.title, part.url].filter((word) => word !== undefined).join(" ")}]`];
  }
}

// Plans ids of calls and results. jp pairs them by id alone, and names a tool in a stub by its call's id, so each id belongs to one
// call, except those that jp gave itself.

export interface WrittenCalls {
  /** Ids of calls and their results; a result without one answers nothing and is dropped. */
  readonly ids: ReadonlyMap<Event, string>;
  /** Other agents' calls without a result, which get one because providers want it. jp's stay as they are. */
  readonly unanswered: ReadonlySet<Event>;
}

/** Longest call id that any API accepts, characters. */
const LONGEST_ID = 512;

export function planWrittenCalls({ turns, isMixed }: StreamDraft): WrittenCalls {
  const events = turns.map((named, index) => ({ index, events: named.map(({ event }) => event) }));
  const pairs = pairCalls(events, () => isMixed);
  const answered = new Set<Event>(pairs.values());
  const ids = new Map<Event, string>();
  const unanswered = new Set<Event>();
  const used = new Set<string>();
  for (const event of events.flatMap((turn) => turn.events)) {
    if (event.type !== "tool_call_request") continue;
    const isOwn = isFromJp(event);
    const id = isOwn ? event.call_id : unusedId(event.call_id || "call", LONGEST_ID, (known) => used.has(known));
    used.add(id);
    ids.set(event, id);
    if (!isOwn && !answered.has(event)) unanswered.add(event);
  }
  for (const [result, call] of pairs) ids.set(result, ids.get(call) ?? call.call_id);
  return { ids, unanswered };
}

function isFromJp({ id, timestamp }: ToolCallRequest): boolean {
  return isOwnId(id, { kind: "tool_call_request", timestamp });
}

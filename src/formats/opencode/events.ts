// Converts one message to events. Ids come from the message's own (`<id>`, `<id>.1`, …): the same document gives the same events.
import type { Content, ContentPart, Event, EventMetadata } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { createOriginLine, type ExportOrigin, plainValues, readExportOrigin, shorten } from "../imported-session.ts";
import { isRecord, type RawLine, recordOf, stringOf, stringsOf } from "../session-source.ts";
import type { Message } from "./messages.ts";
import type { SessionDocument } from "./store.ts";

/** The agent's own words in the user's name (1.18). */
export const SUMMARY_QUESTION = "What did we do so far?";
const INTERRUPTED = "[Tool execution was interrupted]";
const SUBTASK_TEXT = "The following tool was executed by the user";

/** Reads the events of a message; none for an empty one. */
export function eventsOfMessage(message: Message): readonly Event[] {
  return bodiesOf(message).map(({ type, ...rest }, position) => {
    const id = position === 0 ? message.id : `${message.id}.${position}`;
    return { type, id, timestamp: message.timestamp, ...rest } as Event;
  });
}

function bodiesOf(message: Message): readonly UnplacedEvent[] {
  const { kind, info, parts, id } = message;
  if (kind === "failed") return [noteOfAnswer(message)];
  if (message.role === "assistant") return eventsOfAnswer(info, parts, id);
  return requestEvents(parts, kind === "queued");
}

/** What was typed and what the agent added: each run of such parts is a request of its own. */
function requestEvents(parts: readonly RawLine[], isQueued: boolean): readonly UnplacedEvent[] {
  const runs: { readonly isTyped: boolean; readonly content: ContentPart[] }[] = [];
  const notes: UnplacedEvent[] = [];
  for (const part of parts) {
    const said = sentPart(part);
    if (said === null) {
      if (isNoted(part)) notes.push(noteOfPart(part));
      continue;
    }
    const isTyped = part["synthetic"] !== true && (part["type"] === "text" || part["type"] === "file");
    const run = runs.at(-1);
    if (run?.isTyped === isTyped) run.content.push(said);
    else runs.push({ isTyped, content: [said] });
  }
  const requests = runs.map(({ isTyped, content }): UnplacedEvent => {
    const origin = isTyped ? (isQueued ? "queued" : undefined) : "harness";
    return {
      type: "chat_request",
      content: contentOfParts(content),
      metadata: origin === undefined ? undefined : { origin },
    };
  });
  return [...requests, ...notes];
}

/** The part of a user's message that is sent; null = nothing. */
function sentPart(part: RawLine): ContentPart | null {
  switch (part["type"]) {
    case "text": {
      const text = stringOf(part, "text") ?? "";
      return text === "" || part["ignored"] === true ? null : { type: "text", text };
    }
    case "file":
      return isSentFile(part) ? toFilePart(part) : null;
    case "compaction":
      return { type: "text", text: SUMMARY_QUESTION };
    case "subtask":
      return { type: "text", text: SUBTASK_TEXT };
    default:
      return null;
  }
}

// An answer's parts as events: texts, reasoning and calls, then the calls' results. An answer of several steps is several messages
// to the model, each with the results of its own calls.

/** The events of one step. */
interface Step {
  readonly made: EventMetadata;
  readonly said: UnplacedEvent[];
  readonly results: UnplacedEvent[];
  readonly notes: UnplacedEvent[];
  usage: RawLine | undefined;
}

/** Reads the events of an answer. A step's usage goes to its first event. */
function eventsOfAnswer(info: RawLine, parts: readonly RawLine[], messageId: string): readonly UnplacedEvent[] {
  const steps: Step[] = [];
  const beginStep = (): Step => {
    const step: Step = {
      made: makerOf(info, messageId, steps.length),
      said: [],
      results: [],
      notes: [],
      usage: undefined,
    };
    steps.push(step);
    return step;
  };
  for (const part of parts) {
    const open = steps.at(-1);
    const isBegun = open !== undefined && open.said.length > 0;
    const step = open === undefined || (part["type"] === "step-start" && isBegun) ? beginStep() : open;
    addPart(step, part);
  }
  const [first] = steps;
  if (first !== undefined && steps.every(({ usage }) => usage === undefined)) first.usage = usageOf(info);
  return steps.flatMap(eventsOfStep);
}

function makerOf(info: RawLine, messageId: string, step: number): EventMetadata {
  const provider = stringOf(info, "providerID");
  const model = stringOf(info, "modelID");
  return {
    provider,
    model,
    message_id: step === 0 ? messageId : `${messageId}-${step}`,
  };
}

function eventsOfStep({ made, said, results, notes, usage }: Step): readonly UnplacedEvent[] {
  const events = [...said, ...results, ...notes];
  if (usage === undefined) return events;
  const [first, ...rest] = said;
  if (first === undefined) return [...events, { type: "note", kind: "usage", metadata: { ...made, usage } }];
  const counted = { ...first, metadata: { ...(first["metadata"] as EventMetadata), usage } };
  return [counted, ...rest, ...results, ...notes];
}

function addPart(step: Step, part: RawLine): void {
  const { made, said, results, notes } = step;
  switch (part["type"]) {
    case "text":
    case "reasoning": {
      const text = stringOf(part, "text") ?? "";
      const metadata = signed(made, part);
      if (text === "" && metadata.signature === undefined && metadata.encrypted === undefined) return;
      said.push({
        type: "chat_response",
        ...(part["type"] === "text" ? { message: text } : { reasoning: text }),
        metadata,
      });
      return;
    }
    case "tool":
      said.push(callBody(part, made));
      appendAll(results, resultBodies(part));
      return;
    case "step-finish":
      step.usage = usageOf(part);
      return;
    default:
      if (isNoted(part)) notes.push(noteOfPart(part));
  }
}

function callBody(part: RawLine, made: EventMetadata): UnplacedEvent {
  const state = recordOf(part, "state") ?? {};
  return {
    type: "tool_call_request",
    call_id: stringOf(part, "callID") ?? "",
    name: stringOf(part, "tool") ?? "",
    arguments: state["input"] ?? {},
    metadata: { ...signed(made, part), unanswered: sentUnanswered(state) },
  };
}

/** What OpenCode sends for a call without a result; undefined = the call has one. */
function sentUnanswered(state: RawLine): string | undefined {
  if (state["status"] === "error")
    return isUnanswered(recordOf(state, "metadata") ?? {}) ? stringOf(state, "error") : undefined;
  return state["status"] === "completed" ? undefined : INTERRUPTED;
}

/** The result of a call; none if it was never answered. A call that was stopped has what it printed so far. */
function resultBodies(part: RawLine): readonly UnplacedEvent[] {
  const state = recordOf(part, "state") ?? {};
  const metadata = recordOf(state, "metadata") ?? {};
  const call_id = stringOf(part, "callID") ?? "";
  const child = stringOf(metadata, "sessionId");
  const linked = child === undefined ? {} : { metadata: { session: child } };
  const type = "tool_call_response";
  if (state["status"] === "completed") {
    const content = outputContent(stringOf(state, "output") ?? "", state["attachments"]);
    return [{ type, call_id, content, is_error: false, ...linked }];
  }
  if (state["status"] !== "error" || isUnanswered(metadata)) return [];
  const printed = metadata["interrupted"] === true ? stringOf(metadata, "output") : undefined;
  const content = printed ?? stringOf(state, "error") ?? "";
  return [{ type, call_id, content, is_error: printed === undefined, ...linked }];
}

/** The part's maker, with what its provider wants back. */
function signed(made: EventMetadata, part: RawLine): EventMetadata {
  const given = recordOf(part, "metadata");
  if (given === undefined || Object.keys(given).length === 0) return made;
  const own = Object.values(given).filter(isRecord);
  const find = (...keys: readonly string[]): string | undefined =>
    own.flatMap((fields) => keys.flatMap((key) => stringOf(fields, key) ?? [])).find((text) => text !== "");
  const signature = find("signature", "thoughtSignature");
  const encrypted = find("redactedData", "reasoningEncryptedContent");
  return {
    ...made,
    signature,
    encrypted,
    provider_metadata: given,
  };
}

// OpenCode's files as content parts. What jpg does not know is carried verbatim.

/** Marks what only OpenCode understands, as the provider of an opaque part. */
export const OPENCODE_PART = "opencode";
/** Files whose text is a part of its own: the agent does not send the file. */
const SENT_AS_TEXT: ReadonlySet<string> = new Set(["text/plain", "application/x-directory"]);
const DATA_URL = /^data:([^;,]+)(?:;[^;,]*)*;base64,/;

/** Whether the agent sends a file of a user's message as a file. */
function isSentFile(part: RawLine): boolean {
  return !SENT_AS_TEXT.has(stringOf(part, "mime") ?? "");
}

/** Converts a file. */
function toFilePart(part: RawLine): ContentPart {
  const mime = stringOf(part, "mime") ?? "";
  const url = stringOf(part, "url") ?? "";
  const type = mime.startsWith("image/") ? "image" : mime === "application/pdf" ? "document" : null;
  if (type === null || url === "") return { type: "opaque", provider: OPENCODE_PART, value: bareFile(part) };
  const title = stringOf(part, "filename");
  const named = title === undefined ? {} : { title };
  const data = DATA_URL.exec(url);
  if (data === null) return { type, media_type: mime, url, ...named };
  return { type, media_type: data[1] ?? mime, data: url.slice(data[0].length), ...named };
}

/** A file's fields without its ids. */
function bareFile({ id: _, sessionID: __, messageID: ___, ...file }: RawLine): RawLine {
  return file;
}

/** Joins parts to a content; one plain text becomes that text. */
function contentOfParts(parts: readonly ContentPart[]): Content {
  const [only] = parts;
  return parts.length === 1 && only?.type === "text" ? only.text : parts;
}

/** A tool's output with its files. */
function outputContent(output: string, attachments: unknown): Content {
  const files = Array.isArray(attachments) ? attachments.filter(isRecord).map(toFilePart) : [];
  if (files.length === 0) return output;
  return output === "" ? files : [{ type: "text", text: output }, ...files];
}

// Notes: what no model sees. They keep the small plain values of a part or message; the whole stays in the source.

/** An event without id and time. */
type UnplacedEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** Keys of every part, which say nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["id", "sessionID", "messageID", "type"]);
/** Parts that frame others. */
const FRAMES: ReadonlySet<unknown> = new Set(["step-start", "step-finish", "compaction"]);

/** Whether a part that is not sent has content of its own. */
function isNoted({ type, text }: RawLine): boolean {
  return !FRAMES.has(type) && text !== "";
}

function noteOfPart(part: RawLine): UnplacedEvent {
  const files = stringsOf(part, "files");
  const values = { ...plainValues(part), ...(files.length > 0 && { files }) };
  return note(stringOf(part, "type") ?? "unknown", withoutEnvelope(values));
}

/** Creates the note of an answer that is never sent again. */
function noteOfAnswer({ info, parts }: { readonly info: RawLine; readonly parts: readonly RawLine[] }): UnplacedEvent {
  const error = recordOf(info, "error") ?? {};
  const text = parts.flatMap((part) => (part["type"] === "text" ? (stringOf(part, "text") ?? []) : [])).join("\n");
  const calls = parts.flatMap((part) => (part["type"] === "tool" ? (stringOf(part, "tool") ?? []) : []));
  const name = stringOf(error, "name") ?? "";
  const usage = usageOf(info);
  const data = {
    ...plainValues(recordOf(error, "data") ?? {}),
    ...(name !== "" && { error: name }),
    ...(text !== "" && { text: shorten(text) }),
    ...(calls.length > 0 && { calls }),
    ...(usage !== undefined && { usage }),
  };
  return note(name === "MessageAbortedError" ? "aborted_answer" : "failed_answer", data);
}

/** Creates the note that names the parent of a sub-agent's session. */
export function noteOfParent(session: string): UnplacedEvent {
  return note("parent_session", { session });
}

function note(kind: string, data: RawLine): UnplacedEvent {
  return { type: "note", kind, ...(Object.keys(data).length > 0 && { data }) };
}

function withoutEnvelope(values: RawLine): RawLine {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
}

/** Token counts and cost, under the keys that jpg reads; absent if all counts are 0. */
function usageOf(counted: RawLine): RawLine | undefined {
  const tokens = recordOf(counted, "tokens");
  if (tokens === undefined) return undefined;
  const cache = recordOf(tokens, "cache") ?? {};
  const [input, output, reasoning, cacheRead, cacheWrite] = [
    tokens["input"],
    tokens["output"],
    tokens["reasoning"],
    cache["read"],
    cache["write"],
  ].map(countOf) as [number, number, number, number, number];
  if (input + output + reasoning + cacheRead + cacheWrite === 0) return undefined;
  const cost = counted["cost"];
  return {
    input,
    // Older versions count reasoning in the output: then the sum is right without it.
    output: tokens["total"] === input + output + cacheRead + cacheWrite ? output : output + reasoning,
    reasoning,
    cacheRead,
    cacheWrite,
    ...(typeof cost === "number" && { cost: { total: cost } }),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

/** Marks a call without a result: OpenCode shows and sends it as interrupted. */
export const UNANSWERED: RawLine = { interrupted: true, jpg: "unanswered" };

/** Whether a call's only result is the mark that jpg wrote. */
function isUnanswered(metadata: RawLine): boolean {
  return metadata["jpg"] === UNANSWERED["jpg"];
}

// jpg's side line in a session of OpenCode: a key of the session's `metadata`, which OpenCode keeps and exports. A fork copies it,
// but has a session id of its own: it counts as OpenCode's own.

const KEY = "jpg";

/** Creates the metadata of a session that jpg writes. */
export function createOriginMetadata(origin: ExportOrigin, sessionId: string): RawLine {
  return { [KEY]: createOriginLine(origin, sessionId) };
}

/** Reads which conversation jpg exported a session from; null for OpenCode's own. Never throws. */
export function documentOrigin({ info, sessionId }: SessionDocument): ExportOrigin | null {
  const line = recordOf(recordOf(info, "metadata") ?? {}, KEY) ?? {};
  return stringOf(line, "sessionId") === sessionId ? readExportOrigin(line) : null;
}

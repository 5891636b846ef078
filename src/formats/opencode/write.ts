// Writes a view as a session that `opencode import` takes: its description with jpg's side line, and its messages. The same export
// gives the same bytes.
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  type Event,
  type EventMetadata,
  type ProjectedTurn,
  plainText,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../../core/conversation/event.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import { type CallPlan, formatReminder, missingResult, planProviderCalls, unusedId } from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { boundaryName, lineName, type SessionName, type Sha1, sessionUuid, uuidV5 } from "../imported-session.ts";
import { isRecord, type RawLine } from "../session-source.ts";
import { createOriginMetadata, OPENCODE_PART, SUMMARY_QUESTION, UNANSWERED } from "./events.ts";

/** Version that this form was verified with. */
const VERIFIED_VERSION = "1.18.33";

/** Renders the session's file. */
export function writeOpenCodeSession(draft: SessionDraft): string {
  const { view, sessionId, origin, cwd, title, model } = draft;
  const created = Date.parse(view.turns[0]?.events[0]?.timestamp ?? "") || 0;
  const chain = createMessageChain(draft, created);
  addMessages(chain, view, model);
  const info = {
    id: sessionId,
    slug: "jpg",
    projectID: "global",
    directory: cwd,
    title,
    version: VERIFIED_VERSION,
    metadata: createOriginMetadata(origin, sessionId),
    time: { created, updated: chain.time() },
  };
  return `${JSON.stringify({ info, messages: chain.messages }, null, 1)}\n`;
}

/** A model, as OpenCode names it. */
interface OpenCodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

/** A message without its id. */
interface MessageDraft {
  /** Source of the id: an event's id, or a compaction's. */
  readonly key: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly model: OpenCodeModel;
  /** Given the message's time, milliseconds since 1970. */
  readonly parts: (time: number) => readonly RawLine[];
}

interface NewMessage {
  readonly id: string;
  readonly parts: readonly RawLine[];
}

interface WrittenMessage {
  readonly info: RawLine;
  readonly parts: readonly RawLine[];
}

/** Collects messages. Stateful: an answer names the request before it, and each message is later than the previous one. */
interface MessageChain {
  addRequest(draft: MessageDraft, how?: { readonly queued?: boolean }): void;
  addAnswer(draft: MessageDraft, how?: { readonly summary?: boolean }): void;
  readonly messages: readonly WrittenMessage[];
  /** Time of the newest message, milliseconds since 1970. */
  time(): number;
}

/** The default agent; a user may have renamed or removed others. */
const AGENT = "build";
/** The counts of the original requests do not fit this view, and OpenCode takes the newest for its context size. */
const NO_TOKENS = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } };

/** Creates an empty chain; `start` = the session's time, milliseconds since 1970. */
function createMessageChain({ sessionId, cwd, sha1 }: SessionDraft, start: number): MessageChain {
  const messages: WrittenMessage[] = [];
  const counts = new Map<string, number>();
  let time = start;
  let asked: string | undefined;
  const add = (draft: MessageDraft, describe: (message: NewMessage) => RawLine): NewMessage | null => {
    const at = Math.max(time + 1, Date.parse(draft.timestamp) || 0);
    const parts = draft.parts(at);
    if (parts.length === 0) return null;
    time = at;
    const count = counts.get(draft.key) ?? 0;
    counts.set(draft.key, count + 1);
    const message = { id: writtenMessageId(sessionId, lineName(draft.key, count), sha1), parts };
    const info = { id: message.id, sessionID: sessionId, ...describe(message) };
    messages.push({ info, parts: parts.map((part, place) => placePart(part, place, info)) });
    return message;
  };
  return {
    messages,
    time: () => time,
    addRequest: (draft, { queued = false } = {}) => {
      const at = messages.findLastIndex(({ info }) => info["role"] === "assistant");
      const added = add(draft, () => ({ role: "user", time: { created: time }, agent: AGENT, model: draft.model }));
      asked = added?.id ?? asked;
      const before = messages[at];
      if (queued && added !== null && before !== undefined) messages[at] = workingUntil(before, time);
    },
    addAnswer: (draft, { summary = false } = {}) => {
      const mode = summary ? "compaction" : AGENT;
      add(draft, ({ id, parts }) => ({
        role: "assistant",
        parentID: asked ?? id,
        ...draft.model,
        mode,
        agent: mode,
        path: { cwd, root: cwd },
        ...(summary && { summary }),
        cost: 0,
        tokens: NO_TOKENS,
        time: { created: time, completed: time },
        finish: parts.some(({ type }) => type === "tool") ? "tool-calls" : "stop",
      }));
    },
  };
}

/** A queued prompt is recognised by the answer's end time, and by a finish reason after which the agent continues. */
function workingUntil({ info, parts }: WrittenMessage, completed: number): WrittenMessage {
  const finish = info["finish"] === "stop" ? "unknown" : info["finish"];
  return { info: { ...info, time: { ...(info["time"] as RawLine), completed }, finish }, parts };
}

/** A tool's files are parts of their own, next to its output. */
function placePart(part: RawLine, place: number, { id, sessionID }: RawLine): RawLine {
  const messageID = String(id);
  const own = { id: writtenPartId(messageID, place), sessionID, messageID };
  const state = part["state"] as RawLine | undefined;
  const files = state?.["attachments"] as readonly RawLine[] | undefined;
  if (files === undefined) return { ...own, ...part };
  const attachments = files.map((file, at) => ({ ...own, id: `${own.id}${at}`, ...file }));
  return { ...own, ...part, state: { ...state, attachments } };
}

// Ids of sessions, messages and parts that jpg writes: with OpenCode's prefixes, derived from what is written. Parts of a message
// are sent in id order.

/** Namespace of message ids, chosen at random. Never changes. */
const MESSAGE_NAMESPACE = "b4a7d4b0-3c1f-4e0b-9d55-0c6a8e2f7f13";
/** Length of an id after its prefix, as in OpenCode's own. */
const LENGTH = 26;
const PLACE_DIGITS = 6;

export function writtenSessionId(name: SessionName, sha1: Sha1): string {
  return `ses_${shorten(sessionUuid(name, sha1))}`;
}

export function writtenMessageId(sessionId: string, name: string, sha1: Sha1): string {
  return `msg_${shorten(uuidV5(MESSAGE_NAMESPACE, JSON.stringify([sessionId, name]), sha1))}`;
}

/** The id of the `place`-th part of a message, 0-based. */
function writtenPartId(messageId: string, place: number): string {
  return `prt_${String(place).padStart(PLACE_DIGITS, "0")}${messageId.slice("msg_".length)}`;
}

function shorten(uuid: string): string {
  return uuid.replaceAll("-", "").slice(0, LENGTH);
}

// Converts a view to OpenCode's messages: an answer is one message with its calls and their results; what nobody typed is marked
// `synthetic`. A summary at the view's start becomes a compaction that keeps nothing.

/** Longest call id that any API accepts, characters. */
const LONGEST_ID = 512;
/** Used if no answer names its model. */
const UNKNOWN_MODEL: OpenCodeModel = { providerID: "unknown", modelID: "unknown" };

interface Writer {
  readonly chain: MessageChain;
  readonly plan: CallPlan;
  /** Model that will read it, if known. */
  readonly reader: string | undefined;
  /** Model of the newest answer that names one. */
  made: OpenCodeModel;
  /** Requests that become one message: only the last may have been typed. */
  asked: ChatRequest[];
  /** Whether nothing of the turn is written yet. */
  isOpening: boolean;
  /** Events of the current answer. */
  said: (ChatResponse | ToolCallRequest)[];
  /** The compaction that put them into the view. */
  compaction: string | undefined;
}

/** Adds all messages of a view; `reader` = the model that will read them, if known. */
function addMessages(chain: MessageChain, view: View, reader: string | undefined): void {
  const plan = planProviderCalls(view, {
    answers: "all",
    assignId: ({ call_id }, isUsed) => ({
      id: unusedId(call_id === "" ? "call" : call_id, LONGEST_ID, isUsed),
      rules: [],
    }),
    rules: { unanswered: "C1", unasked: "C2", repeated: "C4" },
  });
  const models = view.turns.flatMap(({ events }) => events.flatMap((event) => modelOf(event) ?? []));
  const made = models[0] ?? UNKNOWN_MODEL;
  const writer: Writer = { chain, plan, reader, made, asked: [], isOpening: true, said: [], compaction: undefined };
  for (const turn of view.turns) addTurn(writer, turn);
  close(writer);
}

function modelOf({ metadata = {} }: Event): OpenCodeModel | null {
  const { provider, model } = metadata;
  return provider === undefined || model === undefined ? null : { providerID: provider, modelID: model };
}

function addTurn(writer: Writer, turn: ProjectedTurn): void {
  close(writer);
  const { origin } = turn;
  const summary = writer.chain.messages.length === 0 ? summaryOf(turn) : null;
  writer.compaction = origin.kind === "summary" ? origin.compaction : undefined;
  writer.isOpening = true;
  if (summary !== null && origin.kind !== "kept") addSummary(writer, summary, origin.compaction);
  for (const event of summary?.rest ?? turn.events) addEvent(writer, event);
}

interface FoundSummary {
  /** The answers that hold it, or the request that carries it. */
  readonly carriers: readonly (ChatResponse | ChatRequest)[];
  /** The turn's other events. */
  readonly rest: readonly Event[];
}

/** The summary that a turn begins with, jpg's or OpenCode's own; null if it begins with something else. */
function summaryOf({ origin, events }: ProjectedTurn): FoundSummary | null {
  if (origin.kind === "kept") return null;
  const visible = events.filter(({ type }) => type === "chat_request" || type === "chat_response");
  const [request, ...others] = visible;
  if (request?.type !== "chat_request") return null;
  const next = others.findIndex(({ type }) => type === "chat_request");
  const answers = next < 0 ? others : others.slice(0, next);
  const isQuestion =
    origin.kind === "summary"
      ? answers.length > 0 && answers[0]?.id === request.id.replace(/request$/, "response")
      : answers.length > 0 && textOfContent(request.content) === SUMMARY_QUESTION;
  if (isQuestion) {
    const carriers = answers.flatMap((event) => (event.type === "chat_response" ? [event] : []));
    const used = new Set<Event>([request, ...carriers]);
    return { carriers, rest: events.filter((event) => !used.has(event)) };
  }
  if (origin.kind !== "summary" || request.metadata?.origin !== "summary") return null;
  return { carriers: [request], rest: events.filter((event) => event !== request) };
}

/** OpenCode asks for a summary with a message of its own and marks the answer. */
function addSummary({ chain, made, reader }: Writer, { carriers }: FoundSummary, compaction: string): void {
  const timestamp = carriers[0]?.timestamp ?? "";
  const model = carriers.map(modelOf).find((one) => one !== null) ?? made;
  chain.addRequest({
    key: boundaryName(compaction),
    timestamp,
    model: made,
    parts: () => [{ type: "compaction", auto: false }],
  });
  const parts = (time: number): readonly RawLine[] =>
    carriers.flatMap((event) =>
      event.type === "chat_response" ? saidParts(event, reader, time) : requestParts(event.content, false),
    );
  chain.addAnswer({ key: compaction, timestamp, model, parts }, { summary: true });
}

function addEvent(writer: Writer, event: Event): void {
  switch (event.type) {
    case "chat_request":
      closeAnswer(writer);
      if (!joinsRequest(writer.asked, writer.isOpening)) closeRequest(writer);
      writer.asked.push(event);
      break;
    case "chat_response":
    case "tool_call_request": {
      closeRequest(writer);
      const last = writer.said.at(-1);
      if (last !== undefined && last.metadata?.message_id !== event.metadata?.message_id) closeAnswer(writer);
      writer.said.push(event);
      break;
    }
    case "tool_call_response": // written with the answer that made its call
      closeRequest(writer);
      closeAnswer(writer);
      break;
    default: // what no model is sent
  }
}

/** Whether a request joins the message of those before it: what introduces a turn's request stays in its turn. */
function joinsRequest(asked: readonly ChatRequest[], isOpening: boolean): boolean {
  return isOpening && !asked.some(isTyped);
}

function close(writer: Writer): void {
  closeRequest(writer);
  closeAnswer(writer);
}

function closeRequest(writer: Writer): void {
  const { asked, chain, made, compaction } = writer;
  writer.asked = [];
  const [first] = asked;
  if (first === undefined) return;
  writer.isOpening = false;
  const parts = asked.flatMap((event) => requestParts(asReminder(event), !isTyped(event)));
  const queued = asked.some(({ metadata }) => metadata?.origin === "queued");
  const { id, timestamp } = first;
  chain.addRequest({ key: compaction ?? id, timestamp, model: made, parts: () => parts }, { queued });
}

/** Whether a person wrote it: only such messages are shown as prompts. */
function isTyped({ role = "user", metadata }: ChatRequest): boolean {
  return role === "user" && (metadata?.origin === undefined || metadata.origin === "queued");
}

/** Messages only have the roles of user and assistant; others become reminders, as agents send them. */
function asReminder({ role = "user", content }: ChatRequest): ChatRequest["content"] {
  if (role === "user") return content;
  if (typeof content === "string") return formatReminder(content);
  if (!Array.isArray(content)) return content;
  return content.map((part) =>
    part.type === "text" && typeof part.text === "string" ? { ...part, text: formatReminder(part.text) } : part,
  );
}

/** Writes the current answer with the results of its calls. */
function closeAnswer(writer: Writer): void {
  const { said, plan, chain, reader, compaction } = writer;
  writer.said = [];
  const [first] = said;
  if (first === undefined) return;
  writer.isOpening = false;
  writer.made = said.map(modelOf).find((made) => made !== null) ?? writer.made;
  const parts = (time: number): readonly RawLine[] =>
    said.flatMap((event): readonly RawLine[] => {
      if (event.type === "chat_response") return saidParts(event, reader, time);
      const callId = plan.ids.get(event);
      if (callId === undefined) return [];
      return [toolPart(event, plan.results.get(event) ?? null, { callId, time, interrupted: missingResult(event) })];
    });
  chain.addAnswer({ key: compaction ?? first.id, timestamp: first.timestamp, model: writer.made, parts });
}

// Events as OpenCode's message parts. Content without a matching part is named, so that the model sees that something is missing.

/** The parts of a request; `synthetic` = nobody typed it. */
function requestParts(content: Content, synthetic: boolean): readonly RawLine[] {
  return partsOf(content).flatMap((part): readonly RawLine[] => {
    const file = filePart(part);
    if (file !== null) return [file];
    const text = textOfPart(part);
    return text.trim() === "" ? [] : [{ type: "text", text, ...(synthetic && { synthetic: true }) }];
  });
}

/** The parts of an answer; `model` = the one that will read it, if known; `time` in milliseconds. */
function saidParts(event: ChatResponse, model: string | undefined, time: number): readonly RawLine[] {
  if (event.reasoning !== undefined) return reasoningParts(event, model, time);
  const metadata = ownMetadata(event.metadata);
  const text =
    event.message === undefined ? JSON.stringify(event.data ?? null) : partsOf(event.message).map(namePart).join("\n");
  return text.trim() === "" && metadata === undefined ? [] : [{ type: "text", text, ...given(metadata) }];
}

/** The part of a call with its result; null = it was never answered. */
function toolPart(
  call: ToolCallRequest,
  result: ToolCallResponse | null,
  { callId, time, interrupted }: { readonly callId: string; readonly time: number; readonly interrupted: string },
): RawLine {
  const { name, arguments: args, metadata } = call;
  const input = isRecord(args) ? args : { input: args };
  const state = result === null ? unanswered(interrupted) : resultState(result, name);
  return {
    type: "tool",
    callID: callId,
    tool: name,
    state: { ...state, input, time: { start: time, end: time } },
    ...given(ownMetadata(metadata)),
  };
}

function unanswered(error: string): RawLine {
  return { status: "error", error, metadata: UNANSWERED };
}

function resultState({ content, is_error: isError, metadata }: ToolCallResponse, title: string): RawLine {
  const child = metadata?.["session"];
  const linked = typeof child === "string" ? { sessionId: child } : {};
  if (isError) {
    const error = partsOf(content).map(namePart).join("\n");
    return { status: "error", error, ...(typeof child === "string" && { metadata: linked }) };
  }
  const parts = partsOf(content).map((part) => ({ part, file: filePart(part) }));
  const attachments = parts.flatMap(({ file }) => file ?? []);
  const output = parts.flatMap(({ part, file }) => (file === null ? [textOfPart(part)] : [])).join("\n");
  return {
    status: "completed",
    output,
    title,
    metadata: linked,
    ...(attachments.length > 0 && { attachments }),
  };
}

/**
 * OpenCode's own reasoning goes back unchanged. Of other agents' only what Anthropic signed: of the rest they do not keep all that
 * OpenCode needs.
 */
function reasoningParts(
  { reasoning = "", metadata = {} }: ChatResponse,
  model: string | undefined,
  start: number,
): readonly RawLine[] {
  const { provider, model: maker, signature, encrypted } = metadata;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return [];
  const own = ownMetadata(metadata) ?? (metadata["provider_metadata"] === undefined ? undefined : {});
  const signed =
    signature !== undefined ? { signature } : encrypted !== undefined ? { redactedData: encrypted } : undefined;
  const anthropic = provider === "anthropic" && signed !== undefined ? { anthropic: signed } : undefined;
  const kept = own ?? anthropic;
  return kept === undefined
    ? []
    : [{ type: "reasoning", text: plainText(reasoning), ...given(kept), time: { start, end: start } }];
}

/** What OpenCode kept with a part for the part's provider. */
function ownMetadata(metadata: EventMetadata | undefined): RawLine | undefined {
  const own = metadata?.["provider_metadata"];
  return isRecord(own) && Object.keys(own).length > 0 ? own : undefined;
}

function given(metadata: RawLine | undefined): RawLine {
  return metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata };
}

function partsOf(content: Content): readonly ContentPart[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content as string }];
}

/** A file as a part of a message; null for what is no file, or has neither bytes nor address. */
function filePart(part: ContentPart): RawLine | null {
  if (part.type === "opaque")
    return part.provider === OPENCODE_PART && isRecord(part.value) && part.value["type"] === "file" ? part.value : null;
  if (part.type !== "image" && part.type !== "document") return null;
  const mime = part.media_type ?? (part.type === "image" ? "image/png" : "application/pdf");
  const url = typeof part.data === "string" ? `data:${mime};base64,${part.data}` : part.url;
  if (url === undefined) return null;
  return { type: "file", mime, url, filename: part.title };
}

function namePart(part: ContentPart): string {
  const isMedia = part.type === "image" || part.type === "document";
  if (!isMedia) return textOfPart(part);
  return `[${[part.type, part.title, part.url].filter((word) => word !== undefined).join(" ")}]`;
}

function textOfPart(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return plainText(part.text);
    case "attachment":
      return [part.name, plainText(part.text ?? "")].filter(Boolean).join("\n");
    case "opaque":
      return "";
    case "image":
    case "document":
      return namePart(part);
  }
}

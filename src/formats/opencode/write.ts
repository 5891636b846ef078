// Writes a view as a session that `opencode import` takes: its description with jpg's side line, and its messages. The same export
// is the same bytes.
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
import {
  type CallPlan,
  formatReminder,
  INTERRUPTED_RESULT,
  planProviderCalls,
  unusedId,
} from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { boundaryName, lineName, type SessionName, type Sha1, sessionUuid, uuidV5 } from "../imported-session.ts";
import { isRecord, type RawLine } from "../session-source.ts";
import { createOriginMetadata, OPENCODE_PART, SUMMARY_QUESTION, UNANSWERED } from "./events.ts";

/** Version that this form was verified with. */
const VERIFIED_VERSION = "1.18.33";

/** Gives the text of the session's file. */
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

/** Whoever answers, as OpenCode names models. */
interface OpenCodeModel {
  readonly providerID: string;
  readonly modelID: string;
}

/** A message before it has an id. */
interface MessageDraft {
  /** What its id is made of: an event's id, or a compaction's. */
  readonly key: string;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly model: OpenCodeModel;
  /** By the message's time, milliseconds since 1970. */
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

/** Collects messages. Holds state on purpose: an answer names the request before it, and none is as early as the one before. */
interface MessageChain {
  addRequest(draft: MessageDraft, how?: { readonly queued?: boolean }): void;
  addAnswer(draft: MessageDraft, how?: { readonly summary?: boolean }): void;
  readonly messages: readonly WrittenMessage[];
  /** Time of the newest message, milliseconds since 1970. */
  time(): number;
}

/** Who works in a session; a user may have renamed or removed others. */
const AGENT = "build";
/** Counts of other requests say nothing of this view, and OpenCode takes the newest for the size of its context. */
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

/** What was typed while the agent worked on an answer is known by the answer's end, and by that it was not the last. */
function workingUntil({ info, parts }: WrittenMessage, completed: number): WrittenMessage {
  const finish = info["finish"] === "stop" ? "unknown" : info["finish"];
  return { info: { ...info, time: { ...(info["time"] as RawLine), completed }, finish }, parts };
}

/** Files that a tool gave are parts of their own, beside its output. */
function placePart(part: RawLine, place: number, { id, sessionID }: RawLine): RawLine {
  const messageID = String(id);
  const own = { id: writtenPartId(messageID, place), sessionID, messageID };
  const state = part["state"] as RawLine | undefined;
  const files = state?.["attachments"] as readonly RawLine[] | undefined;
  if (files === undefined) return { ...own, ...part };
  const attachments = files.map((file, at) => ({ ...own, id: `${own.id}${at}`, ...file }));
  return { ...own, ...part, state: { ...state, attachments } };
}

// Ids of sessions, messages and parts that jpg writes: with the prefixes that OpenCode asks for, derived from what is written.
// Parts of a message are sent in the order of their ids.

/** Namespace of ids of messages: chosen once at random, never to change. */
const MESSAGE_NAMESPACE = "b4a7d4b0-3c1f-4e0b-9d55-0c6a8e2f7f13";
/** Letters and digits behind a prefix, as many as OpenCode's own have. */
const LENGTH = 26;
/** Digits of a part's place in its message. */
const PLACE_DIGITS = 6;

/** Gives the id of an exported session. */
export function writtenSessionId(name: SessionName, sha1: Sha1): string {
  return `ses_${shorten(sessionUuid(name, sha1))}`;
}

/** Gives the id of an exported message. */
export function writtenMessageId(sessionId: string, name: string, sha1: Sha1): string {
  return `msg_${shorten(uuidV5(MESSAGE_NAMESPACE, JSON.stringify([sessionId, name]), sha1))}`;
}

/** Gives the id of the `place`-th part of a message, 0-based. */
function writtenPartId(messageId: string, place: number): string {
  return `prt_${String(place).padStart(PLACE_DIGITS, "0")}${messageId.slice("msg_".length)}`;
}

function shorten(uuid: string): string {
  return uuid.replaceAll("-", "").slice(0, LENGTH);
}

// Puts a view into messages of OpenCode: an answer is one message with its calls and their results, what nobody typed is marked
// as such. A summary that the view begins with is a compaction of OpenCode that keeps nothing.

/** Longest id of a call that any API takes, characters. */
const LONGEST_ID = 512;
/** Of a conversation in which no answer says who made it. */
const UNKNOWN_MODEL: OpenCodeModel = { providerID: "unknown", modelID: "unknown" };

interface Writer {
  readonly chain: MessageChain;
  readonly plan: CallPlan;
  /** Model that will read it, where that is known. */
  readonly reader: string | undefined;
  /** Model of the newest answer that says who made it. */
  made: OpenCodeModel;
  /** Requests that are one message: the last of them may have been typed. */
  asked: ChatRequest[];
  /** Whether nothing of the turn was written yet. */
  isOpening: boolean;
  /** Events of the answer that is being gathered. */
  said: (ChatResponse | ToolCallRequest)[];
  /** Id of the compaction that put them into the view. */
  compaction: string | undefined;
}

/** Adds all messages of a view; `reader` = the model that will read them, where that is known. */
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
  /** What else the turn holds. */
  readonly rest: readonly Event[];
}

/** The summary that a turn begins with, jpg's or OpenCode's own; null when it begins with something else. */
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

/** OpenCode asks for a summary with a message of its own, and knows the answer by its mark. */
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
    case "tool_call_response": // stands in the answer that made its call
      closeRequest(writer);
      closeAnswer(writer);
      break;
    default: // what no model is sent
  }
}

/** Whether a request goes into a message with those before it: what introduces the request that opens a turn stays in the turn. */
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

/** Messages have no roles but those of the user and the model; a reminder is what an agent makes of others. */
function asReminder({ role = "user", content }: ChatRequest): ChatRequest["content"] {
  if (role === "user") return content;
  if (typeof content === "string") return formatReminder(content);
  if (!Array.isArray(content)) return content;
  return content.map((part) =>
    part.type === "text" && typeof part.text === "string" ? { ...part, text: formatReminder(part.text) } : part,
  );
}

/** Writes the answer that was gathered, with the results of its calls. */
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
      return [toolPart(event, plan.results.get(event) ?? null, { callId, time, interrupted: INTERRUPTED_RESULT })];
    });
  chain.addAnswer({ key: compaction ?? first.id, timestamp: first.timestamp, model: writer.made, parts });
}

// Events as parts of OpenCode's messages. What it has no part for is named, so that the model sees that something is missing.

/** The parts of what was asked; `synthetic` = nobody typed it. */
function requestParts(content: Content, synthetic: boolean): readonly RawLine[] {
  return partsOf(content).flatMap((part): readonly RawLine[] => {
    const file = filePart(part);
    if (file !== null) return [file];
    const text = textOfPart(part);
    return text === "" ? [] : [{ type: "text", text, ...(synthetic && { synthetic: true }) }];
  });
}

/** The parts of what was said; `model` = the one that will read it, where that is known; `time` in milliseconds. */
function saidParts(event: ChatResponse, model: string | undefined, time: number): readonly RawLine[] {
  if (event.reasoning !== undefined) return reasoningParts(event, model, time);
  const metadata = ownMetadata(event.metadata);
  const text =
    event.message === undefined ? JSON.stringify(event.data ?? null) : partsOf(event.message).map(namePart).join("\n");
  return text === "" && metadata === undefined ? [] : [{ type: "text", text, ...given(metadata) }];
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

/** OpenCode's own goes back as it was. Of other agents' only what Anthropic signed: of the others it needs more than they keep. */
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

/** What OpenCode itself kept with a part, for the part's provider. */
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

/** A file as a part of a message; null for what is no file, or has no bytes and no address. */
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

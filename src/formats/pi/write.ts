// Writes a view as a session of pi: header, jpg's side line, name, entries. The same export gives the same bytes.
import {
  type ChatRequest,
  type ChatResponse,
  type Event,
  type EventMetadata,
  type ProjectedTurn,
  plainText,
  type ToolCallRequest,
  textOfContent,
  type View,
} from "../../core/conversation/event.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import { type CallPlan, formatReminder, missingResult, planProviderCalls, unusedId } from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { boundaryName, lineName, lineUuid } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, recordOf } from "../session-source.ts";
import { createOriginBody } from "./entries.ts";
import { blocksOfContent, compactedSummary, contentOfBlocks, harnessContent, NO_RESULT, REDACTED } from "./events.ts";

/** Written format version. */
const VERSION = 3;

/** When a session begins, RFC 3339 UTC. */
export function sessionTime({ view }: Pick<SessionDraft, "view">): string {
  return view.turns[0]?.events[0]?.timestamp ?? NO_DATE;
}

/** Renders the session's file. */
export function writePiSession({ view, sessionId, origin, cwd, title, model, sha1 }: SessionDraft): string {
  const timestamp = sessionTime({ view });
  const chain = createEntryChain((name) => lineUuid(sessionId, name, sha1));
  chain.add({ key: "", timestamp, body: createOriginBody(origin, sessionId) });
  if (title !== "") chain.add({ key: "", timestamp, body: { type: "session_info", name: title } });
  addView(chain, view, model);
  const header = { type: "session", version: VERSION, id: sessionId, timestamp, cwd };
  return [header, ...chain.entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

// The entries of an exported session, in one chain: every entry's parent is the previous one, so only what was written is reachable.
// Dates and ids come from the events.

/** One entry without its id and parent. */
interface EntryDraft {
  /** Source of the id: an event's or a compaction's id; absent = a further entry of the previous source. */
  readonly key?: string;
  /** RFC 3339; absent = that of the previous entry. */
  readonly timestamp?: string;
  /** The other fields, or a function of the id. A message gets its time in milliseconds if it has none. */
  readonly body: RawLine | ((id: string) => RawLine);
}

/** Collects entries. Stateful: an entry's parent is the previous one. */
interface EntryChain {
  readonly add: (draft: EntryDraft) => void;
  readonly entries: readonly RawLine[];
}

/** Creates an empty chain. `lineId` derives an id from an entry's name. */
function createEntryChain(lineId: (name: string) => string): EntryChain {
  const entries: RawLine[] = [];
  const counts = new Map<string, number>();
  let last = { id: null as string | null, key: "", timestamp: NO_DATE };
  const add = ({ key = last.key, timestamp = last.timestamp, body }: EntryDraft): void => {
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const id = lineId(lineName(key, count));
    const { type, message, ...rest } = typeof body === "function" ? body(id) : body;
    const timed = message === undefined ? {} : { message: { ...(message as RawLine), ...timeOf(message, timestamp) } };
    entries.push({ type, id, parentId: last.id, timestamp, ...timed, ...rest });
    last = { id, key, timestamp };
  };
  return { add, entries };
}

function timeOf(message: unknown, timestamp: string): { readonly timestamp?: number } {
  return (message as RawLine)["timestamp"] === undefined ? { timestamp: Date.parse(timestamp) } : {};
}

// Converts a view to pi's entries: an answer is one message, followed by its results; what nobody typed becomes the entry that it
// was. A summary at the view's start becomes a compaction that keeps nothing.

/** Longest call id that any API accepts, characters. */
const LONGEST_ID = 512;

interface Writer {
  readonly chain: EntryChain;
  readonly plan: CallPlan;
  /** Model that will read it, if known. */
  readonly reader: string | undefined;
  /** Model of the newest answer that names one. */
  made: AnswerModel;
  /** Events of the current answer. */
  open: (ChatResponse | ToolCallRequest)[];
  /** The compaction that put them into the view. */
  compaction: string | undefined;
}

/** Adds all messages of a view; `reader` = the model that will read them, if known. */
function addView(chain: EntryChain, view: View, reader: string | undefined): void {
  const plan = planProviderCalls(view, {
    answers: "newest",
    assignId: ({ call_id }, isUsed) => ({
      id: unusedId(call_id === "" ? "call" : call_id, LONGEST_ID, isUsed),
      rules: [],
    }),
    rules: { unanswered: "A1", unasked: "A2", repeated: "A7" },
  });
  const first = view.turns
    .flatMap(({ events }) => events)
    .map(answerModelOf)
    .find((made) => made !== null);
  const writer: Writer = { chain, plan, reader, made: first ?? UNKNOWN_MODEL, open: [], compaction: undefined };
  for (const turn of view.turns) addTurn(writer, turn);
  closeAnswer(writer);
}

function addTurn(writer: Writer, turn: ProjectedTurn): void {
  closeAnswer(writer);
  const summary = isFirst(writer) ? summaryOf(turn) : null;
  const compaction = turn.origin.kind === "kept" ? undefined : turn.origin.compaction;
  writer.compaction = turn.origin.kind === "summary" ? compaction : undefined;
  if (summary !== null) addCompaction(writer, summary, compaction);
  const rest = summary?.events ?? turn.events;
  for (const event of rest) addEvent(writer, event);
}

function isFirst({ chain }: Writer): boolean {
  return chain.entries.every(({ type }) => type !== "message" && type !== "custom_message" && type !== "compaction");
}

interface FoundSummary {
  readonly text: string;
  /** The event that carries it. */
  readonly event: Event;
  /** The turn's other events. */
  readonly events: readonly Event[];
}

/** The summary that a turn begins with; null if it begins with something else. */
function summaryOf({ origin, events }: ProjectedTurn): FoundSummary | null {
  const said = events.filter(({ type }) => type.startsWith("chat_"));
  const [request, answer] = said;
  if (request?.type !== "chat_request" || request.metadata?.origin !== "summary") return null;
  const rest = (...gone: readonly (Event | undefined)[]): readonly Event[] =>
    events.filter((event) => !gone.includes(event));
  const text = textOfContent(request.content);
  if (origin.kind !== "summary") {
    const own = compactedSummary(text);
    return own === null ? null : { text: own, event: request, events: rest(request) };
  }
  if (
    answer?.type === "chat_response" &&
    answer.message !== undefined &&
    answer.id === request.id.replace(/request$/, "response")
  )
    return { text: textOfContent(answer.message), event: request, events: rest(request, answer) };
  return { text: compactedSummary(text) ?? text, event: request, events: rest(request) };
}

/** The compaction keeps nothing before it: in pi, it then names its own id as the first kept entry. */
function addCompaction({ chain }: Writer, { text, event }: FoundSummary, compaction: string | undefined): void {
  const body = (id: string): RawLine => ({ type: "compaction", summary: text, firstKeptEntryId: id, tokensBefore: 0 });
  chain.add({ key: compaction === undefined ? event.id : boundaryName(compaction), timestamp: event.timestamp, body });
}

function addEvent(writer: Writer, event: Event): void {
  switch (event.type) {
    case "chat_request":
      closeAnswer(writer);
      addRequest(writer, event);
      break;
    case "chat_response":
    case "tool_call_request": {
      const [last] = writer.open.slice(-1);
      if (last !== undefined && last.metadata?.message_id !== event.metadata?.message_id) closeAnswer(writer);
      writer.open.push(event);
      break;
    }
    case "tool_call_response": // written with the answer that made its call
      closeAnswer(writer);
      break;
    default: // what no model is sent
  }
}

/** Writes the current answer, then the results of its calls. */
function closeAnswer(writer: Writer): void {
  const { open, plan, chain, reader, compaction } = writer;
  writer.open = [];
  const [first] = open;
  if (first === undefined) return;
  writer.made = open.map(answerModelOf).find((made) => made !== null) ?? writer.made;
  const calls: ToolCallRequest[] = [];
  const blocks = open.flatMap((event): readonly RawLine[] => {
    if (event.type === "chat_response") return saidBlocks(event, reader);
    const id = plan.ids.get(event);
    if (id === undefined) return [];
    calls.push(event);
    return [callBlock(event, id)];
  });
  if (blocks.length === 0) return;
  const message = createAnswer(open, blocks, writer.made);
  const key = compaction ?? first.id;
  chain.add({ key, timestamp: first.timestamp, body: { type: "message", message } });
  addResults(writer, calls, key);
}

/** A result added by hardening goes with the answer, `key`, that made its call; pi's own it adds by itself. */
function addResults({ plan, chain }: Writer, calls: readonly ToolCallRequest[], key: string): void {
  const answered = calls.flatMap((call) => {
    const result = plan.results.get(call);
    return result ? [{ call, result, place: plan.order.get(result) ?? 0 }] : [];
  });
  for (const { call, result } of answered.sort((a, b) => a.place - b.place)) {
    const content = blocksOfContent(result.content);
    const body = { type: "message", message: createResult(plan, call, { content, isError: result.is_error }) };
    chain.add({ key: result.id, timestamp: result.timestamp, body });
  }
  for (const call of calls.filter((one) => plan.results.get(one) === null && missingResult(one) !== NO_RESULT)) {
    const content = [{ type: "text", text: missingResult(call) }];
    chain.add({ key, body: { type: "message", message: createResult(plan, call, { content, isError: true }) } });
  }
}

function createResult(
  plan: CallPlan,
  call: ToolCallRequest,
  said: { readonly content: readonly RawLine[]; readonly isError: boolean },
): RawLine {
  return { role: "toolResult", toolCallId: plan.ids.get(call), toolName: call.name, ...said };
}

function addRequest({ chain, compaction }: Writer, event: ChatRequest): void {
  const draft = { key: compaction ?? event.id, timestamp: event.timestamp };
  const own = ownEntry(event);
  const blocks = blocksOfContent(event.content);
  if (own !== null) chain.add({ ...draft, body: own });
  else if (blocks.length === 0) return;
  else if (isTyped(event))
    chain.add({ ...draft, body: { type: "message", message: typedMessage(chain, event, blocks) } });
  else
    chain.add({
      ...draft,
      body: { type: "custom_message", customType: "jpg", content: asReminder(event, blocks), display: true },
    });
}

/** Whether a person wrote it: only such messages are shown as prompts. */
function isTyped({ role = "user", metadata }: ChatRequest): boolean {
  return role === "user" && (metadata?.origin === undefined || metadata.origin === "queued");
}

/** A queued prompt is recognised by its time: before that of the result above it. */
function typedMessage(
  { entries }: EntryChain,
  { timestamp, metadata }: ChatRequest,
  content: readonly RawLine[],
): RawLine {
  const above = entries.at(-1);
  const since = Date.parse(String(above?.["timestamp"] ?? timestamp));
  const own = Date.parse(timestamp);
  const made = metadata?.origin === "queued" ? Math.min(own, since - 1) : Math.max(own, since);
  return { role: "user", content, timestamp: made };
}

/** A message of role `system` has no entry kind; it becomes a reminder, as agents send one. */
function asReminder({ role }: ChatRequest, blocks: readonly RawLine[]): readonly RawLine[] {
  if (role !== "system" && role !== "developer") return blocks;
  return blocks.map((block) =>
    typeof block["text"] === "string" ? { ...block, text: formatReminder(block["text"]) } : block,
  );
}

/** pi's own entry, if it says the same as the event. */
function ownEntry({ content, metadata }: ChatRequest): RawLine | null {
  const entry = metadata?.origin === "harness" ? metadata["entry"] : undefined;
  if (!isRecord(entry)) return null;
  if (JSON.stringify(contentOfBlocks(harnessContent(entry))) !== JSON.stringify(content)) return null;
  const message = recordOf(entry, "message");
  return message?.["role"] === "hookMessage" ? { ...entry, message: { ...message, role: "custom" } } : entry;
}

/** An answer's model, as pi names it. */
interface AnswerModel {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/** Used if no answer names its model: pi then takes the one that the user chose. */
const UNKNOWN_MODEL: AnswerModel = { api: "unknown", provider: "unknown", model: "unknown" };

/** pi's name of a provider's API, if the event does not say. */
const APIS: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
};

/**
 * The counts of the original requests do not fit this view: pi takes the newest for its context size, and the sum for the
 * session's cost.
 */
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Reads an event's model; null when it names none. */
function answerModelOf({ metadata }: Event): AnswerModel | null {
  const { provider, model } = metadata ?? {};
  if (provider === undefined || model === undefined) return null;
  const api = metadata?.["api"];
  return { api: typeof api === "string" ? api : (APIS[provider] ?? "unknown"), provider, model };
}

function createAnswer(
  events: readonly Event[],
  blocks: readonly RawLine[],
  { api, provider, model }: AnswerModel,
): RawLine {
  const ending = events.map(({ metadata }) => metadata?.["stop_reason"]).find((reason) => reason !== undefined);
  const usual = blocks.some(({ type }) => type === "toolCall") ? "toolUse" : "stop";
  return {
    role: "assistant",
    content: blocks,
    api,
    provider,
    model,
    usage: NO_USAGE,
    stopReason: ending === "length" ? "length" : usual,
  };
}

function callBlock(call: ToolCallRequest, id: string): RawLine {
  const { name, arguments: given, metadata } = call;
  const input = typeof given === "object" && given !== null ? given : { input: given };
  return { type: "toolCall", id, name, arguments: input, ...signature(metadata, "thoughtSignature") };
}

/** The blocks of an answer; `model` = the one that will read it, if known. */
function saidBlocks(event: ChatResponse, model: string | undefined): readonly RawLine[] {
  if (event.reasoning !== undefined) return thinkingBlocks(event, model);
  if (event.message === undefined) return [{ type: "text", text: JSON.stringify(event.data ?? null) }];
  const blocks = blocksOfContent(event.message);
  const [only] = blocks;
  if (blocks.length !== 1 || only?.["type"] !== "text") return blocks;
  return [{ ...only, ...signature(event.metadata, "textSignature") }];
}

/**
 * pi's own reasoning goes back unchanged. Of other agents' only what Anthropic signed: of the rest they do not keep all that pi
 * needs.
 */
function thinkingBlocks(
  { reasoning = "", metadata = {} }: ChatResponse,
  model: string | undefined,
): readonly RawLine[] {
  const { provider, model: maker, encrypted, signature: signed = "" } = metadata;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return [];
  const thinking = plainText(reasoning);
  const isOwn = metadata["api"] !== undefined;
  if (encrypted !== undefined && signed === "" && (isOwn || provider === "anthropic"))
    return [{ type: "thinking", thinking: REDACTED, thinkingSignature: encrypted, redacted: true }];
  if (isOwn) return [{ type: "thinking", thinking, ...signature(metadata, "thinkingSignature") }];
  return provider === "anthropic" && signed !== "" ? [{ type: "thinking", thinking, thinkingSignature: signed }] : [];
}

/** Only pi's own texts and calls have signatures in pi's form. */
function signature(metadata: EventMetadata | undefined, key: string): RawLine {
  const signed = metadata?.signature;
  return signed === undefined || metadata?.["api"] === undefined ? {} : { [key]: signed };
}

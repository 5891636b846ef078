// Writes a view as a session of pi: its header, jpg's side line, the name, the entries. The same export is the same bytes.
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
import {
  type CallPlan,
  formatReminder,
  INTERRUPTED_RESULT,
  planProviderCalls,
  unusedId,
} from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { boundaryName, lineName, lineUuid } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, recordOf } from "../session-source.ts";
import { createOriginBody } from "./entries.ts";
import { blocksOfContent, compactedSummary, contentOfBlocks, harnessContent, REDACTED } from "./events.ts";

/** The version of the format that is written. */
const VERSION = 3;

/** Gives the time at which a session begins, RFC 3339 UTC. */
export function sessionTime({ view }: Pick<SessionDraft, "view">): string {
  return view.turns[0]?.events[0]?.timestamp ?? NO_DATE;
}

/** Gives the text of the session's file. */
export function writePiSession({ view, sessionId, origin, cwd, title, model, sha1 }: SessionDraft): string {
  const timestamp = sessionTime({ view });
  const chain = createEntryChain((name) => lineUuid(sessionId, name, sha1));
  chain.add({ key: "", timestamp, body: createOriginBody(origin, sessionId) });
  if (title !== "") chain.add({ key: "", timestamp, body: { type: "session_info", name: title } });
  addView(chain, view, model);
  const header = { type: "session", version: VERSION, id: sessionId, timestamp, cwd };
  return [header, ...chain.entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

// The entries of an exported session, in one straight chain: every entry's parent is the one before it, so nothing but what was
// written is reachable. Dates come from the events; ids from the events' ids.

/** One entry before it has an id and a parent. */
interface EntryDraft {
  /** What its id is made of: the event's id, or the compaction's; absent = it goes with the entry before it. */
  readonly key?: string;
  /** RFC 3339; absent = that of the entry before. */
  readonly timestamp?: string;
  /** Everything but id, parent and time, perhaps by the id. A message gets the time in milliseconds that it lacks. */
  readonly body: RawLine | ((id: string) => RawLine);
}

/** Collects entries. Holds state on purpose: an entry's parent is the entry before it. */
interface EntryChain {
  readonly add: (draft: EntryDraft) => void;
  readonly entries: readonly RawLine[];
}

/** Creates an empty chain. `lineId` gives the id of an entry's name. */
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

// Puts a view into a chain of pi's entries: an answer is one message, its results follow it, what nobody typed goes back as the
// entry that it was. A summary that the view begins with is a compaction of pi that keeps nothing.

/** Longest id of a call that any API takes, characters. */
const LONGEST_ID = 512;

interface Writer {
  readonly chain: EntryChain;
  readonly plan: CallPlan;
  /** Model that will read it, where that is known. */
  readonly reader: string | undefined;
  /** Model of the newest answer that says who made it. */
  made: AnswerModel;
  /** Events of the answer that is being gathered. */
  open: (ChatResponse | ToolCallRequest)[];
  /** Id of the compaction that put them into the view. */
  compaction: string | undefined;
}

/** Adds all messages of a view; `reader` = the model that will read them, where that is known. */
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

/** Whether nothing was said yet. */
function isFirst({ chain }: Writer): boolean {
  return chain.entries.every(({ type }) => type !== "message" && type !== "custom_message" && type !== "compaction");
}

interface FoundSummary {
  readonly text: string;
  /** What carries it. */
  readonly event: Event;
  /** What else the turn holds. */
  readonly events: readonly Event[];
}

/** The summary that a turn begins with; null when it begins with something else. */
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

/** It keeps nothing of what stands before it: pi says so by the compaction's own id. */
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

/** Writes the answer that was gathered, and the results of its calls. */
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

/** A result that is made up goes with the answer, `key`, that made its call. */
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
  for (const call of calls.filter((one) => plan.results.get(one) === null)) {
    const content = [{ type: "text", text: INTERRUPTED_RESULT }];
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

/** A prompt that was typed while the agent worked is known by its time: before that of the result above it. */
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

/** A message of role `system` has no entry of its own kind; a reminder is what an agent makes of one. */
function asReminder({ role }: ChatRequest, blocks: readonly RawLine[]): readonly RawLine[] {
  if (role !== "system" && role !== "developer") return blocks;
  return blocks.map((block) =>
    typeof block["text"] === "string" ? { ...block, text: formatReminder(block["text"]) } : block,
  );
}

/** The entry that pi itself wrote, where it says what the event says. */
function ownEntry({ content, metadata }: ChatRequest): RawLine | null {
  const entry = metadata?.origin === "harness" ? metadata["entry"] : undefined;
  if (!isRecord(entry)) return null;
  if (JSON.stringify(contentOfBlocks(harnessContent(entry))) !== JSON.stringify(content)) return null;
  const message = recordOf(entry, "message");
  return message?.["role"] === "hookMessage" ? { ...entry, message: { ...message, role: "custom" } } : entry;
}

/** Which model pi takes an answer to be of. */
interface AnswerModel {
  readonly api: string;
  readonly provider: string;
  readonly model: string;
}

/** Of a conversation in which no answer says who made it: pi then takes the model that the user chose. */
const UNKNOWN_MODEL: AnswerModel = { api: "unknown", provider: "unknown", model: "unknown" };

/** What pi calls the API of a provider, where the event does not say. */
const APIS: Readonly<Record<string, string>> = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
};

/**
 * Counts of the original requests say nothing of this view, and pi takes the newest for the size of its context, and all for
 * what the session cost.
 */
const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

/** Reads the model of an event; null when it does not say. */
function answerModelOf({ metadata }: Event): AnswerModel | null {
  const { provider, model } = metadata ?? {};
  if (provider === undefined || model === undefined) return null;
  const api = metadata?.["api"];
  return { api: typeof api === "string" ? api : (APIS[provider] ?? "unknown"), provider, model };
}

/** Creates the message of an answer. */
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

/** The block of a call. */
function callBlock(call: ToolCallRequest, id: string): RawLine {
  const { name, arguments: given, metadata } = call;
  const input = typeof given === "object" && given !== null ? given : { input: given };
  return { type: "toolCall", id, name, arguments: input, ...signature(metadata, "thoughtSignature") };
}

/** The blocks of what was said; `model` = the one that will read it, where that is known. */
function saidBlocks(event: ChatResponse, model: string | undefined): readonly RawLine[] {
  if (event.reasoning !== undefined) return thinkingBlocks(event, model);
  if (event.message === undefined) return [{ type: "text", text: JSON.stringify(event.data ?? null) }];
  const blocks = blocksOfContent(event.message);
  const [only] = blocks;
  if (blocks.length !== 1 || only?.["type"] !== "text") return blocks;
  return [{ ...only, ...signature(event.metadata, "textSignature") }];
}

/** pi's own goes back as it was. Of other agents' only what Anthropic signed: pi needs more of the others than they keep. */
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

/** Only pi's own texts and calls are signed as pi wants it. */
function signature(metadata: EventMetadata | undefined, key: string): RawLine {
  const signed = metadata?.signature;
  return signed === undefined || metadata?.["api"] === undefined ? {} : { [key]: signed };
}

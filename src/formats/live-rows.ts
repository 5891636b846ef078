// A view as the whole context of a running agent, a message at a time: what the agent still has of its own is named by the id of its
// row, the rest is given in full. Nothing is matched by text. Pure.
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type Event,
  isText,
  type Text,
  type ToolCallRequest,
  type ToolCallResponse,
  traitsOf,
  type View,
} from "../core/conversation/event.ts";
import { type CallPairs, pairCalls } from "../core/conversation/tool-pairing.ts";
import { missingResult } from "../core/model/thread.ts";

/** A message that the agent has already: its own row stays unchanged. */
interface KeptRow {
  /** The agent's id of the row. */
  readonly handle: string;
}

export interface LiveCall {
  readonly tool_use_id: string;
  readonly tool: string;
  readonly input: unknown;
}

export interface LiveResult {
  readonly tool_use_id: string;
  readonly text: string;
  readonly isError: boolean;
}

/** A message that is built anew. */
export interface BuiltRow {
  readonly role: "user" | "assistant";
  /** Empty = only calls or results. */
  readonly text: string;
  readonly toolUses: readonly LiveCall[];
  /** Only of user messages. */
  readonly toolResults?: readonly LiveResult[];
}

export type LiveRow = KeptRow | BuiltRow;

export interface LiveContext {
  /** Ids of the rows that the agent has now. */
  readonly handles: ReadonlySet<string>;
  /** The agent's id of the row that an event came from: the event's own, or that of the row's newest copy; undefined = none. */
  readonly handleOf: (event: string) => string | undefined;
  /** Ids of the events that the view shows unchanged. */
  readonly unchanged: ReadonlySet<string>;
  /** The event that comes before one in the session, without what the harness adds; undefined = none. */
  readonly before: (event: string) => string | undefined;
  /**
   * Whether the model works on a turn, so that the context ends in a result: the answers of that turn stay the agent's own rows,
   * since the model's API wants their reasoning back.
   */
  readonly inLoop: boolean;
}

/**
 * Lists the messages of a view. Reasoning, and the reminders that the agent's harness adds by itself, are in none but kept rows. Its
 * other words, such as those of a skill, are built where the agent drops its own row of them.
 */
export function liveRows(view: View, context: LiveContext): readonly LiveRow[] {
  const events = view.turns.flatMap(({ events: own }) => own.filter(isSent));
  const turns = view.turns.map(({ events: own }, index) => ({ index, events: own }));
  const writer = createWriter(
    pairCalls(turns, () => false),
    context,
  );
  const loop = context.inLoop ? startOfLoop(events) : events.length;
  for (const [at, event] of events.entries()) {
    if (event.type === "tool_call_response") writer.addResult(event);
    else if (event.type === "chat_request") writer.addRequest(event);
    else if (at < loop || !writer.keepAnswer(event)) writer.addAnswer(event);
  }
  return writer.end();
}

interface Answer {
  readonly message: string;
  readonly texts: string[];
  readonly calls: ToolCallRequest[];
}

interface RowWriter {
  addRequest(event: ChatRequest): void;
  addAnswer(event: ChatResponse | ToolCallRequest): void;
  addResult(event: ToolCallResponse): void;
  /** Keeps the agent's own row of an answer; false if it has none. */
  keepAnswer(event: ChatResponse | ToolCallRequest): boolean;
  end(): readonly LiveRow[];
}

/** Joins the parts of one answer, and the results that follow it, to one message each. */
function createWriter(pairs: CallPairs, context: LiveContext): RowWriter {
  const rows: LiveRow[] = [];
  const answered = new Set<Event>(pairs.values());
  const kept = new Set<string>();
  let answer: Answer | null = null;
  let results: ToolCallResponse[] = [];
  const flush = (): void => {
    if (answer !== null) appendAnswer(rows, answer, answered);
    if (results.length > 0) rows.push(builtResults(results));
    answer = null;
    results = [];
  };
  const keep = (event: Event): boolean => {
    const handle = keptHandle(event, context);
    if (handle === null) return false;
    flush();
    if (!kept.has(handle)) rows.push({ handle });
    kept.add(handle);
    return true;
  };
  return {
    addRequest: (event) => {
      const isHidden = event.metadata?.["is_meta"] === true;
      if (keep(event) || (event.metadata?.origin === "harness" && !isHidden)) return;
      flush();
      if (isHidden && comesAlong(event, { context, kept, isFirst: rows.length === 0 })) return;
      rows.push({ role: "user", text: textOf(event.content), toolUses: [] });
    },
    addAnswer: (event) => {
      const message = event.metadata?.message_id ?? event.id;
      if (results.length > 0 || answer?.message !== message) flush();
      answer ??= { message, texts: [], calls: [] };
      if (event.type === "tool_call_request") answer.calls.push(event);
      else if (typeof event.message === "string" && event.message !== "") answer.texts.push(event.message);
    },
    addResult: (event) => {
      // Without its call it would be no message at all.
      if (!pairs.has(event)) return;
      if (results.length === 0) flush();
      results.push(event);
    },
    keepAnswer: keep,
    end: () => {
      flush();
      return rows;
    },
  };
}

/** What a model is sent. */
type SentEvent = Extract<
  Event,
  { type: "chat_request" | "chat_response" | "tool_call_request" | "tool_call_response" }
>;

function isSent(event: Event): event is SentEvent {
  return traitsOf(event).providerVisible;
}

/** The position after the last thing that a user said. */
function startOfLoop(events: readonly Event[]): number {
  return events.findLastIndex((event) => event.type === "chat_request" && event.metadata?.origin !== "harness") + 1;
}

/** The row that gives an event unchanged; null where there is none. */
function keptHandle({ id }: Event, { handles, handleOf, unchanged }: LiveContext): string | null {
  const handle = unchanged.has(id) ? handleOf(id) : undefined;
  return handle !== undefined && handles.has(handle) ? handle : null;
}

interface Put {
  readonly context: LiveContext;
  /** Handles of the rows that stay, so far. */
  readonly kept: ReadonlySet<string>;
  readonly isFirst: boolean;
}

/** Whether the agent itself puts its row of hidden words in: it follows a row that stays, or is its context's first. */
function comesAlong({ id }: Event, { context, kept, isFirst }: Put): boolean {
  if (context.handleOf(id) === undefined) return false;
  const before = context.before(id);
  const handle = before === undefined ? undefined : context.handleOf(before);
  return handle !== undefined && context.handles.has(handle) ? kept.has(handle) : isFirst;
}

/** A call without a result gets one in the same words as everywhere, since the model's API wants one. */
function appendAnswer(rows: LiveRow[], { texts, calls }: Answer, answered: ReadonlySet<Event>): void {
  const text = texts.join("\n\n");
  if (text === "" && calls.length === 0) return;
  const toolUses = calls.map(
    ({ call_id, name, arguments: input }): LiveCall => ({ tool_use_id: call_id, tool: name, input }),
  );
  rows.push({ role: "assistant", text, toolUses });
  const missing = calls.filter((call) => !answered.has(call));
  if (missing.length > 0)
    rows.push({ role: "user", text: "", toolUses: [], toolResults: missing.map(interruptedResult) });
}

function interruptedResult({ call_id, metadata }: ToolCallRequest): LiveResult {
  return { tool_use_id: call_id, text: missingResult({ metadata }), isError: true };
}

function builtResults(results: readonly ToolCallResponse[]): BuiltRow {
  const toolResults = results.map(
    ({ call_id, content, is_error }): LiveResult => ({
      tool_use_id: call_id,
      text: textOf(content),
      isError: is_error === true,
    }),
  );
  return { role: "user", text: "", toolUses: [], toolResults };
}

/** The texts of a content, in lines; what is no text is named. */
function textOf(content: Content): string {
  if (isText(content)) return plainText(content);
  return content
    .map((part) => {
      if (part.type === "text") return plainText(part.text);
      if (part.type === "attachment")
        return part.text === undefined ? `[${part.name ?? "attachment"}]` : plainText(part.text);
      return part.type === "opaque" ? "" : `[${part.type}]`;
    })
    .filter((text) => text !== "")
    .join("\n");
}

function plainText(text: Text): string {
  return typeof text === "string" ? text : "";
}

// Puts a view into a chain of pi's entries: an answer is one message, its results follow it, what nobody typed goes back as the
// entry that it was. A summary that the view begins with is a compaction of pi that keeps nothing.
import {
  type ChatRequest,
  type ChatResponse,
  type Event,
  type ProjectedTurn,
  type ToolCallRequest,
  textOfContent,
  type View,
} from "../../core/conversation/event.ts";
import {
  type CallPlan,
  formatReminder,
  INTERRUPTED_RESULT,
  planProviderCalls,
  unusedId,
} from "../../core/model/thread.ts";
import { isRecord, type RawLine, recordOf } from "../json-line.ts";
import { boundaryName } from "../line-names.ts";
import { blocksOfContent, contentOfBlocks } from "./content-parts.ts";
import { harnessContent } from "./events.ts";
import {
  type AnswerModel,
  answerModelOf,
  callBlock,
  createAnswer,
  saidBlocks,
  UNKNOWN_MODEL,
} from "./export-answer.ts";
import type { EntryChain } from "./export-chain.ts";
import { compactedSummary } from "./harness-text.ts";

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
export function addView(chain: EntryChain, view: View, reader: string | undefined): void {
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
  const left = summary?.events ?? turn.events;
  for (const event of left) addEvent(writer, event);
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
      body: { type: "custom_message", customType: "jpg", content: reminded(event, blocks), display: true },
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
function reminded({ role }: ChatRequest, blocks: readonly RawLine[]): readonly RawLine[] {
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

// Puts a view into messages of OpenCode: an answer is one message with its calls and their results, what nobody typed is marked
// as such. A summary that the view begins with is a compaction of OpenCode that keeps nothing.
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
import type { RawLine } from "../json-line.ts";
import { boundaryName } from "../line-names.ts";
import { SUMMARY_QUESTION } from "./events.ts";
import type { MessageChain, OpenCodeModel } from "./export-chain.ts";
import { requestParts, saidParts, toolPart } from "./export-parts.ts";

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
export function addMessages(chain: MessageChain, view: View, reader: string | undefined): void {
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
  readonly told: readonly (ChatResponse | ChatRequest)[];
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
    const told = answers.flatMap((event) => (event.type === "chat_response" ? [event] : []));
    const used = new Set<Event>([request, ...told]);
    return { told, rest: events.filter((event) => !used.has(event)) };
  }
  if (origin.kind !== "summary" || request.metadata?.origin !== "summary") return null;
  return { told: [request], rest: events.filter((event) => event !== request) };
}

/** OpenCode asks for a summary with a message of its own, and knows the answer by its mark. */
function addSummary({ chain, made, reader }: Writer, { told }: FoundSummary, compaction: string): void {
  const timestamp = told[0]?.timestamp ?? "";
  const model = told.map(modelOf).find((one) => one !== null) ?? made;
  chain.addRequest({
    key: boundaryName(compaction),
    timestamp,
    model: made,
    parts: () => [{ type: "compaction", auto: false }],
  });
  const parts = (time: number): readonly RawLine[] =>
    told.flatMap((event) =>
      event.type === "chat_response" ? saidParts(event, reader, time) : requestParts(event.content, false),
    );
  chain.addAnswer({ key: compaction, timestamp, model, parts }, { summary: true });
}

function addEvent(writer: Writer, event: Event): void {
  switch (event.type) {
    case "chat_request":
      closeAnswer(writer);
      if (!introduces(writer.asked, writer.isOpening)) closeRequest(writer);
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
function introduces(asked: readonly ChatRequest[], isOpening: boolean): boolean {
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
  const parts = asked.flatMap((event) => requestParts(reminded(event), !isTyped(event)));
  const queued = asked.some(({ metadata }) => metadata?.origin === "queued");
  const { id, timestamp } = first;
  chain.addRequest({ key: compaction ?? id, timestamp, model: made, parts: () => parts }, { queued });
}

/** Whether a person wrote it: only such messages are shown as prompts. */
function isTyped({ role = "user", metadata }: ChatRequest): boolean {
  return role === "user" && (metadata?.origin === undefined || metadata.origin === "queued");
}

/** Messages have no roles but those of the user and the model; a reminder is what an agent makes of others. */
function reminded({ role = "user", content }: ChatRequest): ChatRequest["content"] {
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

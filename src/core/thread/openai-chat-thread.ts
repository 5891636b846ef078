// A view as the messages of OpenAI Chat Completions, hardened so that the API and compatible servers take them: provider rules
// C1–C8. A turn that is added later changes nothing before it but the last message, which it may lengthen, and the results of
// calls still open there.
import { appendAll } from "../append-all.ts";
import { plainText } from "../event/content.ts";
import type { ChatRequest, ChatResponse, Content, Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import { isSameModelFamily } from "../model/model-family.ts";
import type { View } from "../projection/view.ts";
import { type CallPlan, INTERRUPTED_RESULT, planProviderCalls } from "./call-plan.ts";
import { splitPrompts } from "./leading-prompts.ts";
import { createIdAssignment, toArgumentsText, toToolName } from "./openai-calls.ts";
import { type ChatDraft, createDraft, takes, toAssistantMessage } from "./openai-chat-draft.ts";
import { joinNeighbours } from "./openai-chat-joining.ts";
import { type ChatContent, mediaParts, toTextContent, toToolContent, toUserContent } from "./openai-chat-messages.ts";
import { toPieces } from "./openai-pieces.ts";
import {
  type ItemOrigin,
  type ItemThread,
  itemOrigins,
  type ProviderObject,
  type ThreadItem,
} from "./openai-thread.ts";
import { formatReminder } from "./reminder.ts";
import type { HardeningStep } from "./thread.ts";

export interface OpenAiChatOptions {
  /** The model that will be sent the messages; reasoning of another family is never sent. */
  readonly model?: string;
  /** System prompt; goes before those that the view begins with. */
  readonly system?: string;
  /** Whether reasoning texts are sent as `reasoning_content`, as DeepSeek-like servers take them (default false, C8). */
  readonly reasoning?: boolean;
  /** Whether harness texts are messages of their role; else they are reminders in messages of the user. */
  readonly systemMessages?: boolean;
}

/** Longest id, in characters: some deployments refuse more than 40 ("string too long. Expected … maximum length 40"). */
const MAX_ID = 40;

const CALL_RULES = {
  answers: "all",
  assignId: createIdAssignment({ max: MAX_ID, invalid: "C0", repeated: "C4" }),
  rules: { unanswered: "C1", unasked: "C2", repeated: "C4" },
} as const;

interface Writer {
  readonly plan: CallPlan;
  readonly options: OpenAiChatOptions;
  readonly items: ThreadItem[];
  readonly hardening: HardeningStep[];
  readonly origins: ReadonlyMap<Event, ItemOrigin>;
  draft: ChatDraft | null;
}

/** Renders a view for OpenAI Chat Completions. The same view always gives the same messages. */
export function toOpenAiChatThread(view: View, options: OpenAiChatOptions = {}): ItemThread {
  const plan = planProviderCalls(view, CALL_RULES);
  const origins = itemOrigins(view);
  const { system = "" } = options;
  const items: ThreadItem[] = system.trim() === "" ? [] : [{ events: [], item: { role: "system", content: system } }];
  const writer: Writer = { plan, options, items, hardening: [...plan.hardening], origins, draft: null };
  const { prompts, rest } = splitPrompts(view);
  for (const { events } of [{ events: prompts }, ...rest.turns]) {
    for (const event of events) addEvent(writer, event, originOf(writer, event));
    endMessage(writer);
  }
  return { items: joinNeighbours(items), hardening: writer.hardening };
}

function originOf({ origins }: Writer, event: Event): ItemOrigin {
  return origins.get(event) ?? { events: [event.id] };
}

function addEvent(writer: Writer, event: Event, origin: ItemOrigin): void {
  switch (event.type) {
    case "chat_request":
      endMessage(writer);
      addRequest(writer, event, origin);
      break;
    case "chat_response":
      if (event.reasoning === undefined) addText(writer, event, origin);
      else addReasoning(writer, event, origin);
      break;
    case "tool_call_request":
      addCall(writer, event, origin);
      break;
    case "tool_call_response":
      if (writer.plan.calls.has(event) && writer.draft?.calls.length) endMessage(writer);
      break;
    default: // what no model is sent
  }
}

function addRequest(writer: Writer, event: ChatRequest, origin: ItemOrigin): void {
  const { role = "user", content } = event;
  const isReminder = event.metadata?.origin === "harness" && writer.options.systemMessages !== true;
  const asUser = role === "user" || isReminder;
  const frame = role !== "user" && isReminder ? formatReminder : undefined;
  const media = asUser ? [] : mediaParts(toPieces(content));
  const { content: sent, isCut } = asUser ? toUserContent(content, frame) : toTextContent(content);
  report(writer, event, { content: sent, isCut });
  if (sent !== null) writer.items.push({ ...origin, item: { role: asUser ? "user" : role, content: sent } });
  if (media.length > 0) writer.items.push({ ...origin, item: { role: "user", content: media } });
}

function addReasoning(writer: Writer, event: ChatResponse, origin: ItemOrigin): void {
  const text = plainText(event.reasoning ?? "");
  if (!isReadable(writer, event) || text.trim() === "") {
    drop(writer, event, "C8");
    return;
  }
  const draft = openDraft(writer, "reasoning", event);
  writer.draft = { ...draft, reasoning: [...draft.reasoning, { event: event.id, origin, text }] };
}

function isReadable({ options }: Writer, { metadata }: ChatResponse): boolean {
  if (options.reasoning !== true) return false;
  return (
    options.model === undefined || metadata?.model === undefined || isSameModelFamily(options.model, metadata.model)
  );
}

function addText(writer: Writer, event: ChatResponse, origin: ItemOrigin): void {
  const content: Content = event.message ?? JSON.stringify(event.data ?? null);
  const sent = toTextContent(content);
  report(writer, event, sent, "C5");
  if (typeof sent.content !== "string") return;
  if (writer.draft?.calls.length) writer.hardening.push({ rule: "C3", event: event.id, action: "changed" });
  writer.draft = { ...openDraft(writer, "text", event), said: { text: sent.content, origin } };
}

function addCall(writer: Writer, event: ToolCallRequest, origin: ItemOrigin): void {
  const id = writer.plan.ids.get(event);
  if (id === undefined) return;
  const { text, isChanged } = toArgumentsText(event);
  const name = toToolName(event.name);
  if (isChanged) writer.hardening.push({ rule: "C6", event: event.id, action: "changed" });
  if (name !== event.name) writer.hardening.push({ rule: "C0", event: event.id, action: "changed" });
  const draft = openDraft(writer, "call", event);
  const toolCall = { id, type: "function", function: { name, arguments: text } };
  writer.draft = { ...draft, calls: [...draft.calls, { request: event, origin, toolCall }] };
}

/** The draft that takes an event of the assistant: the one at hand, or a new one. */
function openDraft(writer: Writer, what: "reasoning" | "text" | "call", event: Event): ChatDraft {
  const messageId = event.metadata?.message_id;
  if (writer.draft !== null && takes(writer.draft, what, messageId)) return writer.draft;
  endMessage(writer);
  return createDraft(messageId);
}

/** Ends the assistant's message; the results of its calls follow in the order of the calls, then their media. */
function endMessage(writer: Writer): void {
  const { draft } = writer;
  writer.draft = null;
  if (draft === null) return;
  const message = toAssistantMessage(draft);
  if (message === null) for (const { event } of draft.reasoning) drop(writer, { id: event }, "C5");
  else writer.items.push(message);
  const media = draft.calls.flatMap(({ request }) => addResult(writer, request));
  appendAll(writer.items, media);
}

/** Adds the `tool` message of a call; gives the messages that show the media of its result. */
function addResult(writer: Writer, call: ToolCallRequest): readonly ThreadItem[] {
  const result: ToolCallResponse | null = writer.plan.results.get(call) ?? null;
  const tool = { role: "tool", tool_call_id: writer.plan.ids.get(call) };
  if (result === null) {
    writer.hardening.push({ rule: "C1", action: "added" });
    writer.items.push({ events: [], item: { ...tool, content: INTERRUPTED_RESULT } });
    return [];
  }
  const { content, media, isCut } = toToolContent(result.content);
  if (isCut) writer.hardening.push({ rule: "C0", event: result.id, action: "changed" });
  const origin = originOf(writer, result);
  writer.items.push({ ...origin, item: { ...tool, content } });
  return media.length === 0 ? [] : [{ ...origin, item: userMessage(media) }];
}

function userMessage(content: readonly ProviderObject[]): ProviderObject {
  return { role: "user", content };
}

function report(writer: Writer, event: Event, { content, isCut }: ChatContent, rule = "C0"): void {
  if (content === null) drop(writer, event, rule);
  else if (isCut) writer.hardening.push({ rule: "C0", event: event.id, action: "changed" });
}

function drop(writer: Writer, { id }: Pick<Event, "id">, rule: string): void {
  writer.hardening.push({ rule, event: id, action: "dropped" });
}

// A view as the input items of OpenAI's Responses API, hardened so that the API takes them: provider rules R1, R2, R6–R8. No
// item of ours has an id, so R4 and R5 never bite. Results stand where they were recorded, but before what the user says next.
import type { ChatRequest, ChatResponse, Content, Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { type CallPlan, INTERRUPTED_RESULT, planProviderCalls } from "./call-plan.ts";
import { createIdAssignment, isCustomCall, toArgumentsText, toCustomInput, toToolName } from "./openai-calls.ts";
import {
  isCompactionItem,
  type ResponsesContent,
  toCallOutput,
  toInputContent,
  toOutputContent,
  toReasoningItem,
} from "./openai-responses-items.ts";
import {
  type ItemOrigin,
  type ItemThread,
  itemOrigins,
  type ProviderObject,
  type ThreadItem,
} from "./openai-thread.ts";
import { formatReminder } from "./reminder.ts";
import type { HardeningStep } from "./thread.ts";

export interface OpenAiResponsesOptions {
  /** The model that will be sent the items; reasoning of another family is left out. */
  readonly model?: string;
  /** Whether harness texts are messages of their role; else they are reminders in messages of the user. */
  readonly systemMessages?: boolean;
  /** Makes the item of reasoning, or none; absent = what OpenAI encrypted goes back, without its summary. */
  readonly reasoningItem?: (event: ChatResponse, model: string | undefined) => ProviderObject | undefined;
  /** Whether OpenAI's own compaction stays where it was recorded; else it goes before everything that a model made (R8). */
  readonly compactionsStay?: boolean;
}

/** Longest call id, in characters ("Invalid 'input[…].call_id': string too long … maximum length 64"). */
const MAX_ID = 64;

const CALL_RULES = {
  answers: "all",
  assignId: createIdAssignment({ max: MAX_ID, invalid: "R0", repeated: "R1" }),
  rules: { unanswered: "R1", unasked: "R2", repeated: "R2" },
} as const;

interface Writer {
  readonly plan: CallPlan;
  readonly options: OpenAiResponsesOptions;
  readonly items: ThreadItem[];
  readonly hardening: HardeningStep[];
  /** Calls of the turn whose outputs have not been placed yet, in order. */
  readonly open: Set<ToolCallRequest>;
  readonly origins: ReadonlyMap<Event, ItemOrigin>;
}

/** Renders a view for OpenAI's Responses API. The same view always gives the same items. */
export function toOpenAiResponsesThread(view: View, options: OpenAiResponsesOptions = {}): ItemThread {
  const plan = planProviderCalls(view, CALL_RULES);
  const origins = itemOrigins(view);
  const writer: Writer = { plan, options, items: [], hardening: [...plan.hardening], open: new Set(), origins };
  for (const turn of view.turns) {
    for (const event of turn.events) addEvent(writer, event, originOf(writer, event));
    placeOutputs(writer);
  }
  return { items: writer.items, hardening: writer.hardening };
}

function originOf({ origins }: Writer, event: Event): ItemOrigin {
  return origins.get(event) ?? { events: [event.id] };
}

function addEvent(writer: Writer, event: Event, origin: ItemOrigin): void {
  switch (event.type) {
    case "chat_request":
      placeOutputs(writer);
      addRequest(writer, event, origin);
      break;
    case "chat_response":
      addResponse(writer, event, origin);
      break;
    case "tool_call_request":
      addCall(writer, event, origin);
      break;
    case "tool_call_response":
      addRecordedOutput(writer, event);
      break;
    default: // what no model is sent
  }
}

function addRequest(writer: Writer, event: ChatRequest, origin: ItemOrigin): void {
  const { role = "user", content } = event;
  const isReminder = event.metadata?.origin === "harness" && writer.options.systemMessages !== true;
  const frame = role !== "user" && isReminder ? formatReminder : undefined;
  const sent = toInputContent(content, frame);
  report(writer, event, sent);
  const isShared = role === "user" || isReminder;
  // Only messages of the user hold media.
  const [own, media] = isShared ? [sent.parts, []] : splitMedia(sent.parts);
  addMessage(writer, isShared ? "user" : role, own, origin);
  addMessage(writer, "user", media, origin);
  addVerbatim(writer, event, sent.items, origin);
}

function splitMedia(parts: readonly ProviderObject[]): readonly [readonly ProviderObject[], readonly ProviderObject[]] {
  const isTextPart = (part: ProviderObject): boolean => part["type"] === "input_text";
  return [parts.filter(isTextPart), parts.filter((part) => !isTextPart(part))];
}

function addMessage(writer: Writer, role: string, content: readonly ProviderObject[], origin: ItemOrigin): void {
  if (content.length > 0) writer.items.push({ ...origin, item: { type: "message", role, content } });
}

function addResponse(writer: Writer, event: ChatResponse, origin: ItemOrigin): void {
  if (event.reasoning !== undefined) {
    const { model, reasoningItem = toReasoningItem } = writer.options;
    const item = reasoningItem(event, model);
    if (item === undefined) drop(writer, event, "R7");
    else writer.items.push({ ...origin, item });
    return;
  }
  const content: Content = event.message ?? JSON.stringify(event.data ?? null);
  const sent = toOutputContent(content);
  report(writer, event, sent);
  if (sent.parts.length > 0) {
    const item = { type: "message", role: "assistant", content: sent.parts, ...phaseOf(event) };
    writer.items.push({ ...origin, item });
  }
  addVerbatim(writer, event, sent.items, origin);
}

/** Newer models want back which of their messages were commentary and which the answer. */
function phaseOf({ metadata }: ChatResponse): ProviderObject {
  const phase = metadata?.["phase"];
  return metadata?.provider === "openai" && (phase === "commentary" || phase === "final_answer") ? { phase } : {};
}

/** Adds items as OpenAI gave them; its own compaction goes before everything that a model made (R8). */
function addVerbatim(writer: Writer, event: Event, items: readonly ProviderObject[], origin: ItemOrigin): void {
  for (const item of items) {
    const moves = isCompactionItem(item) && writer.options.compactionsStay !== true;
    const first = moves ? writer.items.findIndex((other) => isMadeByModel(other.item)) : -1;
    if (first === -1) writer.items.push({ ...origin, item });
    else {
      writer.hardening.push({ rule: "R8", event: event.id, action: "changed" });
      writer.items.splice(first, 0, { ...origin, item });
    }
  }
}

function isMadeByModel(item: ProviderObject): boolean {
  if (isCompactionItem(item)) return false;
  return item["type"] !== "message" || item["role"] === "assistant";
}

function addCall(writer: Writer, event: ToolCallRequest, origin: ItemOrigin): void {
  const call_id = writer.plan.ids.get(event);
  if (call_id === undefined) return;
  const name = toToolName(event.name);
  if (name !== event.name) writer.hardening.push({ rule: "R0", event: event.id, action: "changed" });
  writer.open.add(event);
  if (isCustomCall(event)) {
    writer.items.push({ ...origin, item: { type: "custom_tool_call", call_id, name, input: toCustomInput(event) } });
    return;
  }
  const { text, isChanged } = toArgumentsText(event);
  if (isChanged) writer.hardening.push({ rule: "R0", event: event.id, action: "changed" });
  writer.items.push({ ...origin, item: { type: "function_call", call_id, name, arguments: text } });
}

function addRecordedOutput(writer: Writer, result: ToolCallResponse): void {
  const call = writer.plan.calls.get(result);
  if (call !== undefined && writer.open.has(call)) placeOutput(writer, call);
}

/** Places the outputs of the calls still open, in the order of the calls. */
function placeOutputs(writer: Writer): void {
  for (const call of writer.open) placeOutput(writer, call);
}

function placeOutput(writer: Writer, call: ToolCallRequest): void {
  writer.open.delete(call);
  const result = writer.plan.results.get(call) ?? null;
  const type = isCustomCall(call) ? "custom_tool_call_output" : "function_call_output";
  const call_id = writer.plan.ids.get(call);
  if (result === null) {
    writer.hardening.push({ rule: "R1", action: "added" });
    writer.items.push({ events: [], item: { type, call_id, output: INTERRUPTED_RESULT } });
    return;
  }
  const { output, isCut } = toCallOutput(result.content);
  if (isCut) writer.hardening.push({ rule: "R0", event: result.id, action: "changed" });
  const origin = originOf(writer, result);
  writer.items.push({ ...origin, item: { type, call_id, output } });
}

function report(writer: Writer, event: Event, { parts, items, rules }: ResponsesContent): void {
  const action = parts.length + items.length === 0 ? "dropped" : "changed";
  for (const rule of rules) writer.hardening.push({ rule, event: event.id, action });
}

function drop(writer: Writer, { id }: Pick<Event, "id">, rule: string): void {
  writer.hardening.push({ rule, event: id, action: "dropped" });
}

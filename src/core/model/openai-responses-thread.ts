// A view as the input items of OpenAI's Responses API, hardened so that the API accepts them: provider rules R1, R2, R6–R8. No item of ours
// has an id, so R4 and R5 never apply. Results stay where they were recorded; the one of a call that has none follows it directly.
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type Event,
  isText,
  plainText,
  type ToolCallRequest,
  type ToolCallResponse,
  type View,
} from "../conversation/event.ts";
import { joinContinued } from "./continued-texts.ts";
import { isSameModelFamily, modelFamily } from "./model-name.ts";
import { checkOpenAiResponses } from "./openai-responses-rules.ts";
import {
  type ContentPiece,
  createIdAssignment,
  type ItemOrigin,
  type ItemThread,
  isCustomCall,
  itemOrigins,
  nameOf,
  type ProviderObject,
  type ThreadItem,
  toArgumentsText,
  toCustomInput,
  toPieces,
  toToolName,
} from "./openai-thread.ts";
import { type CallPlan, formatReminder, type HardeningStep, missingResult, planProviderCalls } from "./thread.ts";

export interface OpenAiResponsesOptions {
  /** The model that will be sent the items; reasoning of another family is left out. */
  readonly model?: string;
  /** Whether harness texts are messages of their role; else they are reminders in messages of the user. */
  readonly systemMessages?: boolean;
  /** Makes the item of reasoning, or none; absent = OpenAI's encrypted reasoning is sent back, without its summary. */
  readonly reasoningItem?: (event: ChatResponse, model: string | undefined) => ProviderObject | undefined;
  /** Whether OpenAI's own compaction stays where it was recorded; else it is moved before everything that a model made (R8). */
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
  /** Calls whose outputs have not been placed yet, in order. */
  readonly open: Set<ToolCallRequest>;
  readonly origins: ReadonlyMap<Event, ItemOrigin>;
}

/** Renders a view for OpenAI's Responses API. The same view always gives the same items. */
export function toOpenAiResponsesThread(whole: View, options: OpenAiResponsesOptions = {}): ItemThread {
  const view = joinContinued(whole);
  const plan = planProviderCalls(view, CALL_RULES);
  const origins = itemOrigins(view);
  const writer: Writer = { plan, options, items: [], hardening: [...plan.hardening], open: new Set(), origins };
  for (const turn of view.turns) {
    for (const event of turn.events) addEvent(writer, event, originOf(writer, event));
  }
  for (const call of writer.open) placeOutput(writer, call);
  return { items: writer.items, hardening: writer.hardening };
}

function originOf({ origins }: Writer, event: Event): ItemOrigin {
  return origins.get(event) ?? { events: [event.id] };
}

function addEvent(writer: Writer, event: Event, origin: ItemOrigin): void {
  switch (event.type) {
    case "chat_request":
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
    default: // not sent to models
  }
}

function addRequest(writer: Writer, event: ChatRequest, origin: ItemOrigin): void {
  const { role = "user", content } = event;
  const isReminder = event.metadata?.origin === "harness" && writer.options.systemMessages !== true;
  const frame = role !== "user" && isReminder ? formatReminder : undefined;
  const sent = toInputContent(content, frame);
  report(writer, event, sent);
  const isShared = role === "user" || isReminder;
  // Only messages of the user can contain media.
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

/** Newer models need to be told which of their messages were commentary and which the answer. */
function phaseOf({ metadata }: ChatResponse): ProviderObject {
  const phase = metadata?.["phase"];
  return metadata?.provider === "openai" && (phase === "commentary" || phase === "final_answer") ? { phase } : {};
}

/** Adds items as OpenAI gave them; moves its own compaction before everything that a model made (R8). */
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
  } else {
    const { text, isChanged } = toArgumentsText(event);
    if (isChanged) writer.hardening.push({ rule: "R0", event: event.id, action: "changed" });
    writer.items.push({ ...origin, item: { type: "function_call", call_id, name, arguments: text } });
  }
  if (writer.plan.results.get(event) === null) placeOutput(writer, event);
}

function addRecordedOutput(writer: Writer, result: ToolCallResponse): void {
  const call = writer.plan.calls.get(result);
  if (call !== undefined && writer.open.has(call)) placeOutput(writer, call);
}

function placeOutput(writer: Writer, call: ToolCallRequest): void {
  writer.open.delete(call);
  const result = writer.plan.results.get(call) ?? null;
  const type = isCustomCall(call) ? "custom_tool_call_output" : "function_call_output";
  const call_id = writer.plan.ids.get(call);
  if (result === null) {
    writer.hardening.push({ rule: "R1", action: "added" });
    writer.items.push({ events: [], item: { type, call_id, output: missingResult(call) } });
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

// Content of events as parts and items of the Responses API. What OpenAI gave is sent back unchanged: a part inside its message, anything
// else as an item of its own.

/** Types of parts, which are no items. */
const PART_TYPE = /^(?:(?:input|output)_(?:text|image|file|audio)|refusal)$/;
/** Items whose id only binds them to the reasoning before it, which is sent without (R5, R7). */
const NEEDS_NO_ID: ReadonlySet<string> = new Set(["message", "web_search_call"]);
const OPENAI_FAMILY = /^(?:gpt|chatgpt|codex|o\d)/;

/** A piece that we made ourselves. */
type PlainPiece = Exclude<ContentPiece, { readonly type: "opaque" | "foreign" }>;

/** A content as the API takes it. */
interface ResponsesContent {
  readonly parts: readonly ProviderObject[];
  /** Items of their own. */
  readonly items: readonly ProviderObject[];
  /** Rules that caused something to be left out, in order. */
  readonly rules: readonly string[];
}

/** Content of the user's or a system message; `frame` is put around each text. */
export function toInputContent(content: Content, frame: (text: string) => string = (text) => text): ResponsesContent {
  return toContent(content, "user", (piece) => inputPart(piece, frame));
}

/** Content of the assistant's message: text; media are named. */
function toOutputContent(content: Content): ResponsesContent {
  return toContent(content, "assistant", (piece) => ({ type: "output_text", text: nameOf(piece) }));
}

/** The output of a call: a text, which may be empty, or parts if it has media. */
function toCallOutput(content: Content): {
  readonly output: string | readonly ProviderObject[];
  readonly isCut: boolean;
} {
  if (isText(content)) return { output: plainText(content), isCut: false };
  const { parts, items, rules } = toInputContent(content);
  const isCut = items.length + rules.length > 0;
  if (parts.some((part) => part["type"] !== "input_text")) return { output: parts, isCut };
  return { output: parts.map((part) => part["text"]).join("\n"), isCut };
}

/** Reasoning as an item without id; absent when it is not OpenAI's own or another model's (R7). */
function toReasoningItem({ metadata }: ChatResponse, model: string | undefined): ProviderObject | undefined {
  const { provider, model: maker, encrypted } = metadata ?? {};
  const isOwn = provider === "openai" || (provider === undefined && OPENAI_FAMILY.test(modelFamily(maker ?? "")));
  if (!isOwn || encrypted === undefined || encrypted === "") return undefined;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return undefined;
  return { type: "reasoning", summary: [], encrypted_content: encrypted };
}

/** Whether it is OpenAI's own, opaque summary of what precedes it (R8). */
function isCompactionItem(item: ProviderObject): boolean {
  return item["type"] === "compaction" || item["type"] === "compaction_summary";
}

function toContent(
  content: Content,
  role: "user" | "assistant",
  toPart: (piece: PlainPiece) => ProviderObject,
): ResponsesContent {
  const pieces = toPieces(content);
  const sent = pieces.map((piece) => toSent(piece, role, toPart));
  const rules = sent.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const hasBlank = !isText(content) && pieces.length < content.length;
  return {
    parts: sent.flatMap(({ part }) => (part === undefined ? [] : [part])),
    items: sent.flatMap(({ item }) => (item === undefined ? [] : [item])),
    rules: hasBlank || pieces.length === 0 ? [...rules, "R0"] : rules,
  };
}

/** What a piece becomes: a part, an item of its own, or nothing because of a rule. */
interface SentPiece {
  readonly part?: ProviderObject;
  readonly item?: ProviderObject;
  readonly rule?: string;
}

function toSent(
  piece: ContentPiece,
  role: "user" | "assistant",
  toPart: (piece: PlainPiece) => ProviderObject,
): SentPiece {
  if (piece.type === "foreign") return { rule: "R7" };
  if (piece.type !== "opaque") return { part: toPart(piece) };
  const type = String(piece.value["type"]);
  if (PART_TYPE.test(type)) {
    const rule = refusalOf({ role, content: [piece.value] });
    return rule === undefined ? { part: piece.value } : { rule };
  }
  if (type === "reasoning" || type === "item_reference") return { rule: "R7" };
  const item = NEEDS_NO_ID.has(type) ? withoutId(piece.value) : piece.value;
  const rule = refusalOf(item);
  return rule === undefined ? { item } : { rule };
}

/** The first rule that an item breaks by itself: half of a pair breaks R1 or R2. Images are checked elsewhere. */
function refusalOf(item: ProviderObject): string | undefined {
  return checkOpenAiResponses([item]).find(({ rule, severity }) => severity === "error" && rule !== "R11")?.rule;
}

function withoutId({ id: _, ...item }: ProviderObject): ProviderObject {
  return item;
}

function inputPart(piece: PlainPiece, frame: (text: string) => string): ProviderObject {
  switch (piece.type) {
    case "text":
      return { type: "input_text", text: frame(piece.text) };
    case "image":
      return { type: "input_image", image_url: piece.url };
    case "file":
      return piece.data === undefined
        ? { type: "input_file", file_url: piece.url }
        : { type: "input_file", filename: piece.name, file_data: piece.data };
  }
}

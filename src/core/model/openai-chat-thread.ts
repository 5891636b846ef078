// A view as the messages of OpenAI Chat Completions, hardened so that the API and compatible servers accept them: provider rules C1–C8. A
// turn added later changes nothing before it except the last message, which it may lengthen, and the results of calls still open there.
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
import { appendAll } from "../lists.ts";
import { joinContinued } from "./continued-texts.ts";
import { isSameModelFamily } from "./model-name.ts";
import {
  type ContentPiece,
  createIdAssignment,
  type ItemOrigin,
  type ItemThread,
  itemOrigins,
  joinOrigins,
  joinPieces,
  nameOf,
  type ProviderObject,
  type ThreadItem,
  toArgumentsText,
  toPieces,
  toToolName,
} from "./openai-thread.ts";
import {
  type CallPlan,
  formatReminder,
  type HardeningStep,
  missingResult,
  planProviderCalls,
  splitPrompts,
} from "./thread.ts";

export interface OpenAiChatOptions {
  /** The model that will be sent the messages; reasoning of another family is never sent. */
  readonly model?: string;
  /** System prompt; precedes those that the view begins with. */
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
export function toOpenAiChatThread(whole: View, options: OpenAiChatOptions = {}): ItemThread {
  const view = joinContinued(whole);
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
    default: // not sent to models
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

/** The draft that takes an event of the assistant: the current one, or a new one. */
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

/** Adds the `tool` message of a call; returns the messages that show the media of its result. */
function addResult(writer: Writer, call: ToolCallRequest): readonly ThreadItem[] {
  const result: ToolCallResponse | null = writer.plan.results.get(call) ?? null;
  const tool = { role: "tool", tool_call_id: writer.plan.ids.get(call) };
  if (result === null) {
    writer.hardening.push({ rule: "C1", action: "added" });
    writer.items.push({ events: [], item: { ...tool, content: missingResult(call) } });
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

/** A call as it will be in the message. */
interface DraftCall {
  readonly request: ToolCallRequest;
  readonly origin: ItemOrigin;
  readonly toolCall: ProviderObject;
}

/** A reasoning text of the message. */
interface DraftReasoning {
  readonly event: string;
  readonly origin: ItemOrigin;
  readonly text: string;
}

export interface ChatDraft {
  readonly messageId: string | undefined;
  readonly reasoning: readonly DraftReasoning[];
  /** What the message says; `null` while it says nothing. */
  readonly said: { readonly text: string; readonly origin: ItemOrigin } | null;
  readonly calls: readonly DraftCall[];
}

/** Creates an empty draft, with its provider's message id if known. */
export function createDraft(messageId: string | undefined): ChatDraft {
  return { messageId, reasoning: [], said: null, calls: [] };
}

/** Whether part of a message with that id may be joined to the draft: a text only to a draft without one. */
export function takes(draft: ChatDraft, what: "reasoning" | "text" | "call", messageId: string | undefined): boolean {
  const isSame = messageId === draft.messageId || messageId === undefined || draft.messageId === undefined;
  if (!isSame) return false;
  return what === "call" || (draft.calls.length === 0 && draft.said === null);
}

/** The finished message; `null` for one with only reasoning, which the API does not accept (C5). */
export function toAssistantMessage({ reasoning, said, calls }: ChatDraft): ThreadItem | null {
  if (said === null && calls.length === 0) return null;
  const thoughts = reasoning.map(({ text }) => text).join("\n");
  const origins = [...reasoning, ...(said === null ? [] : [said]), ...calls].map(({ origin }) => origin);
  const item = {
    role: "assistant",
    // The API accepts null as well, some compatible servers do not.
    content: said?.text ?? "",
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ toolCall }) => toolCall) }),
  };
  return { ...joinOrigins(origins), item };
}

// Neighbours of one role become one message: many compatible servers want the roles to alternate (C7). A tool message is never joined, nor
// anything across one.

/** Joins consecutive messages of one role: texts with a blank line between, parts and calls concatenated. */
function joinNeighbours(items: readonly ThreadItem[]): readonly ThreadItem[] {
  const runs: ThreadItem[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (run !== undefined && isJoined(run[0], item)) run.push(item);
    else runs.push([item]);
  }
  return runs.flatMap((run) => (run.length === 1 ? run : [joinRun(run)]));
}

function isJoined(before: ThreadItem | undefined, { item }: ThreadItem): boolean {
  return item["role"] !== "tool" && item["role"] === before?.item["role"];
}

function joinRun(run: readonly ThreadItem[]): ThreadItem {
  const calls = run.flatMap(({ item }) => (item["tool_calls"] as readonly ProviderObject[] | undefined) ?? []);
  const thoughts = run.flatMap(({ item }) => (item["reasoning_content"] as string | undefined) ?? []);
  const item = {
    ...run[0]?.item,
    content: joinContents(run.map(({ item: { content } }) => content as JoinedContent)),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join("\n") }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return { ...joinOrigins(run), item };
}

type JoinedContent = string | readonly ProviderObject[];

/** A text if all are texts; a message without content has no parts. */
function joinContents(contents: readonly JoinedContent[]): JoinedContent {
  const texts = contents.filter((content) => typeof content === "string");
  if (texts.length === contents.length) return texts.filter((text) => text !== "").join("\n\n");
  return contents.flatMap((content) => (typeof content === "string" ? [{ type: "text", text: content }] : content));
}

/** Part types of user messages that are passed on as OpenAI gave them. */
const USER_PARTS: ReadonlySet<unknown> = new Set(["text", "image_url", "input_audio", "file"]);
/** Precedes the media of a tool's result, which a tool message cannot contain. */
const MEDIA_OF_RESULT = "[Media of the tool result above]";

/** A content, or none when nothing of it can be sent; `isCut` when something was left out. */
interface ChatContent {
  readonly content: string | readonly ProviderObject[] | null;
  readonly isCut: boolean;
}

/** Content of a user message; `frame` is put around each text. */
export function toUserContent(content: Content, frame: (text: string) => string = asIs): ChatContent {
  const pieces = toPieces(content);
  const parts = pieces.flatMap((piece) => toUserPart(piece, frame));
  const isCut = parts.length < partCount(content);
  const [only] = parts;
  if (only === undefined) return { content: null, isCut };
  return { content: parts.length === 1 && only["type"] === "text" ? String(only["text"]) : parts, isCut };
}

/** Content of a system, developer or assistant message: text; media are named. */
export function toTextContent(content: Content): ChatContent {
  const pieces = toPieces(content);
  const text = joinPieces(pieces);
  const isCut = pieces.filter((piece) => nameOf(piece) !== "").length < partCount(content);
  return { content: text === "" ? null : text, isCut };
}

/** Content of a tool message, which may be empty, and the media that a user message must show instead. */
export function toToolContent(content: Content): {
  readonly content: string;
  readonly media: readonly ProviderObject[];
  readonly isCut: boolean;
} {
  if (isText(content)) return { content: plainText(content), media: [], isCut: false };
  const pieces = toPieces(content);
  const shown = mediaParts(pieces);
  const media = shown.length === 0 ? [] : [{ type: "text", text: MEDIA_OF_RESULT }, ...shown];
  return { content: joinPieces(pieces), media, isCut: pieces.some((piece) => nameOf(piece) === "") };
}

/** The images and files among pieces, as parts of a user message. */
export function mediaParts(pieces: readonly ContentPiece[]): readonly ProviderObject[] {
  const media = pieces.filter(({ type }) => type === "image" || type === "file");
  return media.flatMap((piece) => toUserPart(piece, asIs)).filter((part) => part["type"] !== "text");
}

function toUserPart(piece: ContentPiece, frame: (text: string) => string): readonly ProviderObject[] {
  switch (piece.type) {
    case "text":
      return [{ type: "text", text: frame(piece.text) }];
    case "image":
      return [{ type: "image_url", image_url: { url: piece.url } }];
    case "file":
      // The API takes files as data only, and only PDF everywhere.
      return piece.data?.startsWith("data:application/pdf;") === true
        ? [{ type: "file", file: { filename: piece.name, file_data: piece.data } }]
        : [{ type: "text", text: nameOf(piece) }];
    case "opaque":
      return USER_PARTS.has(piece.value["type"]) ? [piece.value] : [];
    case "foreign":
      return [];
  }
}

function asIs(text: string): string {
  return text;
}

function partCount(content: Content): number {
  return isText(content) ? 1 : content.length;
}

// A view as the message list of the Anthropic Messages API, hardened so that the API accepts it: provider rules A1–A16, A19. Everything
// left out, changed or added is listed with its rule; the same view always gives the same list.
import {
  type ChatRequest,
  type ChatResponse,
  type Event,
  mediaOf,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import {
  type CallPlan,
  type ContentBlock,
  findServerCalls,
  isWholeServerCall,
  planCalls,
  type ServerCalls,
  toBlocks,
  toResultContent,
  toThinkingBlock,
} from "./anthropic-blocks.ts";
import { joinContinued } from "./continued-texts.ts";
import {
  type BlockOrigin,
  blockOrigins,
  formatReminder,
  type HardeningStep,
  missingResult,
  type Thread,
  type ThreadBlock,
  type ThreadMessage,
} from "./thread.ts";

export interface AnthropicOptions {
  /** The model that will be sent the thread; without it all reasoning with a signature stays. */
  readonly model?: string;
  /** Whether the model takes role `system` inside the list; else harness texts become reminders in the user's messages. */
  readonly systemMessages?: boolean;
  /** Whether the thread is sent as it is, so that it must end with the user; default false: a request will follow. */
  readonly complete?: boolean;
  /** Whether references to tools in results stay, because the reader knows which tools it offers; default false. */
  readonly toolReferences?: boolean;
}

interface Writer {
  readonly plan: CallPlan;
  readonly builder: MessageBuilder;
  readonly hardening: HardeningStep[];
  readonly model: string | undefined;
  readonly toolReferences: boolean;
  /** Ids of assistant messages that are sent more than reasoning. */
  readonly spoken: ReadonlySet<string>;
  readonly serverCalls: ServerCalls;
  /** Names the origin of each event's blocks. */
  readonly origins: ReadonlyMap<Event, BlockOrigin>;
}

/** Renders a view for the Anthropic Messages API. */
export function toAnthropicThread(whole: View, options: AnthropicOptions = {}): Thread {
  const view = joinContinued(whole);
  const plan = planCalls(view);
  const hardening: HardeningStep[] = [...plan.hardening];
  const origins = blockOrigins(view);
  const serverCalls = findServerCalls(view);
  const resultsOf = (calls: readonly ToolCallRequest[]): readonly ThreadBlock[] => resultBlocks(writer, calls);
  const builder = createMessageBuilder(resultsOf, { systemMessages: options.systemMessages ?? false, hardening });
  const writer: Writer = {
    plan,
    builder,
    hardening,
    model: options.model,
    toolReferences: options.toolReferences ?? false,
    spoken: findSpokenMessages(view, plan, serverCalls),
    serverCalls,
    origins,
  };
  for (const event of origins.keys()) addEvent(writer, event);
  const messages = hardenEnds(finishMessages(builder), hardening);
  return { messages: options.complete === true ? endWithUser(messages, hardening) : messages, hardening };
}

function addEvent(writer: Writer, event: Event): void {
  switch (event.type) {
    case "chat_request":
      addRequest(writer, event);
      break;
    case "chat_response":
      addResponse(writer, event);
      break;
    case "tool_call_request":
      addToolCall(writer, event);
      break;
    case "tool_call_response":
      if (writer.plan.calls.has(event)) placeResults(writer.builder);
      break;
    default: // not sent to models
  }
}

function addRequest(writer: Writer, event: ChatRequest): void {
  if (event.role === "system" || event.role === "developer") {
    const text = textOfContent(event.content);
    const media = mediaOf(event.content);
    if (text.trim() !== "") addReminder(writer.builder, blockOf(writer, event, { type: "text", text }));
    else if (media.length === 0) drop(writer, event, "A10");
    // The model gets what a text cannot express as the user's.
    addAttachedMedia(writer.builder, convert(writer, event, media));
  } else addUserBlocks(writer.builder, convert(writer, event, event.content));
}

function addResponse(writer: Writer, event: ChatResponse): void {
  for (const block of responseBlocks(writer, event))
    addAssistantBlock(writer.builder, block, event.metadata?.message_id);
}

function responseBlocks(writer: Writer, event: ChatResponse): readonly ThreadBlock[] {
  if (event.reasoning !== undefined) return reasoningBlocks(writer, event);
  if (event.message !== undefined) return withoutHalfCalls(writer, event, convert(writer, event, event.message));
  return [blockOf(writer, event, { type: "text", text: JSON.stringify(event.data ?? null) })];
}

/** A call that the provider runs itself is sent only with its result, and the other way round (A9). */
function withoutHalfCalls(writer: Writer, event: ChatResponse, blocks: readonly ThreadBlock[]): readonly ThreadBlock[] {
  const sent = blocks.filter(({ block }) => isWholeServerCall(block, event.metadata?.message_id, writer.serverCalls));
  if (sent.length < blocks.length) {
    const action = sent.length === 0 ? "dropped" : "changed";
    writer.hardening.push({ rule: "A9", event: event.id, action });
  }
  return sent;
}

function reasoningBlocks(writer: Writer, event: ChatResponse): readonly ThreadBlock[] {
  const block = toThinkingBlock(event, writer.model);
  const messageId = event.metadata?.message_id;
  const isAlone = messageId !== undefined && !writer.spoken.has(messageId);
  if (block !== undefined && !isAlone) return [blockOf(writer, event, block)];
  drop(writer, event, block === undefined ? "A19" : "A16");
  return [];
}

function addToolCall(writer: Writer, event: ToolCallRequest): void {
  const id = writer.plan.ids.get(event);
  if (id === undefined) return;
  const input = typeof event.arguments === "object" && event.arguments !== null ? event.arguments : {};
  addCall(writer.builder, blockOf(writer, event, { type: "tool_use", id, name: event.name, input }), event);
}

/** Results in the order in which they were recorded, then those of calls that have none. */
function resultBlocks(writer: Writer, calls: readonly ToolCallRequest[]): readonly ThreadBlock[] {
  const { results, order } = writer.plan;
  const recorded = calls.flatMap((call) => {
    const result = results.get(call);
    return result ? [{ call, result }] : [];
  });
  recorded.sort((a, b) => (order.get(a.result) ?? 0) - (order.get(b.result) ?? 0));
  return [
    ...recorded.map(({ call, result }) => resultBlock(writer, result, call)),
    ...calls.filter((call) => results.get(call) === null).map((call) => interruptedBlock(writer, call)),
  ];
}

function resultBlock(writer: Writer, result: ToolCallResponse, call: ToolCallRequest): ThreadBlock {
  const { content, rules } = toResultContent(result.content, writer.toolReferences);
  for (const rule of rules) writer.hardening.push({ rule, event: result.id, action: "changed" });
  const error = result.is_error ? { is_error: true } : {};
  return blockOf(writer, result, { type: "tool_result", tool_use_id: writer.plan.ids.get(call), content, ...error });
}

function interruptedBlock(writer: Writer, call: ToolCallRequest): ThreadBlock {
  writer.hardening.push({ rule: "A1", action: "added" });
  return {
    block: {
      type: "tool_result",
      tool_use_id: writer.plan.ids.get(call),
      content: missingResult(call),
      is_error: true,
    },
  };
}

/** Converts a content; what is lost is listed as dropped when nothing is left, else as changed. */
function convert(writer: Writer, event: Event, content: Parameters<typeof toBlocks>[0]): readonly ThreadBlock[] {
  const { blocks, rules } = toBlocks(content);
  for (const rule of rules) {
    writer.hardening.push({ rule, event: event.id, action: blocks.length === 0 ? "dropped" : "changed" });
  }
  return blocks.map((block) => blockOf(writer, event, block));
}

function drop(writer: Writer, event: Event, rule: string): void {
  writer.hardening.push({ rule, event: event.id, action: "dropped" });
}

function blockOf(writer: Writer, event: Event, block: ContentBlock): ThreadBlock {
  const origin = writer.origins.get(event);
  // Most events are unchanged; a spread costs several times as much.
  return origin?.compaction === undefined ? { event: event.id, block } : { ...origin, block };
}

/** Precedes an assistant message that would be the first (A12). */
const OPENING: ThreadBlock = { block: { type: "text", text: "[Earlier messages are not shown.]" } };

/** Follows an assistant message that would be the last of a request (A14). */
const CLOSING: ThreadBlock = { block: { type: "text", text: "[No new message.]" } };

/** Returns the ids of the assistant messages that are sent something other than reasoning. */
export function findSpokenMessages(view: View, plan: CallPlan, serverCalls: ServerCalls): ReadonlySet<string> {
  const spoken = new Set<string>();
  for (const turn of view.turns) {
    for (const event of turn.events) {
      const id = event.metadata?.message_id;
      if (id !== undefined && isSpoken(event, plan, serverCalls)) spoken.add(id);
    }
  }
  return spoken;
}

function isSpoken(event: Event, plan: CallPlan, serverCalls: ServerCalls): boolean {
  if (event.type === "tool_call_request") return plan.results.has(event);
  if (event.type !== "chat_response" || event.reasoning !== undefined) return false;
  if (event.message === undefined) return true;
  const { blocks } = toBlocks(event.message); // blank texts are none
  return blocks.some((block) => isWholeServerCall(block, event.metadata?.message_id, serverCalls));
}

/** Makes the list start with the user (A12), and not end in reasoning (A16) or in white space after the assistant (A15). */
export function hardenEnds(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  const ended = hardenEnd(messages, hardening);
  if (ended[0] === undefined || ended[0].role === "user") return ended;
  hardening.push({ rule: "A12", action: "added" });
  return [{ role: "user", blocks: [OPENING] }, ...ended];
}

/** Makes a complete list end with the user: newer models accept no beginning of an answer (A14). */
export function endWithUser(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  if (messages.findLast(({ role }) => role !== "system")?.role !== "assistant") return messages;
  hardening.push({ rule: "A14", action: "added" });
  return [...messages, { role: "user", blocks: [CLOSING] }];
}

function hardenEnd(messages: readonly ThreadMessage[], hardening: HardeningStep[]): readonly ThreadMessage[] {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return messages;
  const spoken = last.blocks.findLastIndex(({ block }) => !isThinking(block["type"])) + 1;
  for (const { event } of last.blocks.slice(spoken)) {
    hardening.push({ rule: "A16", action: "dropped", event });
  }
  if (spoken === 0) return messages.slice(0, -1);
  const blocks = [
    ...last.blocks.slice(0, spoken - 1),
    ...last.blocks.slice(spoken - 1, spoken).map((block) => trimEnd(block, hardening)),
  ];
  return [...messages.slice(0, -1), { role: "assistant", blocks }];
}

function isThinking(type: unknown): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function trimEnd(block: ThreadBlock, hardening: HardeningStep[]): ThreadBlock {
  const text = block.block["text"];
  if (block.block["type"] !== "text" || typeof text !== "string" || text.trimEnd() === text) return block;
  hardening.push({ rule: "A15", action: "changed", event: block.event });
  return { ...block, block: { ...block.block, text: text.trimEnd() } };
}

/** A message being built. */
interface DraftMessage {
  readonly role: ThreadMessage["role"];
  readonly blocks: ThreadBlock[];
  /** Calls of an assistant message whose results have not been placed yet. */
  readonly calls: ToolCallRequest[];
}

/** Returns the result blocks of some calls, in the order in which the results were recorded. */
type ResultsOf = (calls: readonly ToolCallRequest[]) => readonly ThreadBlock[];

export interface MessageBuilder {
  readonly messages: DraftMessage[];
  /** Harness texts waiting for the user's message they follow. */
  readonly reminders: ThreadBlock[];
  /** Media that the harness attached. */
  readonly attached: Set<ThreadBlock>;
  readonly hardening: HardeningStep[];
  readonly resultsOf: ResultsOf;
  /** Whether harness texts are messages with role `system`; else they are reminders in the user's message. */
  readonly systemMessages: boolean;
}

/** Creates an empty list of messages; steps taken are added to `hardening`. */
export function createMessageBuilder(
  resultsOf: ResultsOf,
  options: Pick<MessageBuilder, "systemMessages" | "hardening">,
): MessageBuilder {
  return { messages: [], reminders: [], attached: new Set(), resultsOf, ...options };
}

/**
 * Adds a block of the assistant that is no call. After a call of its own message it is put before the calls, as Claude Code does; after
 * calls of another one it opens a message (A5).
 */
export function addAssistantBlock(builder: MessageBuilder, block: ThreadBlock, messageId?: string): void {
  const last = builder.messages.at(-1);
  if (last !== undefined && last.calls.length > 0) {
    if (block.event !== undefined) builder.hardening.push({ rule: "A5", event: block.event, action: "changed" });
    if (messageId !== undefined && last.calls.every((call) => call.metadata?.message_id === messageId)) {
      last.blocks.splice(last.blocks.length - last.calls.length, 0, block);
      return;
    }
    placeResults(builder);
  }
  openMessage(builder, "assistant").blocks.push(block);
}

/** Adds a tool call; its result is placed when the message ends. */
export function addCall(builder: MessageBuilder, block: ThreadBlock, call: ToolCallRequest): void {
  const message = openMessage(builder, "assistant");
  message.blocks.push(block);
  message.calls.push(call);
}

/** Adds blocks of the user, after the results of the calls before them. */
export function addUserBlocks(builder: MessageBuilder, blocks: readonly ThreadBlock[]): void {
  if (blocks.length === 0) return;
  placeResults(builder);
  appendAll(openMessage(builder, "user").blocks, blocks);
}

/** Adds images and documents that the harness attached to a request: before its words and after results, as Claude Code does. */
function addAttachedMedia(builder: MessageBuilder, blocks: readonly ThreadBlock[]): void {
  if (blocks.length === 0) return;
  placeResults(builder);
  const message = openMessage(builder, "user").blocks;
  const before = message.findLastIndex((block) => block.block["type"] === "tool_result" || builder.attached.has(block));
  const after = message.splice(before + 1);
  appendAll(message, blocks);
  appendAll(message, after);
  for (const block of blocks) builder.attached.add(block);
}

/** Adds a text of the harness. */
function addReminder(builder: MessageBuilder, block: ThreadBlock): void {
  if (builder.systemMessages) builder.reminders.push(block);
  else addUserBlocks(builder, [asReminder(block)]);
}

/** Places the results of the calls of the last message, when they have not been placed yet (A1, A3, A4). */
export function placeResults(builder: MessageBuilder): void {
  const last = builder.messages.at(-1);
  if (last === undefined || last.calls.length === 0) return;
  const results = builder.resultsOf(last.calls);
  last.calls.length = 0;
  builder.messages.push({ role: "user", blocks: [...results], calls: [] });
}

/** Ends the list and returns its messages. */
export function finishMessages(builder: MessageBuilder): readonly ThreadMessage[] {
  placeResults(builder);
  if (builder.messages.at(-1)?.role !== "user" && builder.reminders.length > 0) {
    appendAll(openMessage(builder, "user").blocks, builder.reminders.splice(0).map(asReminder));
  }
  placeReminders(builder);
  return builder.messages.map(({ role, blocks }) => ({ role, blocks }));
}

/** The message that takes a block of this role: the last one, or a new one (A13). */
function openMessage(builder: MessageBuilder, role: "user" | "assistant"): DraftMessage {
  const last = builder.messages.at(-1);
  if (last?.role === role) return last;
  if (role === "assistant" && last?.role === "user") placeReminders(builder);
  const message: DraftMessage = { role, blocks: [], calls: [] };
  builder.messages.push(message);
  return message;
}

/** Waiting harness texts become one system message, directly after a user message. */
function placeReminders(builder: MessageBuilder): void {
  const blocks = builder.reminders.splice(0);
  if (blocks.length > 0) builder.messages.push({ role: "system", blocks, calls: [] });
}

function asReminder(block: ThreadBlock): ThreadBlock {
  const text = String(block.block["text"] ?? "");
  return { ...block, block: { type: "text", text: formatReminder(text) } };
}

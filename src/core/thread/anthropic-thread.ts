// A view as the message list of the Anthropic Messages API, hardened so that the API takes it: provider rules A1–A16,
// A19. Whatever is left out, changed or added is listed with its rule; the same view always gives the same list.
import { mediaOf, textOfContent } from "../event/content.ts";
import type { ChatRequest, ChatResponse, Event, ToolCallRequest, ToolCallResponse } from "../event/event.ts";
import type { View } from "../projection/view.ts";
import { type ContentBlock, toBlocks, toResultContent, toThinkingBlock } from "./anthropic-blocks.ts";
import { type CallPlan, planCalls } from "./anthropic-calls.ts";
import { endWithUser, findSpokenMessages, hardenEnds } from "./anthropic-hardening.ts";
import {
  addAssistantBlock,
  addCall,
  addReminder,
  addUserBlocks,
  createMessageBuilder,
  finishMessages,
  type MessageBuilder,
  placeResults,
} from "./anthropic-messages.ts";
import { findServerCalls, isWholeServerCall, type ServerCalls } from "./anthropic-server-calls.ts";
import { INTERRUPTED_RESULT } from "./call-plan.ts";
import { type BlockOrigin, blockOrigins, type HardeningStep, type Thread, type ThreadBlock } from "./thread.ts";

export interface AnthropicOptions {
  /** The model that will be sent the thread; without it reasoning of any model stays that carries a signature. */
  readonly model?: string;
  /** Whether the model takes role `system` inside the list; else harness texts become reminders in the user's messages. */
  readonly systemMessages?: boolean;
  /** Whether the thread is sent as it stands, so that it must end with the user; default false: a request will follow. */
  readonly complete?: boolean;
}

interface Writer {
  readonly plan: CallPlan;
  readonly builder: MessageBuilder;
  readonly hardening: HardeningStep[];
  readonly model: string | undefined;
  /** Ids of assistant messages that are sent more than reasoning. */
  readonly spoken: ReadonlySet<string>;
  readonly serverCalls: ServerCalls;
  /** What names the origin of each event's blocks. */
  readonly origins: ReadonlyMap<Event, BlockOrigin>;
}

/** Renders a view for the Anthropic Messages API. */
export function toAnthropicThread(view: View, options: AnthropicOptions = {}): Thread {
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
    default: // what no model is sent
  }
}

function addRequest(writer: Writer, event: ChatRequest): void {
  if (event.role === "system" || event.role === "developer") {
    const text = textOfContent(event.content);
    if (text.trim() === "") drop(writer, event, "A10");
    else addReminder(writer.builder, blockOf(writer, event, { type: "text", text }));
    // What a text cannot say goes to the model as the user's.
    addUserBlocks(writer.builder, convert(writer, event, mediaOf(event.content)));
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

/** A call that the provider runs itself is sent with its result only, and the other way round (A9). */
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
  const { content, rules } = toResultContent(result.content);
  for (const rule of rules) writer.hardening.push({ rule, event: result.id, action: "changed" });
  const error = result.is_error ? { is_error: true } : {};
  return blockOf(writer, result, { type: "tool_result", tool_use_id: writer.plan.ids.get(call), content, ...error });
}

function interruptedBlock(writer: Writer, call: ToolCallRequest): ThreadBlock {
  writer.hardening.push({ rule: "A1", action: "added" });
  return {
    block: { type: "tool_result", tool_use_id: writer.plan.ids.get(call), content: INTERRUPTED_RESULT, is_error: true },
  };
}

/** Converts a content; what falls out of it is listed as dropped when nothing is left, else as changed. */
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
  // Most events are kept as they are; a spread costs several times as much.
  return origin?.compaction === undefined ? { event: event.id, block } : { ...origin, block };
}

// Puts blocks into messages in the order the API accepts: results first and all together right after their calls, nothing
// but calls after a call, one message per role in a row, harness text after the user's.
import { appendAll } from "../append-all.ts";
import type { ToolCallRequest } from "../event/event.ts";
import { formatReminder } from "./reminder.ts";
import type { HardeningStep, ThreadBlock, ThreadMessage } from "./thread.ts";

/** A message being built. */
interface DraftMessage {
  readonly role: ThreadMessage["role"];
  readonly blocks: ThreadBlock[];
  /** Calls of an assistant message whose results have not been placed yet. */
  readonly calls: ToolCallRequest[];
}

/** Gives the result blocks of some calls, in the order in which the results were recorded. */
export type ResultsOf = (calls: readonly ToolCallRequest[]) => readonly ThreadBlock[];

export interface MessageBuilder {
  readonly messages: DraftMessage[];
  /** Harness texts waiting for the user's message they follow. */
  readonly reminders: ThreadBlock[];
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
  return { messages: [], reminders: [], resultsOf, ...options };
}

/**
 * Adds a block of the assistant that is no call. Behind a call of its own message it is put before the calls, as Claude Code
 * does; behind calls of another one it opens a message (A5).
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

/** Adds a text of the harness. */
export function addReminder(builder: MessageBuilder, block: ThreadBlock): void {
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

/** Ends the list and gives its messages. */
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

/** Waiting harness texts become one system message, which stands directly after a user message. */
function placeReminders(builder: MessageBuilder): void {
  const blocks = builder.reminders.splice(0);
  if (blocks.length > 0) builder.messages.push({ role: "system", blocks, calls: [] });
}

function asReminder(block: ThreadBlock): ThreadBlock {
  const text = String(block.block["text"] ?? "");
  return { ...block, block: { type: "text", text: formatReminder(text) } };
}

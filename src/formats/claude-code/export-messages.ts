// Puts the messages of a thread into a chain of session lines: one line per assistant block, per result and per request.
// What the agent's harness or the user's queue made goes back as the attachment line it was; nothing is left out but
// reasoning that the API would refuse.
import type { Event, View } from "../../core/conversation/event.ts";
import { formatReminder, type Thread, type ThreadBlock, type ThreadMessage } from "../../core/model/thread.ts";
import { boundaryName } from "../line-names.ts";
import { compactionOf, type EventFacts, exportFactsOf, identityOf, indexView, type ViewFacts } from "./export-facts.ts";
import {
  BOUNDARY_BODY,
  createAssistantBody,
  createUserBody,
  type LineChain,
  type LineDraft,
  SUMMARY_MARKS,
} from "./export-lines.ts";
import {
  contentOf,
  exportedModelOf,
  isForeign,
  noticeMarks,
  originalAttachment,
  queuedAttachment,
} from "./export-source.ts";
import { unwrapNotification } from "./notification.ts";

/** Adds all messages of a thread. A view that starts with a compaction gets a boundary line first. */
export function addThread(chain: LineChain, thread: Thread, view: View): void {
  const writer: Writer = {
    chain,
    view: indexView(view),
    calls: new Map(),
    attached: new Set(),
    messageIds: new Map(),
  };
  addBoundary(writer, thread.messages[0]);
  for (const [at, message] of thread.messages.entries()) addMessage(writer, message, at);
}

interface Writer {
  readonly chain: LineChain;
  readonly view: ViewFacts;
  /** Line of each call so far, and what it is named after, by call id. */
  readonly calls: Map<unknown, { readonly uuid: string; readonly draft: ReturnType<typeof identityOf> }>;
  /** Events whose own attachment was written. */
  readonly attached: Set<Event | undefined>;
  /** Position of the thread message that uses a message id, by id. */
  readonly messageIds: Map<string, number>;
}

/** A view that starts with a compaction starts as the agent's own compacted sessions do. */
function addBoundary(writer: Writer, first: ThreadMessage | undefined): void {
  const block = first?.blocks[0];
  const compaction = compactionOf(writer.view, block);
  if (compaction === undefined) return;
  const { timestamp } = identityOf(writer.view, block);
  writer.chain.add({ key: boundaryName(compaction), shows: compaction, timestamp, body: BOUNDARY_BODY });
}

function isBoundary(line: Readonly<Record<string, unknown>> | undefined): boolean {
  return line?.["subtype"] === BOUNDARY_BODY["subtype"];
}

function addMessage(writer: Writer, message: ThreadMessage, at: number): void {
  if (message.role === "assistant") {
    addAssistant(writer, message.blocks, at);
    return;
  }
  let group: ThreadBlock[] = [];
  const flush = (): void => {
    if (group.length > 0) addRequest(writer, message.role === "system", group);
    group = [];
  };
  for (const block of message.blocks) {
    const [last] = group;
    const joins =
      last !== undefined &&
      last.event !== undefined &&
      last.event === block.event &&
      block.block["type"] !== "tool_result";
    if (!joins) flush();
    group.push(block);
  }
  flush();
}

/** Adds one line: a result, or all blocks of one request. An attachment says all of its event at once. */
function addRequest(writer: Writer, asSystem: boolean, group: readonly ThreadBlock[]): void {
  const [first] = group;
  const event = exportFactsOf(writer.view, first)?.event;
  const draft = draftOf(writer, first);
  const blocks = group.map(({ block }) => (asSystem ? asReminder(block) : block));
  const original = originalAttachment(event);
  if (original !== null && writer.attached.has(event)) return;
  if (original !== null) writer.attached.add(event);
  const attachment = original ?? queuedAttachment(event, blocks);
  const notice = noticeMarks(event);
  const body =
    attachment === null
      ? createUserBody(
          contentOf(blocks.map(notice === null ? (block) => block : unwrapNotification)),
          notice ?? marksOf(writer, first),
        )
      : { type: "attachment", ...attachment };
  writer.chain.add({ ...draft, body });
}

/** A result that was made up goes with its call, whichever results stand before it. */
function draftOf(writer: Writer, block: ThreadBlock | undefined): ReturnType<typeof identityOf> {
  const draft = identityOf(writer.view, block);
  const isMadeUp = draft.key === undefined && block?.block["type"] === "tool_result";
  return (isMadeUp ? writer.calls.get(block.block["tool_use_id"])?.draft : undefined) ?? draft;
}

function marksOf(writer: Writer, first: ThreadBlock | undefined): LineDraft["body"] {
  if (first?.block["type"] === "tool_result") {
    const call = writer.calls.get(first.block["tool_use_id"]);
    return call === undefined ? {} : { sourceToolAssistantUUID: call.uuid };
  }
  const facts = exportFactsOf(writer.view, first);
  const compaction = compactionOf(writer.view, first);
  const isFirst = writer.chain.lines.length === 1 && compaction !== undefined && isBoundary(writer.chain.lines[0]);
  if (isFirst && (facts === undefined || facts.isSummary)) return SUMMARY_MARKS;
  return isTyped(facts) ? {} : { isMeta: true };
}

/** Whether a person wrote it: only such lines are shown as prompts. */
function isTyped(facts: EventFacts | undefined): boolean {
  if (facts === undefined || facts.isSummary) return false;
  const { event } = facts;
  const isUser = event.type === "chat_request" && (event.role ?? "user") === "user";
  return isUser && event.metadata?.origin !== "harness";
}

/** A message of role `system` has no line of its own kind; a reminder is what the agent makes of one. */
function asReminder(block: ThreadBlock["block"]): ThreadBlock["block"] {
  const text = block["text"];
  return typeof text === "string" ? { ...block, text: formatReminder(text) } : block;
}

function addAssistant(writer: Writer, blocks: readonly ThreadBlock[], at: number): void {
  const own = `msg_${blocks[0]?.event ?? at}`;
  const sent = blocks
    .map((block) => ({ block, event: exportFactsOf(writer.view, block)?.event }))
    .filter(({ block, event }) => isSendable(block.block, event))
    .map(({ block, event }) => ({
      block,
      event,
      messageId: claimMessageId(writer, event?.metadata?.message_id ?? own, at),
    }));
  for (const [i, { block, event, messageId }] of sent.entries()) {
    const isLast = sent[i + 1]?.messageId !== messageId;
    const stopReason = isLast ? (block.block["type"] === "tool_use" ? "tool_use" : "end_turn") : null;
    const body = createAssistantBody({ messageId, model: exportedModelOf(event), block: block.block, stopReason });
    const draft = identityOf(writer.view, block);
    const uuid = writer.chain.add({ ...draft, body });
    if (block.block["type"] === "tool_use") writer.calls.set(block.block["id"], { uuid, draft });
  }
}

/** The API takes reasoning only as it gave it: signed, and its own. */
function isSendable(block: ThreadBlock["block"], event: Event | undefined): boolean {
  const { type, signature, data } = block;
  if (type === "thinking") return typeof signature === "string" && signature !== "" && !isForeign(event);
  return type !== "redacted_thinking" || (typeof data === "string" && !isForeign(event));
}

/** Keeps an original message id, unless an earlier message of the thread has it: the agent joins all lines of one id. */
function claimMessageId(writer: Writer, original: string, at: number): string {
  const user = writer.messageIds.get(original) ?? at;
  writer.messageIds.set(original, user);
  return user === at ? original : `${original}_${at}`;
}

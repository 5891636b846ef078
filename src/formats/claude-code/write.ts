// Writes a view as a session file that Claude Code resumes. Invariant: the agent then sends exactly the thread, except that it drops
// thinking of another model family and repairs an unanswered end.
import type { Event, View } from "../../core/conversation/event.ts";
import { formatReminder, type Thread, type ThreadBlock, type ThreadMessage } from "../../core/model/thread.ts";
import { boundaryName, createOriginLine, type ExportOrigin, lineName } from "../imported-session.ts";
import { isRecord } from "../session-source.ts";
import { unwrapNotification, withAttachedImage } from "./attachments.ts";
import { NO_CONTENT } from "./session-index.ts";

interface ClaudeExportInput {
  readonly thread: Thread;
  /** The projection that the thread was made from. */
  readonly view: View;
  /** UUID; the file must be named `<sessionId>.jsonl`. */
  readonly sessionId: string;
  /** Derives a line's UUID from its name, see `imported-session.ts`. */
  readonly lineId: (sourceId: string) => string;
  readonly origin: ExportOrigin;
  readonly cwd: string;
  /** Shown in the agent's list of sessions; absent = it shows the first request. */
  readonly title?: string;
  readonly version?: string;
  readonly gitBranch?: string;
}

export interface ClaudeExport {
  /** JSON lines, each ended by a newline; the first names the origin. */
  readonly text: string;
  /** Event or compaction that each line shows, by the line's UUID. */
  readonly lines: ReadonlyMap<string, string>;
}

/** Default version: the one this form was verified with. */
const VERIFIED_VERSION = "2.1.330";

/** Exports a view to Claude Code. */
export function exportClaudeCode(input: ClaudeExportInput): ClaudeExport {
  const { sessionId, cwd, version = VERIFIED_VERSION, gitBranch } = input;
  const chain = createLineChain({ sessionId, cwd, version, gitBranch }, input.lineId);
  addThread(chain, input.thread, input.view);
  const title = input.title === undefined ? [] : [{ type: "custom-title", customTitle: input.title, sessionId }];
  const lines = [createOriginLine(input.origin, sessionId), ...title, ...chain.lines];
  return { text: `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`, lines: chain.shown };
}

// The lines of an exported session, in one chain: every line's parent is the previous line, so only what was written is reachable.
// Dates and ids come from the events. Only fields that the agent needs.

/** One line without its id and parent. */
interface LineDraft {
  /** Source of the id: the event's id; absent = a further line of the previous source. */
  readonly key: string | undefined;
  /** Event or compaction shown. */
  readonly shows: string | undefined;
  /** RFC 3339; absent = that of the previous line. */
  readonly timestamp: string | undefined;
  /** The other fields that lines do not share; `type` first. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Fields of every line. */
interface LineFrame {
  readonly sessionId: string;
  readonly cwd: string;
  /** Version of the agent that these lines imitate. */
  readonly version: string;
  readonly gitBranch: string | undefined;
}

/** Date of lines before the first dated one. */
const NO_DATE = "1970-01-01T00:00:00.000Z";

/** Collects lines. Stateful: a line's parent is the previous line. */
interface LineChain {
  /** Adds a line and returns its id. */
  readonly add: (draft: LineDraft) => string;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Event or compaction that each line shows, by the line's id; "" before any. */
  readonly shown: ReadonlyMap<string, string>;
}

/** Creates an empty chain. `lineId` derives a UUID from a line's name. */
function createLineChain(frame: LineFrame, lineId: (sourceId: string) => string): LineChain {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const shown = new Map<string, string>();
  const counts = new Map<string, number>();
  const { gitBranch, ...common } = frame;
  const shared = {
    isSidechain: false,
    userType: "external",
    ...common,
    gitBranch,
  };
  let last = { uuid: null as string | null, key: "", shows: "", timestamp: NO_DATE };
  const add = ({ body, ...draft }: LineDraft): string => {
    const key = draft.key ?? last.key;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    const uuid = lineId(lineName(key, count));
    const shows = draft.shows ?? last.shows;
    const timestamp = draft.timestamp ?? last.timestamp;
    lines.push({ parentUuid: last.uuid, ...shared, ...body, uuid, timestamp });
    shown.set(uuid, shows);
    last = { uuid, key, shows, timestamp };
    return uuid;
  };
  return { add, lines, shown };
}

/** Body of the line that opens a compacted session, as the agent writes it. */
const BOUNDARY_BODY: LineDraft["body"] = {
  type: "system",
  subtype: "compact_boundary",
  content: "Conversation compacted",
  isMeta: false,
  level: "info",
  compactMetadata: { trigger: "manual", preTokens: 0 },
};

/** Marks of a summary, as the agent writes them. */
const SUMMARY_MARKS: LineDraft["body"] = { isCompactSummary: true, isVisibleInTranscriptOnly: true };

/** Creates the body of a user line; `content` is a text or a list of blocks. */
function createUserBody(content: unknown, marks: LineDraft["body"]): LineDraft["body"] {
  return { type: "user", ...marks, message: { role: "user", content } };
}

interface AssistantLine {
  readonly messageId: string;
  readonly model: string;
  readonly content: readonly Readonly<Record<string, unknown>>[];
  /** Null on all but the last line of a message. */
  readonly stopReason: "tool_use" | "end_turn" | null;
}

/**
 * Creates the body of an assistant line, without `usage`: the counts of the original requests do not fit this view, and the agent
 * takes the newest for its context size.
 */
function createAssistantBody({ messageId, model, content, stopReason }: AssistantLine): LineDraft["body"] {
  const message = {
    id: messageId,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
  };
  return { type: "assistant", message };
}

// Puts the messages of a thread into session lines: one per assistant block, result and request. What the harness or the user's
// queue made becomes the attachment line that it was; only reasoning that the API would refuse is omitted.

/** Adds all messages of a thread. A view that starts with a compaction gets a boundary line first. */
function addThread(chain: LineChain, thread: Thread, view: View): void {
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
  /** Line and source of each call so far, by call id. */
  readonly calls: Map<unknown, { readonly uuid: string; readonly draft: ReturnType<typeof identityOf> }>;
  /** Events whose own attachment was written. */
  readonly attached: Set<Event | undefined>;
  /** Position of the thread message that uses a message id. */
  readonly messageIds: Map<string, number>;
}

/** A view that starts with a compaction starts like the agent's own compacted sessions. */
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

/** A result added by hardening goes with its call, whichever results precede it. */
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

/** A message of role `system` has no line kind; it becomes a reminder, as in the agent. */
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
    const body = createAssistantBody({
      messageId,
      model: exportedModelOf(event),
      content: contentBlocksOf(block.block),
      stopReason,
    });
    const draft = identityOf(writer.view, block);
    const uuid = writer.chain.add({ ...draft, body });
    if (block.block["type"] === "tool_use") writer.calls.set(block.block["id"], { uuid, draft });
  }
}

/** The agent sends its placeholder only for an answer without content. */
function contentBlocksOf(block: ThreadBlock["block"]): readonly ThreadBlock["block"][] {
  return block["text"] === NO_CONTENT ? [] : [block];
}

/** The API accepts only its own signed reasoning. */
function isSendable(block: ThreadBlock["block"], event: Event | undefined): boolean {
  const { type, signature, data } = block;
  if (type === "thinking") return typeof signature === "string" && signature !== "" && !isForeign(event);
  return type !== "redacted_thinking" || (typeof data === "string" && !isForeign(event));
}

/** Keeps an original message id unless an earlier message has it: the agent joins all lines with one id. */
function claimMessageId(writer: Writer, original: string, at: number): string {
  const user = writer.messageIds.get(original) ?? at;
  writer.messageIds.set(original, user);
  return user === at ? original : `${original}_${at}`;
}

/** An event of the view. */
interface EventFacts {
  readonly event: Event;
  /** Compaction that put the event into the view. */
  readonly compaction: string | undefined;
  readonly isSummary: boolean;
}

interface ViewFacts {
  /** By event id. */
  readonly events: ReadonlyMap<string, EventFacts>;
  /** Time of each compaction in the view, by its id. */
  readonly times: ReadonlyMap<string, string>;
}

function indexView(view: View): ViewFacts {
  const facts = new Map<string, EventFacts>();
  const times = new Map<string, string>();
  for (const { origin, events } of view.turns) {
    const compaction = origin.kind === "kept" || origin.kind === "index" ? undefined : origin.compaction;
    const time = events[0]?.timestamp;
    if (compaction !== undefined && time !== undefined) times.set(compaction, time);
    for (const event of events) facts.set(event.id, { event, compaction, isSummary: origin.kind === "summary" });
  }
  return { events: facts, times };
}

/** Finds the event that a block came from; absent for summaries and what hardening added. */
function exportFactsOf(view: ViewFacts, block: ThreadBlock | undefined): EventFacts | undefined {
  return block?.event === undefined ? undefined : view.events.get(block.event);
}

/** Finds the compaction that put a block into the view. */
function compactionOf(view: ViewFacts, block: ThreadBlock | undefined): string | undefined {
  return block?.compaction ?? exportFactsOf(view, block)?.compaction;
}

/** Returns what a line made of a block is named after, what it shows, and its date. */
function identityOf(view: ViewFacts, block: ThreadBlock | undefined): Pick<LineDraft, "key" | "shows" | "timestamp"> {
  const facts = exportFactsOf(view, block);
  const compaction = compactionOf(view, block);
  const timestamp = facts?.event.timestamp ?? view.times.get(compaction ?? "");
  const shows = facts === undefined || facts.isSummary ? compaction : undefined;
  return { key: block?.event ?? compaction, shows: shows ?? block?.event, timestamp };
}

// What an exported line takes from its event: the model's name, a prompt typed while the agent worked, and the agent's own
// attachment.

type Fields = Readonly<Record<string, unknown>>;

/** Names the model of assistant lines that no Claude model made. */
const NO_MODEL = "<synthetic>";

/** Whether another provider's model made an event. */
function isForeign(event: Event | undefined): boolean {
  const provider = event?.metadata?.provider;
  return provider !== undefined && provider !== "anthropic";
}

function exportedModelOf(event: Event | undefined): string {
  const model = event?.metadata?.model;
  return model === undefined || isForeign(event) ? NO_MODEL : model;
}

/** Content of a user line: one text block as a plain string, as the agent writes what was typed. */
function contentOf(blocks: readonly ThreadBlock["block"][]): unknown {
  const [only] = blocks;
  return blocks.length === 1 && only?.["type"] === "text" ? only["text"] : blocks;
}

/** Attachment fields of a prompt typed while the agent worked; null for every other event. */
function queuedAttachment(event: Event | undefined, blocks: readonly ThreadBlock["block"][]): Fields | null {
  if (event?.metadata?.origin !== "queued") return null;
  return { attachment: { type: "queued_command", prompt: contentOf(blocks), commandMode: "prompt" } };
}

/** Fields of the agent's own attachment line, from the event's metadata; null if there are none. */
function originalAttachment(event: Event | undefined): Fields | null {
  if (event?.metadata?.origin !== "harness") return null;
  const { attachment, rendered, renderedRole } = event.metadata;
  if (!isRecord(attachment)) return null;
  return {
    attachment: event.type === "chat_request" ? withAttachedImage(attachment, event.content) : attachment,
    rendered,
    renderedRole,
  };
}

/** Marks of a line that the agent wrote in the user's name; null for every other event. */
function noticeMarks(event: Event | undefined): Fields | null {
  const origin = event?.metadata?.["line_origin"];
  return isRecord(origin) ? { origin } : null;
}

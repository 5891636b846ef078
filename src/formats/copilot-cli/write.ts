// Writes a view as a session of Copilot CLI, which sends exactly these messages. A summary is a message, too: Copilot CLI would put words
// of its own around the summary of a compaction.
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  isUserRequest,
  mediaOf,
  type ToolCallRequest,
  type ToolCallResponse,
  textOfContent,
  type View,
} from "../../core/conversation/event.ts";
import { toTextContent } from "../../core/model/openai-chat-thread.ts";
import { type CallPlan, formatReminder, missingResult, planProviderCalls, unusedId } from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { createOriginLine, type ExportOrigin, lineName, lineUuid, readExportOrigin } from "../imported-session.ts";
import { isRecord, NO_DATE, type RawLine, type SessionSource, stringOf } from "../session-source.ts";
import { type AnswerEvent, type MessageOf, viewMessages } from "../view-messages.ts";
import { COPILOT_PROVIDER } from "./events.ts";
import { dataOf, parseCopilotLine } from "./lines.ts";

/** Version that this form was verified with. */
export const VERIFIED_VERSION = "1.0.102";

/** Lines that may hold the origin: the first ones, since Copilot CLI keeps lines of unknown types where they are. */
const LINES_LOOKED_AT = 4;

const ORIGIN_TYPE = "jpg-origin";

/** Reads which conversation jpg exported a session from; null for the agent's own. Never throws. */
export function copilotOrigin(source: SessionSource): ExportOrigin | null {
  return readExportOrigin({ ...findOrigin(source), type: ORIGIN_TYPE });
}

/** The session's id when jpg exported it, before `/fork` copied it. Absent = not exported. */
export function exportedCopilotId(source: SessionSource): string | undefined {
  return stringOf(findOrigin(source), "sessionId");
}

function findOrigin(source: SessionSource): RawLine {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const text = source.line(at);
    if (text.length > LONGEST_ORIGIN || !text.includes(ORIGIN_TYPE)) continue;
    const line = parseCopilotLine(text);
    if (line !== null && typeof line !== "string" && line["type"] === ORIGIN_TYPE) return dataOf(line);
  }
  return {};
}

/** jpg's own line is short. Characters. */
const LONGEST_ORIGIN = 4096;

/** Renders the session's file. The same export gives the same bytes. */
export function writeCopilotSession(draft: SessionDraft): string {
  const { view, sessionId, origin, cwd } = draft;
  const chain = createChain(draft);
  chain.add("", startOfView(view), "session.start", {
    sessionId,
    version: 1,
    producer: "jpg",
    copilotVersion: VERIFIED_VERSION,
    startTime: startOfView(view),
    selectedModel: ownModel(view),
    context: { cwd },
  });
  const { type: _, ...mark } = createOriginLine(origin, sessionId);
  chain.add("", startOfView(view), ORIGIN_TYPE, mark);
  writeView(chain, view);
  return chain.lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function startOfView({ turns }: View): string {
  return turns.find(({ events }) => events.length > 0)?.events[0]?.timestamp ?? NO_DATE;
}

/** The newest model of Copilot CLI's own; without one it takes the one that the user chose. */
function ownModel({ turns }: View): string | undefined {
  for (const { events } of turns.toReversed()) {
    const made = events.findLast(
      ({ metadata }) => metadata?.provider === COPILOT_PROVIDER && metadata.model !== undefined,
    );
    if (made !== undefined) return made.metadata?.model;
  }
  return undefined;
}

/** Collects lines; a line's parent is the one before it. */
interface Chain {
  readonly lines: readonly RawLine[];
  /** Adds a line; its id derives from `source`, see `imported-session.ts`. */
  add(source: string, timestamp: string, type: string, data: RawLine): void;
}

function createChain({ sessionId, sha1 }: SessionDraft): Chain {
  const lines: RawLine[] = [];
  const counts = new Map<string, number>();
  let parentId: string | null = null;
  return {
    lines,
    add(source, timestamp, type, data) {
      const count = counts.get(source) ?? 0;
      counts.set(source, count + 1);
      const id = lineUuid(sessionId, lineName(source, count), sha1);
      lines.push({ type, data, id, timestamp, parentId });
      parentId = id;
    },
  };
}

/** Longest call id that any API accepts, characters. */
const LONGEST_ID = 512;

interface Writer {
  readonly chain: Chain;
  readonly plan: CallPlan;
}

function writeView(chain: Chain, view: View): void {
  const plan = planProviderCalls(view, {
    answers: "newest",
    assignId: ({ call_id: id }, isUsed) => ({ id: unusedId(id === "" ? "call" : id, LONGEST_ID, isUsed), rules: [] }),
    rules: { unanswered: "A1", unasked: "A2", repeated: "A7" },
  });
  for (const message of viewMessages(view, isOneMessage)) {
    if (message.type === "request") addRequest(chain, message);
    else addAnswer({ chain, plan }, message);
  }
}

function isOneMessage(answer: readonly AnswerEvent[], { metadata }: AnswerEvent): boolean {
  return answer.at(-1)?.metadata?.message_id === metadata?.message_id;
}

/**
 * Copilot CLI sends `transformedContent`. It repeats the `content` of what a person wrote in front of its summaries, and takes a message
 * for a person's if it has no `source`.
 */
function addRequest(chain: Chain, { event, compaction }: MessageOf<"request">): void {
  const image = namedImage(event);
  const said = image === null ? textOfRequest(event) : "";
  const attachments = image === null ? mediaOf(event.content).flatMap(toAttachment) : [image];
  if (said.trim() === "" && attachments.length === 0) return;
  const isQueued = event.metadata?.origin === "queued";
  const isTyped = isUserRequest(event);
  const typed = event.metadata?.["typed"];
  chain.add(compaction ?? event.id, event.timestamp, "user.message", {
    content: isTyped && typeof typed === "string" ? typed : said,
    transformedContent: said,
    attachments,
    source: isTyped ? undefined : "jpg",
    delivery: isQueued ? "steering" : "idle",
  });
}

/** A message of role `system` becomes a reminder, as agents send one. */
function textOfRequest({ role, content }: ChatRequest): string {
  const isReminder = role === "system" || role === "developer";
  const text = isReminder ? textOfContent(content) : textWithoutImages(content);
  return isReminder && text.trim() !== "" ? formatReminder(text) : text;
}

/** Media that are no attachments are named. */
function textWithoutImages(content: Content): string {
  if (typeof content === "string" || !Array.isArray(content)) return textOfContent(content);
  const parts = (content as readonly ContentPart[]).filter((part) => toAttachment(part).length === 0);
  return parts.length === 0 ? "" : (toTextContent(parts).content ?? "").toString();
}

/** Only images go into the file; other media are named in the text. */
function toAttachment(part: ContentPart): readonly RawLine[] {
  if (part.type !== "image" || typeof part.data !== "string" || part.media_type === undefined) return [];
  return [{ type: "blob", data: part.data, mimeType: part.media_type }];
}

/** Copilot CLI sends an image after its name. */
function namedImage({ content, metadata }: ChatRequest): RawLine | null {
  if (metadata?.origin !== "harness" || typeof content === "string" || !Array.isArray(content)) return null;
  const [name, image, ...rest]: readonly ContentPart[] = content;
  const [attachment] = image === undefined ? [] : toAttachment(image);
  if (name?.type !== "text" || typeof name.text !== "string" || attachment === undefined || rest.length > 0)
    return null;
  return { ...attachment, displayName: name.text };
}

/** Writes an answer, then the results of its calls. */
function addAnswer(writer: Writer, { first, events, compaction }: MessageOf<"answer">): void {
  const { plan, chain } = writer;
  const content = events.flatMap((event) => (event.type === "chat_response" ? saidIn(event) : [])).join("\n\n");
  const calls = events.filter((event) => event.type === "tool_call_request").filter((call) => plan.ids.has(call));
  if (content.trim() === "" && calls.length === 0) return;
  const source = compaction ?? first.id;
  const model = events.map(({ metadata }) => metadata?.model).find((name) => name !== undefined);
  chain.add(source, first.timestamp, "assistant.message", {
    messageId: first.id,
    model,
    content,
    toolRequests: calls.map((call) => toolRequest(plan, call)),
  });
  for (const call of calls) addResult(writer, call, source);
}

function saidIn({ message, reasoning, data }: ChatResponse): readonly string[] {
  if (reasoning !== undefined) return [];
  return [message === undefined ? JSON.stringify(data ?? null) : textOfContent(message)];
}

function toolRequest({ ids }: CallPlan, call: ToolCallRequest): RawLine {
  const { name, arguments: given, metadata } = call;
  const text = isRecord(given) && metadata?.["custom"] === true ? stringOf(given, "input") : undefined;
  return {
    toolCallId: ids.get(call),
    name,
    arguments: text ?? (isRecord(given) ? given : { input: given }),
    type: text === undefined ? "function" : "custom",
  };
}

/** A result added by hardening goes with the answer, `source`, that made its call. */
function addResult({ plan, chain }: Writer, call: ToolCallRequest, source: string): void {
  const toolCallId = plan.ids.get(call);
  const result = plan.results.get(call) ?? null;
  if (result === null) {
    const error = { message: missingResult(call) };
    chain.add(source, call.timestamp, "tool.execution_complete", { toolCallId, success: false, error });
    return;
  }
  const content = textWithoutImages(result.content);
  const outcome = result.is_error
    ? { success: false, error: { message: content } }
    : { success: true, result: { content } };
  chain.add(result.id, result.timestamp, "tool.execution_complete", { toolCallId, ...outcome });
  addImages(chain, result);
}

/** Copilot CLI sends only the text of a result when it resumes: its images follow as a message. */
function addImages(chain: Chain, { id, timestamp, content }: ToolCallResponse): void {
  const attachments = mediaOf(content).flatMap(toAttachment);
  if (attachments.length === 0) return;
  const data = { content: "", transformedContent: "", attachments, source: "jpg", delivery: "steering" };
  chain.add(id, timestamp, "user.message", data);
}

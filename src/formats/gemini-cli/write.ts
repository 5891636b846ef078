// Writes a view as a session of Gemini CLI, with jpg's side line.
import {
  type ChatResponse,
  mediaOf,
  type ToolCallRequest,
  textOfContent,
  type View,
} from "../../core/conversation/event.ts";
import { toArguments, toFunctionName, toParts, toResponse } from "../../core/model/google-thread.ts";
import { type CallPlan, formatReminder, missingResult, planProviderCalls, unusedId } from "../../core/model/thread.ts";
import type { SessionDraft } from "../agent-format.ts";
import { createOriginLine, type ExportOrigin, lineName, lineUuid, readExportOrigin } from "../imported-session.ts";
import {
  isRecord,
  NO_DATE,
  parseJsonLine,
  type RawLine,
  recordOf,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { type AnswerEvent, type MessageOf, viewMessages } from "../view-messages.ts";
import { isNotResent, toThought } from "./events.ts";

/** Key of the mark in a message. */
const ORIGIN_MARK = "jpg";
/** Lines that may hold it: those after the session's description. */
const LINES_LOOKED_AT = 4;
/** jpg's own line is short, and so is the text before the mark. Characters. */
const LONGEST = 4096;

/** Reads which conversation jpg exported a session from; null for the agent's own. Never throws. */
export function geminiOrigin(source: SessionSource): ExportOrigin | null {
  return readExportOrigin(findOrigin(source));
}

/** The session's id when jpg exported it, before the agent copied it. Absent = not exported. */
export function exportedId(source: SessionSource): string | undefined {
  const found = findOrigin(source);
  return found === undefined ? undefined : stringOf(found, "sessionId");
}

function createOriginMark(origin: ExportOrigin, sessionId: string): RawLine {
  return createOriginLine(origin, sessionId);
}

function findOrigin(source: SessionSource): RawLine | undefined {
  for (let at = 1; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const text = source.line(at);
    if (!text.slice(0, LONGEST).includes('"jpg-origin"')) continue;
    const line = parseJsonLine(text);
    if (!isRecord(line)) continue;
    return recordOf(line, ORIGIN_MARK) ?? line;
  }
  return undefined;
}

// A session is its description, then its messages: exactly what is sent. The same export gives the same bytes.

/** When a session begins, RFC 3339 UTC. */
export function startOfView({ turns }: View): string {
  return turns[0]?.events[0]?.timestamp ?? NO_DATE;
}

/** Renders the session's file. The origin mark comes before the first message's own fields. */
export function writeGeminiSession(draft: SessionDraft): string {
  const { view, sessionId, origin, cwd, title, sha256 } = draft;
  const [first, ...rest] = writeMessages(draft);
  const startTime = startOfView(view);
  const header = {
    sessionId,
    projectHash: sha256(cwd),
    startTime,
    lastUpdated: view.turns.at(-1)?.events.at(-1)?.timestamp ?? startTime,
    kind: "main",
    ...(title !== "" && { summary: title }),
  };
  const mark = createOriginMark(origin, sessionId);
  const lines =
    first === undefined ? [header, mark] : [header, { id: first["id"], [ORIGIN_MARK]: mark, ...first }, ...rest];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

// The messages of a view as Gemini CLI stores them: an answer holds its thoughts, text and calls, each call its result. Neighbours
// of one role are joined when sent.

/** Longest call id that every model accepts, characters. */
const LONGEST_ID = 64;

interface Writer {
  readonly plan: CallPlan;
  /** Adds a message; its id derives from `source`, see `imported-session.ts`. */
  readonly add: (source: string, timestamp: string, message: RawLine) => void;
}

/** Gives the messages of a view, in order. */
function writeMessages({ view, sessionId, sha1 }: SessionDraft): readonly RawLine[] {
  const plan = planProviderCalls(view, {
    answers: "newest",
    assignId: ({ call_id: id }, isUsed) => ({ id: unusedId(id === "" ? "call" : id, LONGEST_ID, isUsed), rules: [] }),
    rules: { unanswered: "G4", unasked: "G5", repeated: "G4" },
  });
  const lines: RawLine[] = [];
  const counts = new Map<string, number>();
  const add: Writer["add"] = (source, timestamp, message) => {
    const count = counts.get(source) ?? 0;
    counts.set(source, count + 1);
    lines.push({ id: lineUuid(sessionId, lineName(source, count), sha1), timestamp, ...message });
  };
  for (const message of viewMessages(view, joinsAnswer)) {
    if (message.type === "request") addRequest(add, message);
    else addAnswer({ plan, add }, message);
  }
  return lines;
}

/** Whether an answer can take one more event: thoughts come first, then one text, then calls. */
function joinsAnswer(answer: readonly AnswerEvent[], event: AnswerEvent): boolean {
  const last = answer.at(-1);
  if (last === undefined) return true;
  if (last.metadata?.message_id !== event.metadata?.message_id) return false;
  return rankOf(event) > rankOf(last) || (rankOf(event) === rankOf(last) && rankOf(event) !== TEXT_RANK);
}

const TEXT_RANK = 1;

function rankOf(event: AnswerEvent): number {
  if (event.type === "tool_call_request") return 2;
  return event.reasoning === undefined ? TEXT_RANK : 0;
}

function addRequest(add: Writer["add"], { event, compaction }: MessageOf<"request">): void {
  const { parts } = toParts(event.content);
  const isReminder = event.role === "system" || event.role === "developer";
  const text = isReminder ? textOfContent(event.content) : "";
  const media = toParts(mediaOf(event.content)).parts;
  const said = text.trim() === "" ? parts : [{ text: formatReminder(text) }, ...media];
  if (said.length === 0) return;
  add(compaction ?? event.id, event.timestamp, { type: "user", ...resendable(said) });
}

/** The agent omits a request that begins with one of its signs, unless its first part is marked as no thought. */
function resendable(parts: readonly RawLine[]): RawLine {
  const [first, ...rest] = parts;
  if (typeof first?.["text"] !== "string" || !isNotResent(first["text"])) return { content: parts };
  return { content: [{ ...first, thought: false }, ...rest], displayContent: parts };
}

/** Writes an answer with the results of its calls. */
function addAnswer({ plan, add }: Writer, { first, events, compaction }: MessageOf<"answer">): void {
  const thoughts = events.flatMap((event) => toThought(event) ?? []);
  const said = events.flatMap((event) => (event.type === "chat_response" ? partsOfAnswer(event) : []));
  const calls = events.filter((event) => event.type === "tool_call_request").filter((call) => plan.ids.has(call));
  if (thoughts.length + said.length + calls.length === 0) return;
  const model = events.map(({ metadata }) => metadata?.model).find((name) => name !== undefined);
  const [only] = said;
  const source = compaction ?? first.id;
  add(source, first.timestamp, {
    type: "gemini",
    content: said.length === 0 ? "" : said.length === 1 && typeof only?.["text"] === "string" ? only["text"] : said,
    thoughts,
    model,
    ...(calls.length > 0 && { toolCalls: calls.map((call) => toolCall(plan, call)) }),
  });
  const unanswered = calls.filter((call) => plan.results.get(call) === null);
  if (unanswered.length > 0)
    add(source, first.timestamp, { type: "user", content: unanswered.map((call) => interrupted(plan, call)) });
}

function partsOfAnswer({ message, reasoning, data }: ChatResponse): readonly RawLine[] {
  return reasoning === undefined ? toParts(message ?? JSON.stringify(data ?? null)).parts : [];
}

function toolCall(plan: CallPlan, call: ToolCallRequest): RawLine {
  const result = plan.results.get(call) ?? null;
  const named = nameOf(plan, call);
  const made = { ...named, args: toArguments(call.arguments) };
  if (result === null) return { ...made, status: "cancelled", timestamp: call.timestamp };
  const { response, media } = toResponse(result.content, result.is_error);
  return {
    ...made,
    result: [{ functionResponse: { ...named, response } }, ...media],
    status: result.is_error ? "error" : "success",
    timestamp: result.timestamp,
    ...(typeof result.metadata?.["session"] === "string" && { agentId: result.metadata["session"] }),
  };
}

function interrupted(plan: CallPlan, call: ToolCallRequest): RawLine {
  return { functionResponse: { ...nameOf(plan, call), response: { error: missingResult(call) } } };
}

function nameOf({ ids }: CallPlan, call: ToolCallRequest): { readonly id: string; readonly name: string } {
  return { id: ids.get(call) ?? "", name: toFunctionName(call.name) };
}

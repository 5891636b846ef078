// First pass over a rollout: the kind of each line, and what earlier lines say about it: time, model, the answer that it belongs to.
// Keeps no text. An entry never depends on later lines: a file that grows only adds entries.
import { shownTitle } from "../../core/conversation/marks.ts";
import { type ImportedSession, isOriginLine, type SkippedLine, toUsableId } from "../imported-session.ts";
import { NO_DATE, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { noFacts, type RunningFacts, speakerOf, updateFacts } from "./context-text.ts";
import { baseNamedBy, NO_BASE } from "./history-base.ts";
import { isCodexLine, payloadOf, sessionNamedBy } from "./rollout-line.ts";
import { isReadCompaction, isSentItem } from "./sent-items.ts";

/** A line that is an event or changes which events count. */
export interface RolloutEntry extends RollbackFacts {
  /** 0-based. */
  readonly line: number;
  readonly kind: Exclude<RolloutKind, "silent">;
  /** Id of its event, without a dot. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  readonly provider: string;
  readonly model?: string;
  /** Of model output and its usage: shared by one answer. */
  readonly messageId?: string;
  /** Typed while the agent worked. */
  readonly isQueued?: true;
}

export interface RolloutIndex {
  readonly entries: readonly RolloutEntry[];
  readonly sessionId: string;
  readonly createdAt: string;
  readonly cwd?: string;
  /** Titles that the session was given, oldest first. */
  readonly titles: readonly { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: readonly SkippedLine[];
  /** Ids of lines that jpg wrote. */
  readonly marks: ReadonlySet<string>;
  /** Whether any line can only come from Codex. */
  readonly isCodex: boolean;
}

/** Indexes the lines of a rollout. */
export function indexRollout(lines: ParsedLines, lineCount: number): RolloutIndex {
  const sessionId = findSessionId(lines, lineCount);
  const writer: Writer = {
    sessionId,
    idEnding: sessionId.replaceAll(".", "_"),
    facts: noFacts(),
    entries: [],
    titles: [],
    skipped: [],
    marks: new Set(),
    isCodex: false,
  };
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    if (typeof line === "string") writer.skipped.push({ line: at + 1, reason: line });
    else if (line !== null) addLine(writer, line, at);
  }
  if (lacksBase(lines, lineCount)) writer.skipped.unshift({ line: 1, reason: NO_BASE });
  const { facts, entries, titles, skipped, marks, isCodex } = writer;
  const { createdAt = NO_DATE, cwd } = facts;
  return {
    entries,
    sessionId,
    createdAt,
    cwd,
    titles,
    skipped,
    marks,
    isCodex,
  };
}

/** Whether the file continues another one that is missing from the text: its description would be the next line. */
function lacksBase(lines: ParsedLines, lineCount: number): boolean {
  const [first, next] = [lines.at(0), lineCount > 1 ? lines.at(1) : null];
  if (first === null || typeof first === "string" || baseNamedBy(first) === null) return false;
  return next === null || typeof next === "string" || sessionNamedBy(next) === undefined;
}

interface Writer {
  readonly sessionId: string;
  readonly facts: RunningFacts;
  readonly entries: RolloutEntry[];
  readonly titles: { readonly line: number; readonly timestamp: string; readonly title: string }[];
  readonly skipped: SkippedLine[];
  readonly marks: Set<string>;
  /** Follows the line's number in an event id. */
  idEnding: string;
  isCodex: boolean;
  /** The current answer; absent once somebody else spoke. */
  answer?: string;
  /** The newest answer, even if somebody else spoke since. */
  lastAnswer?: string;
  /** Newest token count of the session. */
  counted?: number;
}

/** The first id in the file, so that it stays while the file grows; a file without one is named after its first line. */
function findSessionId(lines: ParsedLines, lineCount: number): string {
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    const id = line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return toUsableId(`first line: ${JSON.stringify(lineCount > 0 ? lines.at(0) : null)}`);
}

function addLine(writer: Writer, line: RawLine, at: number): void {
  const { facts } = writer;
  const kind = kindOfRolloutLine(line);
  updateFacts(facts, line);
  writer.isCodex ||= isCodexLine(line);
  if (at > 0 && startsContinuation(writer, line)) return;
  const title = titleOf(line);
  if (title !== undefined) writer.titles.push({ line: at, timestamp: facts.timestamp, title });
  const mark = takeMark(writer, line);
  if (kind === "silent" || (kind === "usage" && !isNewCount(writer, payloadOf(line)))) return;
  const id = mark ?? `${at}-${writer.idEnding}`;
  const messageId = answerOf(writer, kind, id);
  writer.entries.push({
    line: at,
    kind,
    id,
    timestamp: facts.timestamp,
    provider: facts.provider,
    model: facts.model,
    messageId,
    ...(kind === "prompt" && isQueued(facts) && { isQueued: true }),
    ...readRollbackFacts(kind, payloadOf(line), facts),
  });
}

/** Whether another file of the session begins: its lines have the numbers of those that it replaced. */
function startsContinuation(writer: Writer, line: RawLine): boolean {
  if (sessionNamedBy(line) !== writer.sessionId || baseNamedBy(line) === null) return false;
  const begun = (stringOf(payloadOf(line), "timestamp") ?? "").replace(/\D/g, "");
  writer.idEnding = `${writer.sessionId.replaceAll(".", "_")}_${begun}`;
  return true;
}

/** The id that jpg gave a line; only its first use counts. */
function takeMark({ marks }: Writer, line: RawLine): string | undefined {
  const mark = stringOf(line, LINE_MARK);
  if (mark === undefined || !USABLE_MARK.test(mark) || marks.has(mark)) return undefined;
  marks.add(mark);
  return mark;
}

/** jpg's marks are UUIDs. */
const USABLE_MARK = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Everything a model outputs until somebody else speaks is one answer. */
function answerOf(writer: Writer, kind: RolloutKind, id: string): string | undefined {
  if (kind === "usage") return writer.lastAnswer;
  if (kind === "note" || kind === "rollback") return undefined;
  if (kind !== "answer") {
    delete writer.answer;
    return undefined;
  }
  writer.answer ??= id;
  writer.lastAnswer = writer.answer;
  return writer.answer;
}

/** Whether the agent is already working on a request; from now on it works on this one. */
function isQueued(facts: RunningFacts): boolean {
  const wasAsked = facts.task === "asked";
  if (facts.task === "begun") facts.task = "asked";
  return wasAsked;
}

/** Counts are repeated when nothing was asked in between. */
function isNewCount(writer: Writer, payload: RawLine): boolean {
  const info = recordOf(payload, "info") ?? {};
  const total = recordOf(info, "total_token_usage")?.["total_tokens"];
  if (typeof total !== "number" || total === writer.counted || writer.lastAnswer === undefined) return false;
  writer.counted = total;
  const sent = recordOf(info, "last_token_usage")?.["input_tokens"];
  return typeof sent === "number" && sent > 0;
}

function titleOf(line: RawLine): string | undefined {
  const payload = payloadOf(line);
  const isTitle = line["type"] === "event_msg" && payload["type"] === "thread_name_updated";
  return isTitle ? stringOf(payload, "thread_name") : undefined;
}

// Kinds of lines. Most messages of the agent (`event_msg`) repeat the items for its display: they make no events, and stay in the
// sources of the conversation.

type RolloutKind =
  /** Words of the user. */
  | "prompt"
  /** Words of the agent that introduce the request that follows. */
  | "context"
  /** Other words of the agent in the user's name. */
  | "harness"
  /** What a model made. */
  | "answer"
  /** The output of a call. */
  | "output"
  /** From here on the agent sends another history. */
  | "compacted"
  /** The user went back by some requests. */
  | "rollback"
  /** Tokens that the provider counted. */
  | "usage"
  /** What no model sees. */
  | "note"
  /** What other lines say as well. */
  | "silent";

/** Messages that repeat other lines, or that are only displayed while the agent works. */
const SILENT_MESSAGES: ReadonlySet<string> = new Set(
  [
    "user_message agent_message agent_message_delta agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break",
    "exec_command_begin exec_command_end exec_command_output_delta patch_apply_begin patch_apply_end patch_apply_updated",
    "mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end view_image_tool_call image_generation_end",
    "dynamic_tool_call_request dynamic_tool_call_response item_started item_completed raw_response_item",
    "task_started task_complete context_compacted thread_settings_applied thread_name_updated session_configured",
    "collab_agent_spawn_end collab_waiting_end collab_close_end collab_agent_interaction_end turn_diff plan_update",
  ].flatMap((names) => names.split(" ")),
);

/** Lines with settings and state, or with counts that a message has as well. */
const SILENT_TYPES: ReadonlySet<string> = new Set([
  "turn_context",
  "world_state",
  "token_usage_record",
  "inter_agent_communication_metadata",
  "state",
]);

/** Classifies a parsed line. */
function kindOfRolloutLine(line: RawLine): RolloutKind {
  const type = stringOf(line, "type") ?? "";
  const payload = payloadOf(line);
  if (type === "response_item") return kindOfItem(payload);
  if (type === "event_msg") return kindOfMessage(stringOf(payload, "type") ?? "");
  if (type === "compacted") return isReadCompaction(payload) ? "compacted" : "note";
  if (isOriginLine(line)) return "silent";
  return SILENT_TYPES.has(type) ? "silent" : "note";
}

function kindOfItem(item: RawLine): RolloutKind {
  const type = stringOf(item, "type") ?? "";
  if (!isSentItem(item)) return "note";
  if (type === "agent_message") return "harness";
  if (type.endsWith("_output")) return "output";
  if (type !== "message" || stringOf(item, "role") === "assistant") return "answer";
  const speaker = speakerOf(item);
  if (speaker === "user") return "prompt";
  return speaker === "report" ? "harness" : speaker;
}

function kindOfMessage(type: string): RolloutKind {
  if (type === "token_count") return "usage";
  if (type === "thread_rolled_back") return "rollback";
  return SILENT_MESSAGES.has(type) ? "silent" : "note";
}

/** Key of the id that jpg gives a line. */
export const LINE_MARK = "jpg";

/** Facts to resolve rollbacks, for the lines that have them. */
interface RollbackFacts {
  /** Number of requests rolled back, ≥ 0. */
  readonly requests?: number;
  /** Number of tasks begun before a request or compaction. */
  readonly task?: number;
  /** The compaction lists what is sent from then on. */
  readonly hasList?: true;
  /** Of what the harness says: `request` is counted as one, `report` belongs to the request that follows it. */
  readonly role?: "request" | "report";
}

function readRollbackFacts(kind: RolloutKind, payload: RawLine, { tasks: task }: RunningFacts): RollbackFacts {
  if (kind === "rollback") return { requests: requestsOf(payload) };
  if (kind === "prompt") return { task };
  if (kind === "harness") return { role: roleOf(payload) };
  if (kind !== "compacted") return {};
  return { task, ...(Array.isArray(payload["replacement_history"]) && { hasList: true }) };
}

function roleOf(item: RawLine): "request" | "report" | undefined {
  if (item["type"] === "agent_message") return "request";
  return speakerOf(item) === "report" ? "report" : undefined;
}

function requestsOf(payload: RawLine): number {
  const count = payload["num_turns"];
  return Number.isSafeInteger(count) && Number(count) > 0 ? Number(count) : 0;
}

/** Later titles, oldest first, without repetitions. */
export function readThreadNames({ titles, sessionId }: RolloutIndex): ImportedSession["titles"] {
  const shown: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, timestamp, title: given } of titles) {
    const title = shownTitle(given);
    if (title !== "" && title !== shown.at(-1)?.title) shown.push({ timestamp, title, id: `${sessionId}.${line}` });
  }
  return shown;
}

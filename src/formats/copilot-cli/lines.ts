// One line of a Copilot CLI session, unvalidated: `{type, data, id, timestamp, parentId}`.
import { type SkippedLine, toUsableId } from "../imported-session.ts";
import {
  isRecord,
  NO_DATE,
  type ParsedLines,
  parseJsonLine,
  type RawLine,
  readTimestamp,
  recordOf,
  stringOf,
} from "../session-source.ts";

/** Parses one line; the result has `type` and `data`. A string says why it is no line of a session; null is a blank line. */
export function parseCopilotLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  if (stringOf(line, "type") === undefined) return "no `type`";
  return recordOf(line, "data") === undefined ? "no object in `data`" : line;
}

export function dataOf(line: RawLine): RawLine {
  return recordOf(line, "data") ?? {};
}

/** Whether a parsed line can only come from Copilot CLI: other formats have no such types in a frame of `data` and `parentId`. */
export function isCopilotLine(line: RawLine): boolean {
  return (
    "parentId" in line && /^(?:session|user|assistant|tool|system|hook|subagent)\./.test(stringOf(line, "type") ?? "")
  );
}

/** The session that a line starts; absent for other lines. */
export function sessionStartedBy(line: RawLine): string | undefined {
  const id = line["type"] === "session.start" ? stringOf(dataOf(line), "sessionId") : undefined;
  return id === "" ? undefined : id;
}

// First pass over a session: the kind of each line, and what earlier lines say about it: time, model, the calls without a result.
// Keeps no text. An entry never depends on later lines: a file that grows only adds entries.

/** A line that is an event. */
export interface CopilotEntry {
  /** 0-based. */
  readonly line: number;
  readonly kind: Exclude<CopilotKind, "silent">;
  /** Id of its first event, without a dot. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The current model. */
  readonly model?: string;
  /** Typed while the agent worked. */
  readonly isQueued?: true;
}

/** A turn: what opens it, and its lines in order. */
export interface CopilotTurn {
  readonly opener: CopilotEntry;
  readonly entries: CopilotEntry[];
}

export interface CopilotIndex {
  readonly turns: readonly CopilotTurn[];
  readonly sessionId: string;
  readonly createdAt: string;
  readonly cwd?: string;
  readonly skipped: readonly SkippedLine[];
  readonly ids: ReadonlySet<string>;
  /** Whether any line can only come from Copilot CLI. */
  readonly isCopilot: boolean;
}

interface Writer {
  readonly sessionId: string;
  readonly turns: CopilotTurn[];
  /** Entries before the first turn. */
  readonly head: CopilotEntry[];
  readonly skipped: SkippedLine[];
  readonly ids: Set<string>;
  /** Calls without an answer. */
  readonly open: Set<string>;
  isCopilot: boolean;
  timestamp: string;
  createdAt?: string;
  cwd?: string;
  model?: string;
}

/** Indexes the lines of a session. */
export function indexCopilotLines(lines: ParsedLines, lineCount: number): CopilotIndex {
  const writer: Writer = {
    sessionId: findSessionId(lines, lineCount),
    turns: [],
    head: [],
    skipped: [],
    ids: new Set(),
    open: new Set(),
    isCopilot: false,
    timestamp: NO_DATE,
  };
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    if (typeof line === "string") writer.skipped.push({ line: at + 1, reason: line });
    else if (line !== null) addLine(writer, line, at);
  }
  const { turns, sessionId, createdAt = NO_DATE, cwd, skipped, ids, isCopilot } = writer;
  return { turns, sessionId, createdAt, cwd, skipped, ids, isCopilot };
}

/** The first id in the file; a file without one is named after its first line. */
function findSessionId(lines: ParsedLines, lineCount: number): string {
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    const id = line === null || typeof line === "string" ? undefined : sessionStartedBy(line);
    if (id !== undefined) return toUsableId(id);
  }
  return toUsableId(`first line: ${JSON.stringify(lineCount > 0 ? lines.at(0) : null)}`);
}

function addLine(writer: Writer, line: RawLine, at: number): void {
  writer.isCopilot ||= isCopilotLine(line);
  updateState(writer, line);
  const kind = kindOf(writer, line);
  if (kind === "silent") return;
  const isQueued = kind === "prompt" && writer.open.size > 0;
  const entry: CopilotEntry = {
    line: at,
    kind,
    id: takeId(writer, line, at),
    timestamp: writer.timestamp,
    model: writer.model,
    ...(isQueued && { isQueued }),
  };
  place(writer, entry);
}

/** Updates the state with what a line says about later ones. */
function updateState(writer: Writer, line: RawLine): void {
  const data = dataOf(line);
  writer.timestamp = readTimestamp(line["timestamp"]) ?? writer.timestamp;
  if (writer.timestamp !== NO_DATE) writer.createdAt ??= writer.timestamp;
  const cwd = stringOf(recordOf(data, "context") ?? {}, "cwd");
  if (cwd !== undefined) writer.cwd ??= cwd;
  const model = modelNamedBy(line, data);
  if (model !== undefined && model !== "") writer.model = model;
  // What was stopped gets no result any more.
  if (line["type"] === "abort" || line["type"] === "session.resume") writer.open.clear();
}

function modelNamedBy(line: RawLine, data: RawLine): string | undefined {
  if (line["type"] === "session.start") return stringOf(data, "selectedModel");
  return line["type"] === "session.model_change" ? stringOf(data, "newModel") : undefined;
}

/** An output without an open call becomes a note: no API accepts it. */
function kindOf({ open }: Writer, line: RawLine): CopilotKind {
  const kind = kindOfCopilotLine(line);
  const data = dataOf(line);
  if (kind === "answer") for (const id of callIds(data)) open.add(id);
  if (kind !== "output") return kind;
  return open.delete(stringOf(data, "toolCallId") ?? "") ? kind : "note";
}

function callIds(data: RawLine): readonly string[] {
  const calls = data["toolRequests"];
  return Array.isArray(calls)
    ? calls.flatMap((call) => (isRecord(call) ? (stringOf(call, "toolCallId") ?? []) : []))
    : [];
}

/** The line's own id; only its first use counts. */
function takeId({ ids, sessionId }: Writer, line: RawLine, at: number): string {
  const own = stringOf(line, "id") ?? "";
  const id = USABLE_ID.test(own) && !ids.has(own) ? own : `${at}-${sessionId.replaceAll(".", "_")}`;
  ids.add(id);
  return id;
}

/** A dot separates an id from the numbers of further events. */
const USABLE_ID = /^[A-Za-z0-9_-]{1,128}$/;

function place({ turns, head }: Writer, entry: CopilotEntry): void {
  const turn = turns.at(-1);
  const opens = turn === undefined ? entry.kind !== "note" : entry.kind === "prompt" && entry.isQueued !== true;
  if (opens) turns.push({ opener: entry, entries: [...head.splice(0), entry] });
  else (turn?.entries ?? head).push(entry);
}

// Kinds of lines. Many of Copilot CLI's lines repeat a message or report a call's progress: they make no event, and stay in the
// sources of the conversation.

type CopilotKind =
  /** Words of the user. */
  | "prompt"
  /** Words of the agent in the user's name. */
  | "harness"
  /** What the model said. */
  | "answer"
  /** The result of a call. */
  | "output"
  /** What no model sees. */
  | "note"
  /** What other lines say as well. */
  | "silent";

const KINDS: ReadonlyMap<unknown, CopilotKind> = new Map<unknown, CopilotKind>([
  ["user.message", "prompt"],
  ["system.notification", "harness"],
  ["assistant.message", "answer"],
  ["tool.execution_complete", "output"],
  ["assistant.turn_start", "silent"],
  ["assistant.turn_end", "silent"],
  ["assistant.reasoning", "silent"],
  ["tool.execution_start", "silent"],
  ["tool.execution_partial_result", "silent"],
  ["tool.execution_progress", "silent"],
  ["hook.start", "silent"],
  ["hook.end", "silent"],
  ["permission.requested", "silent"],
]);

/** Classifies a parsed line. What a sub-agent said and did becomes notes: its caller's model sees only its answer. */
function kindOfCopilotLine(line: RawLine): CopilotKind {
  const kind = KINDS.get(line["type"]) ?? "note";
  const caller = stringOf(dataOf(line), "parentToolCallId") ?? "";
  return caller !== "" && kind !== "silent" ? "note" : kind;
}

// First pass over a session: the kind of each line, and what earlier lines say about it: time, model, the calls without a result.
// Keeps no text. An entry never depends on later lines: a file that grows only adds entries.
import { type SkippedLine, toUsableId } from "../imported-session.ts";
import {
  isRecord,
  NO_DATE,
  type ParsedLines,
  type RawLine,
  readTimestamp,
  recordOf,
  type SessionPart,
  stringOf,
} from "../session-source.ts";
import { createParts, type PartLines } from "./descent.ts";
import {
  type CopilotKind,
  dataOf,
  isCopilotLine,
  isListed,
  kindOfCopilotLine,
  sessionStartedBy,
  writerOf,
} from "./lines.ts";

/** A line that is an event. */
export interface CopilotEntry {
  /** 0-based. */
  readonly line: number;
  /** `stopped`: calls that the line shows to have ended without a result. */
  readonly kind: Exclude<CopilotKind, "silent"> | "stopped";
  /** Id of its first event, without a dot. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The current model. */
  readonly model?: string;
  /** Typed while the agent worked. */
  readonly isQueued?: true;
  /** Id of the answer that an answer continues; absent = it is one of its own. */
  readonly continues?: string;
  /** Line that counts the tokens of an answer, 0-based. */
  readonly usage?: number;
  /** Line of the command that the user ran, 0-based. */
  readonly command?: number;
  /** The summary of a compaction before which nothing was sent: it hides nothing, and is sent itself. */
  readonly isSummary?: true;
  /** The calls that ended without a result. */
  readonly calls?: readonly string[];
  /** Whether a result's answer made several calls: Copilot CLI sends the results in the order of the calls. */
  readonly isOneOfSeveral?: boolean;
  /** What a compaction leaves as it is: entries from this position on, 0-based. */
  readonly keptFrom?: number;
  /** The messages that a compaction repeats: positions in `CopilotIndex.listed`, the second exclusive. */
  readonly listed?: { readonly from: number; readonly to: number };
}

/** A turn: what opens it, and its lines in order. */
export interface CopilotTurn {
  readonly opener: CopilotEntry;
  readonly entries: CopilotEntry[];
}

export interface CopilotIndex {
  readonly turns: readonly CopilotTurn[];
  /** All entries in order, those before the first turn among them. */
  readonly entries: readonly CopilotEntry[];
  /** Lines of the messages that compactions repeat, 0-based. */
  readonly listed: readonly number[];
  /** Lines that hold files, by the files' ids. */
  readonly assets: ReadonlyMap<string, number>;
  readonly sessionId: string;
  readonly createdAt: string;
  readonly cwd?: string;
  readonly skipped: readonly SkippedLine[];
  readonly ids: ReadonlySet<string>;
  readonly parts: readonly SessionPart[];
  /** Whether any line can only come from Copilot CLI. */
  readonly isCopilot: boolean;
}

/** The newest answer that made calls. */
interface CallingAnswer {
  /** Position of its first entry, 0-based. */
  readonly position: number;
  calls: number;
  /** Its calls without a result. */
  open: number;
  hasResult: boolean;
  /** Position of the first message that was sent before its results were complete. */
  interjected?: number;
}

/** The answer that a further line may continue. */
interface OpenAnswer {
  readonly id: string;
  readonly request: string;
}

/** What was sent when a compaction began. */
interface CompactionStart {
  /** Number of entries before it. */
  readonly position: number;
  /** The answer that waited for results then. */
  readonly waiting?: CallingAnswer;
  readonly interjected?: number;
}

interface Writer {
  readonly sessionId: string;
  /** The sub-agent whose lines these are; "" = the session's. */
  readonly agent: string;
  readonly turns: CopilotTurn[];
  /** Entries before the first turn. */
  readonly head: CopilotEntry[];
  readonly entries: CopilotEntry[];
  readonly listed: number[];
  readonly assets: Map<string, number>;
  readonly commands: Map<string, number>;
  readonly skipped: SkippedLine[];
  readonly ids: Set<string>;
  readonly parts: PartLines;
  /** Calls without a result. */
  readonly open: Map<string, CallingAnswer>;
  calling: CallingAnswer | undefined;
  answer: OpenAnswer | undefined;
  start: CompactionStart | undefined;
  /** Position of the first entry that is sent. */
  firstSent: number | undefined;
  /** Position of the first message since the context was cleared. */
  listedFrom: number;
  /** Line that counts tokens of a request whose answer follows, by the request's id. */
  usage: { readonly line: number; readonly request: string | undefined } | undefined;
  /** Whether something was said to the model since the newest answer. */
  isAsked: boolean;
  isCopilot: boolean;
  timestamp: string;
  createdAt?: string;
  cwd?: string;
  model?: string;
}

/** Indexes the lines of a session; `agent` = the sub-agent whose lines they are, "" = none. */
export function indexCopilotLines(lines: ParsedLines, lineCount: number, agent: string): CopilotIndex {
  const writer: Writer = {
    sessionId: findSessionId(lines, lineCount, agent),
    agent,
    turns: [],
    head: [],
    entries: [],
    listed: [],
    assets: new Map(),
    commands: new Map(),
    skipped: [],
    ids: new Set(),
    parts: createParts(),
    open: new Map(),
    calling: undefined,
    answer: undefined,
    start: undefined,
    firstSent: undefined,
    listedFrom: 0,
    usage: undefined,
    isAsked: false,
    isCopilot: false,
    timestamp: NO_DATE,
  };
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    if (typeof line === "string") writer.skipped.push({ line: at + 1, reason: line });
    else if (line !== null) addLine(writer, line, at);
  }
  const { turns, entries, listed, assets, sessionId, createdAt = NO_DATE, cwd, skipped, ids, isCopilot } = writer;
  const parts = agent === "" ? writer.parts.list() : [];
  return { turns, entries, listed, assets, sessionId, createdAt, cwd, skipped, ids, parts, isCopilot };
}

/** The first id in the file; a file without one is named after its first line. */
function findSessionId(lines: ParsedLines, lineCount: number, agent: string): string {
  for (let at = 0; at < lineCount; at++) {
    const line = lines.at(at);
    const id = line === null || typeof line === "string" ? undefined : sessionStartedBy(line);
    if (id !== undefined) return nameSession(id, agent);
  }
  return toUsableId(`first line: ${JSON.stringify(lineCount > 0 ? lines.at(0) : null)}`);
}

/** The id of a session, or of a sub-agent's in it. */
export function nameSession(session: string, agent: string): string {
  return toUsableId(agent === "" ? session : `${session}-agent-${agent}`);
}

function addLine(writer: Writer, line: RawLine, at: number): void {
  writer.isCopilot ||= isCopilotLine(line);
  const by = writerOf(line);
  writer.parts.add(line, at, by);
  if (by !== writer.agent && !(by === "" && sessionStartedBy(line) !== undefined)) {
    if (writer.agent !== "") writer.skipped.push({ line: at + 1, reason: "not of this sub-agent" });
    return;
  }
  updateState(writer, line);
  addOwnLine(writer, line, at);
}

function addOwnLine(writer: Writer, line: RawLine, at: number): void {
  const kind = kindOf(writer, line);
  if (kind === "silent") {
    noteSilent(writer, line, at);
    return;
  }
  const isSummary = kind === "compaction" && (writer.firstSent ?? Number.POSITIVE_INFINITY) >= keptFrom(writer);
  const entry: CopilotEntry = {
    line: at,
    kind: isSummary ? "harness" : kind,
    id: takeId(writer, line, at),
    timestamp: writer.timestamp,
    model: writer.model,
    ...detailsOf(writer, kind, { data: dataOf(line), at }),
    ...(isSummary && { isSummary }),
  };
  if (endsCalls(writer, line, entry)) stopCalls(writer, entry);
  noteEntry(writer, line, entry);
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
}

function modelNamedBy(line: RawLine, data: RawLine): string | undefined {
  const { type } = line;
  if (type === "session.start" || type === "session.resume") return stringOf(data, "selectedModel");
  return type === "session.model_change" ? stringOf(data, "newModel") : undefined;
}

/** An output without an open call becomes a note: no API accepts it. */
function kindOf({ open, commands }: Writer, line: RawLine): CopilotKind {
  const kind = kindOfCopilotLine(line);
  const call = stringOf(dataOf(line), "toolCallId") ?? "";
  if (kind === "shell") return commands.has(call) ? kind : "note";
  return kind === "output" && !open.has(call) ? "note" : kind;
}

/** What earlier lines say about an entry. */
function detailsOf(
  writer: Writer,
  kind: CopilotKind,
  { data, at }: { readonly data: RawLine; readonly at: number },
): Partial<CopilotEntry> {
  const call = stringOf(data, "toolCallId") ?? "";
  switch (kind) {
    case "prompt":
      return isInterjected(writer, data) ? { isQueued: true } : {};
    case "answer":
      return { continues: continuedBy(writer, data), usage: usageOf(writer, data) };
    case "output":
      return { isOneOfSeveral: (writer.open.get(call)?.calls ?? 0) > 1 };
    case "shell":
      return { command: writer.commands.get(call) ?? at };
    case "compaction":
      return { keptFrom: keptFrom(writer), listed: { from: writer.listedFrom, to: writer.listed.length } };
    default:
      return {};
  }
}

/** Older versions do not say how a message was delivered: then calls without a result show that the agent works. */
function isInterjected({ open }: Writer, { delivery }: RawLine): boolean {
  return delivery === "steering" || (!isDeliveredIdle(delivery) && open.size > 0);
}

function isDeliveredIdle(delivery: unknown): boolean {
  return delivery === "idle" || delivery === "queued";
}

/** One response of the model may be several lines, which share its id. */
function continuedBy({ answer }: Writer, data: RawLine): string | undefined {
  return answer !== undefined && answer.request === stringOf(data, "apiCallId") ? answer.id : undefined;
}

function usageOf(writer: Writer, data: RawLine): number | undefined {
  const { usage } = writer;
  writer.usage = undefined;
  const request = stringOf(data, "apiCallId");
  return usage !== undefined && (usage.request ?? request) === request ? usage.line : undefined;
}

function noteSilent(writer: Writer, line: RawLine, at: number): void {
  const data = dataOf(line);
  const call = stringOf(data, "toolCallId");
  switch (line["type"]) {
    case "assistant.turn_start": // the calls of the turn before it have ended
      if (writer.open.size > 0) stopCalls(writer, { line: at, id: takeId(writer, line, at) });
      break;
    case "session.usage_record":
      writer.usage = { line: at, request: stringOf(recordOf(data, "usage") ?? {}, "apiCallId") };
      break;
    case "tool.user_requested":
      if (call !== undefined) writer.commands.set(call, at);
      break;
    case "session.binary_asset": {
      const asset = stringOf(data, "assetId");
      if (asset !== undefined && !writer.assets.has(asset)) writer.assets.set(asset, at);
      break;
    }
    default: // says nothing about other lines
  }
}

/** Whether no result follows any more for the calls that are open. */
function endsCalls(writer: Writer, line: RawLine, { kind, isQueued, continues }: CopilotEntry): boolean {
  if (writer.open.size === 0) return false;
  if (line["type"] === "abort") return true;
  if (line["type"] === "session.resume") return dataOf(line)["continuePendingWork"] !== true;
  if (kind === "prompt") return isQueued !== true;
  return kind === "answer" && continues === undefined && writer.isAsked;
}

function stopCalls(writer: Writer, { line, id }: Pick<CopilotEntry, "line" | "id">): void {
  const calls = [...writer.open.keys()];
  const { timestamp, model } = writer;
  for (const answer of writer.open.values()) answer.open = 0;
  writer.open.clear();
  place(writer, { line, kind: "stopped", id: freeId(writer, `${id}-stopped`), timestamp, model, calls });
}

/** Updates the state with what an entry says about later lines. */
function noteEntry(writer: Writer, line: RawLine, entry: CopilotEntry): void {
  const data = dataOf(line);
  switch (entry.kind) {
    case "prompt":
    case "harness":
    case "shell":
      noteRequest(writer, line, entry);
      break;
    case "answer":
      noteAnswer(writer, data, entry);
      break;
    case "output":
      noteOutput(writer, stringOf(data, "toolCallId") ?? "");
      break;
    case "compaction":
      writer.start = undefined;
      break;
    case "clearing":
      writer.listedFrom = writer.listed.length;
      break;
    default:
      if (line["type"] === "session.compaction_start") writer.start = startCompaction(writer);
  }
}

function noteRequest(writer: Writer, line: RawLine, entry: CopilotEntry): void {
  if (isListedLine(line)) writer.listed.push(entry.line);
  if (writer.calling !== undefined && writer.calling.open > 0) writer.calling.interjected ??= writer.entries.length;
  writer.isAsked = true;
  writer.answer = undefined;
}

function isListedLine(line: RawLine): boolean {
  const data = dataOf(line);
  return line["type"] === "user.message" && isListed(data) && (stringOf(data, "content") ?? "").trim() !== "";
}

function noteOutput(writer: Writer, call: string): void {
  const answer = writer.open.get(call);
  writer.open.delete(call);
  writer.answer = undefined;
  if (answer === undefined) return;
  answer.open -= 1;
  answer.hasResult = true;
}

function noteAnswer(writer: Writer, data: RawLine, { id, continues }: CopilotEntry): void {
  const isNew = continues === undefined || writer.calling === undefined;
  const position = writer.entries.length;
  const answer =
    isNew || writer.calling === undefined ? { position, calls: 0, open: 0, hasResult: false } : writer.calling;
  for (const call of callIds(data)) {
    if (writer.open.has(call)) continue;
    writer.open.set(call, answer);
    answer.calls += 1;
    answer.open += 1;
  }
  writer.calling = answer;
  const request = stringOf(data, "apiCallId") ?? "";
  writer.answer = request === "" ? undefined : { id: continues ?? id, request };
  writer.isAsked = false;
}

function callIds(data: RawLine): readonly string[] {
  const calls = data["toolRequests"];
  return Array.isArray(calls)
    ? calls.flatMap((call) => (isRecord(call) ? (stringOf(call, "toolCallId") ?? []) : []))
    : [];
}

function startCompaction({ entries, calling }: Writer): CompactionStart {
  const position = entries.length;
  if (calling === undefined || calling.open === 0) return { position };
  return { position, waiting: calling, interjected: calling.interjected };
}

/**
 * What was said since a compaction began stays; without its beginning, nothing does. An answer that waited for results then stays too, if
 * one arrived before the end and nobody said anything in between.
 */
function keptFrom({ start, entries }: Writer): number {
  if (start === undefined) return entries.length;
  const { waiting, interjected, position } = start;
  if (interjected !== undefined) return interjected;
  return waiting?.hasResult === true ? waiting.position : position;
}

/** The line's own id; only its first use counts. */
function takeId({ ids, sessionId }: Writer, line: RawLine, at: number): string {
  const own = stringOf(line, "id") ?? "";
  const id = USABLE_ID.test(own) && !ids.has(own) ? own : `${at}-${sessionId.replaceAll(".", "_")}`;
  ids.add(id);
  return id;
}

function freeId({ ids }: Writer, wanted: string): string {
  let id = wanted;
  while (ids.has(id)) id = `${id}-`;
  ids.add(id);
  return id;
}

/** A dot separates an id from the numbers of further events. */
const USABLE_ID = /^[A-Za-z0-9_-]{1,128}$/;

const NOT_SENT: ReadonlySet<CopilotEntry["kind"]> = new Set(["note", "compaction", "clearing"]);

function place(writer: Writer, entry: CopilotEntry): void {
  const { turns, head, entries } = writer;
  const turn = turns.at(-1);
  const isSent = !NOT_SENT.has(entry.kind);
  const opens = turn === undefined ? isSent : entry.kind === "prompt" && entry.isQueued !== true;
  if (opens) turns.push({ opener: entry, entries: [...head.splice(0), entry] });
  else (turn?.entries ?? head).push(entry);
  if (isSent) writer.firstSent ??= entries.length;
  entries.push(entry);
}

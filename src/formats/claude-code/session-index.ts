// First pass over a session file: a small entry per line (ids, parents, kind), so that the file is never held parsed. Bad lines are
// listed, never thrown; of lines with one uuid the last counts, except for a parent that it lacks.
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { SkippedLine, ToolList } from "../imported-session.ts";
import { type LiveMark, readLiveMark } from "../live-mark.ts";
import {
  isRecord,
  NO_DATE,
  type ParsedLines,
  parseJsonLine,
  type RawLine,
  readTimestamp,
  recordOf,
  stringOf,
  stringsOf,
} from "../session-source.ts";
import { isSpokenRow, isVoiceTalk, readAttachedImage, renderAttachment } from "./attachments.ts";

/** What the index keeps of one line. */
export interface LineEntry {
  /** Line of the file, 0-based; of duplicates the last. */
  readonly line: number;
  /** First line with the same uuid, 0-based. */
  readonly firstLine: number;
  readonly kind: LineKind;
  /** Whether it is a `user` or `assistant` line, which a path can end in. */
  readonly isMessage: boolean;
  readonly isSidechain: boolean;
  /** Marked as the agent's own words. */
  readonly isMeta?: true;
  /** Progress of a running tool or hook: no line follows it, except where the agent searches for one. */
  readonly isProgress?: true;
  /** A record of files that the agent changed; it hangs on an older line and never moves the end of the conversation. */
  readonly isFileSnapshot?: true;
  /** Absent = side data that is no node of the conversation's graph. */
  readonly uuid?: string;
  readonly parent?: string;
  /** Written again without its parent: the agent no longer sends what comes before, `parent` is that of an earlier line. */
  readonly lostParent?: true;
  readonly logicalParent?: string;
  /** `message.id`: lines that share it are one assistant message. */
  readonly messageId?: string;
  /** `nothing`: an assistant line without blocks · `thinking`: one with only thinking and blank text; absent = any other line. */
  readonly says?: "nothing" | "thinking";
  /** Ids of the calls that it makes or answers; absent = none. */
  readonly calls?: readonly string[];
  /** RFC 3339 UTC; that of the previous line when it has none. */
  readonly timestamp: string;
  /** Lines that a compaction keeps; only on boundaries. */
  readonly kept?: Kept;
  /** jpg's mark of a compaction in the running agent. */
  readonly mark?: LiveMark;
  /** Of a `repeated` row: the uuid of its boundary. */
  readonly answers?: string;
}

/** A title line. */
interface MarkerLine {
  readonly line: number;
  readonly timestamp: string;
  readonly raw: RawLine;
}

/** A line that names the conversation's newest message. */
export interface PromptLeaf {
  readonly line: number;
  /** Null = the user went back to before the first message. */
  readonly uuid: string | null;
  /** Whether the user chose this place, by going back to it: while nothing follows, the conversation ends exactly there. */
  readonly isExplicit: boolean;
}

export interface SessionIndex {
  /** All lines that parse, in file order, without superseded duplicates. */
  readonly entries: readonly LineEntry[];
  /** Nodes of the graph by uuid. */
  readonly nodes: ReadonlyMap<string, LineEntry>;
  /** `summary`, `ai-title`, `custom-title` lines, oldest first. */
  readonly titles: readonly MarkerLine[];
  /** `last-prompt` lines, oldest first. */
  readonly promptLeaves: readonly PromptLeaf[];
  /** Lines that list the agent's tools, oldest first. */
  readonly snapshots: readonly SnapshotLine[];
  /** Ids of lines with another id in the session that they were copied from: that id, by their own. */
  readonly originals: ReadonlyMap<string, string>;
  readonly skipped: readonly SkippedLine[];
  /** The first that the file names. */
  readonly sessionId?: string;
  /** The first directory, or the one that the session moved to last. */
  readonly cwd?: string;
  /** Id of the session that continues this one as a copy, if the agent noted it. */
  readonly continuedIn?: string;
  /** RFC 3339 UTC of the first dated line. */
  readonly createdAt: string;
  /** First line that parses; absent if none does. */
  readonly firstLine?: RawLine;
}

interface Draft {
  readonly entries: LineEntry[];
  readonly nodes: Map<string, LineEntry>;
  readonly superseded: Set<LineEntry>;
  readonly titles: MarkerLine[];
  readonly promptLeaves: PromptLeaf[];
  readonly snapshots: SnapshotLine[];
  readonly originals: Map<string, string>;
  readonly skipped: SkippedLine[];
  timestamp: string | undefined;
  createdAt: string | undefined;
  sessionId: string | undefined;
  cwd: string | undefined;
  continuedIn: string | undefined;
  firstLine: RawLine | undefined;
  /** Model of the newest answer so far. */
  model: string | undefined;
  /** Newest line that the conversation may end at; -1 = none. */
  lastNode: number;
}

const TITLE_TYPES: ReadonlySet<unknown> = new Set(["summary", "ai-title", "custom-title"]);

/** Indexes a session file of so many lines. */
export function indexSession(lines: ParsedLines, lineCount: number): SessionIndex {
  const draft: Draft = {
    entries: [],
    nodes: new Map(),
    superseded: new Set(),
    titles: [],
    promptLeaves: [],
    snapshots: [],
    originals: new Map(),
    skipped: [],
    timestamp: undefined,
    createdAt: undefined,
    sessionId: undefined,
    cwd: undefined,
    continuedIn: undefined,
    firstLine: undefined,
    model: undefined,
    lastNode: -1,
  };
  for (let line = 0; line < lineCount; line++) {
    const parsed = lines.at(line);
    if (typeof parsed === "string") draft.skipped.push({ line: line + 1, reason: parsed });
    else if (parsed !== null) addLine(draft, line, parsed);
    if (isRecord(parsed) && linesWithMore.has(parsed))
      draft.skipped.push({
        line: line + 1,
        reason: "more text after its first object, which Claude Code does not read either",
      });
  }
  return finishIndex(draft);
}

function finishIndex(draft: Draft): SessionIndex {
  const { sessionId, cwd, continuedIn, firstLine, createdAt = NO_DATE } = draft;
  return {
    entries: draft.entries
      .filter((entry) => !draft.superseded.has(entry))
      .map((entry) =>
        entry.uuid === undefined && entry.timestamp === NO_DATE ? { ...entry, timestamp: createdAt } : entry,
      ),
    nodes: draft.nodes,
    titles: draft.titles,
    promptLeaves: draft.promptLeaves,
    snapshots: draft.snapshots,
    originals: draft.originals,
    skipped: draft.skipped,
    createdAt,
    sessionId,
    cwd,
    continuedIn,
    firstLine,
  };
}

function addLine(draft: Draft, line: number, raw: RawLine): void {
  const dated = readTimestamp(raw["timestamp"]);
  draft.createdAt ??= dated;
  draft.timestamp = dated ?? draft.timestamp;
  noteSession(draft, raw);
  const timestamp = draft.timestamp ?? NO_DATE;
  if (TITLE_TYPES.has(raw["type"])) draft.titles.push({ line, timestamp, raw });
  if (listsTools(raw)) draft.snapshots.push({ line, timestamp });
  if (raw["type"] === "last-prompt") addPromptLeaf(draft, line, raw);
  const { model } = draft;
  const uuid = uuidOf(raw, draft.nodes);
  const entry = createEntry({ line, raw, uuid, timestamp, model, earlier: draft.nodes.get(uuid ?? "") });
  if (entry.kind === "assistant") draft.model = modelOfAnswer(raw) ?? model;
  draft.entries.push(entry);
  if (entry.uuid === undefined) return;
  const original = originalOfLine(raw);
  if (original !== undefined && original !== entry.uuid) draft.originals.set(entry.uuid, original);
  const earlier = draft.nodes.get(entry.uuid);
  if (earlier !== undefined) draft.superseded.add(earlier);
  draft.nodes.set(entry.uuid, entry);
  if (!entry.isSidechain && entry.isProgress !== true && entry.isFileSnapshot !== true) draft.lastNode = line;
}

/** A user line sent before it was written names the uuid under which the answer knows it. */
function uuidOf(raw: RawLine, nodes: ReadonlyMap<string, LineEntry>): string | undefined {
  if (!NODE_TYPES.has(raw["type"])) return undefined;
  const sentAs = raw["type"] === "user" ? idOf(raw, "sentAsUuid") : undefined;
  return sentAs === undefined || nodes.has(sentAs) ? idOf(raw, "uuid") : sentAs;
}

/** A place that the user chose stays chosen while the next `last-prompt` lines name the same one. */
function addPromptLeaf({ promptLeaves, lastNode }: Draft, line: number, raw: RawLine): void {
  const uuid = raw["leafUuid"] === null ? null : stringOf(raw, "leafUuid");
  if (uuid === undefined || (uuid === null && raw["explicit"] !== true)) return;
  const before = promptLeaves.at(-1);
  const isStillThere = before?.isExplicit === true && before.uuid === uuid && before.line > lastNode;
  const isExplicit = raw["explicit"] === true || isStillThere;
  promptLeaves.push({ line, uuid, isExplicit });
}

/** Lines of other types are no nodes, even with a uuid: the agent finds no parent there. */
export const NODE_TYPES: ReadonlySet<unknown> = new Set(["user", "assistant", "system", "attachment", "progress"]);

function isFileSnapshot(raw: RawLine): boolean {
  return raw["type"] === "system" && raw["subtype"] === "file_snapshot";
}

/** Notes what a line says of the whole session. */
function noteSession(draft: Draft, raw: RawLine): void {
  draft.sessionId ??= sessionOfLine(raw);
  draft.cwd ??= stringOf(raw, "cwd");
  if (raw["type"] === "relocated") draft.cwd = stringOf(raw, "relocatedCwd") ?? draft.cwd;
  if (raw["type"] === "continued-in") draft.continuedIn = stringOf(raw, "continuedInSessionId") ?? draft.continuedIn;
  draft.firstLine ??= raw;
}

interface EntryInput {
  readonly line: number;
  readonly raw: RawLine;
  readonly uuid: string | undefined;
  readonly timestamp: string;
  /** Model of the newest answer before it. */
  readonly model: string | undefined;
  readonly earlier: LineEntry | undefined;
}

function createEntry({ line, raw, uuid, timestamp, model, earlier }: EntryInput): LineEntry {
  const kind = kindOfLine(raw, model);
  const parent = idOf(raw, "parentUuid");
  const lostParent = parent === undefined && earlier?.parent !== undefined;
  const logicalParent = idOf(raw, "logicalParentUuid");
  const messageId = kind === "assistant" ? stringOf(recordOf(raw, "message") ?? {}, "id") : undefined;
  const calls = callsOf(raw, kind);
  const kept = kind === "boundary" ? readKept(raw) : undefined;
  return {
    line,
    firstLine: earlier?.firstLine ?? line,
    kind: uuid === undefined ? "side" : kind,
    isMessage: raw["type"] === "user" || raw["type"] === "assistant" || isSpokenRow(raw),
    isSidechain: raw["isSidechain"] === true,
    timestamp,
    ...(raw["isMeta"] === true && { isMeta: true }),
    ...(raw["type"] === "progress" && { isProgress: true }),
    ...(isFileSnapshot(raw) && { isFileSnapshot: true }),
    uuid,
    parent: parent ?? earlier?.parent,
    ...(lostParent && { lostParent }),
    logicalParent,
    messageId,
    ...(kind === "assistant" && { says: saysLittle(raw) }),
    ...(calls.length > 0 && { calls }),
    kept,
    mark: raw["subtype"] === "informational" ? markOf(raw) : undefined,
  };
}

function markOf({ type, content }: RawLine): LiveMark | undefined {
  return type === "system" && typeof content === "string" ? (readLiveMark(content) ?? undefined) : undefined;
}

function saysLittle(raw: RawLine): LineEntry["says"] {
  const blocks = messageBlocks(raw) ?? [];
  if (blocks.length === 0) return "nothing";
  const isSilent = (block: RawLine): boolean =>
    block["type"] === "thinking" || (block["type"] === "text" && stringOf(block, "text")?.trim() === "");
  return blocks.every(isSilent) ? "thinking" : undefined;
}

/** Finds the lines for which the agent sends `NO_CONTENT`: the first of each assistant message that holds nothing but thinking. */
export function findEmptyMessages(lines: Iterable<LineEntry>): ReadonlySet<LineEntry> {
  const empty = new Map<string, LineEntry | null>();
  for (const entry of lines) {
    if (entry.kind !== "assistant") continue;
    const id = entry.messageId ?? entry.uuid ?? "";
    if (entry.says === undefined) empty.set(id, null);
    else if (entry.says === "nothing" && !empty.has(id)) empty.set(id, entry);
  }
  return new Set([...empty.values()].filter((entry) => entry !== null));
}

/** Reads an id; an empty one counts as absent. */
function idOf(raw: RawLine, key: string): string | undefined {
  const id = stringOf(raw, key);
  return id === "" ? undefined : id;
}

/** The model of an answer; absent for the agent's own words, whose model name begins with `<`. */
export function modelOfAnswer(raw: RawLine): string | undefined {
  const model = stringOf(recordOf(raw, "message") ?? {}, "model");
  return model?.startsWith("<") === true ? undefined : model;
}

/** Ids of the calls that a line makes or answers. */
function callsOf(raw: RawLine, kind: LineKind): readonly string[] {
  if (kind !== "assistant" && kind !== "result") return [];
  const key = kind === "assistant" ? "id" : "tool_use_id";
  const type = kind === "assistant" ? "tool_use" : "tool_result";
  return (messageBlocks(raw) ?? []).flatMap((block) => (block["type"] === type ? (stringOf(block, key) ?? []) : []));
}

// Lines that an agent's compaction keeps: those that its boundary names or, in some versions, a segment between two lines by the
// file's links. They come after the summary, or before it if the user had later turns summarised.

/** The lines that a boundary keeps. */
interface Kept {
  /** Their uuids in order; absent = they are a segment. */
  readonly named?: readonly string[];
  readonly segment?: { readonly head: string; readonly tail: string };
  /** Whether they come before the summary. */
  readonly isBefore: boolean;
}

/** Reads them from a boundary; absent if it keeps nothing. */
function readKept(boundary: RawLine): Kept | undefined {
  const compact = recordOf(boundary, "compactMetadata") ?? {};
  const messages = recordOf(compact, "preservedMessages");
  const segment = recordOf(compact, "preservedSegment") ?? {};
  const anchor = stringOf(messages ?? segment, "anchorUuid");
  const isBefore = anchor !== undefined && anchor === stringOf(boundary, "uuid");
  if (messages !== undefined) return { named: stringsOf(messages, "uuids"), isBefore };
  const head = stringOf(segment, "headUuid");
  const tail = stringOf(segment, "tailUuid");
  return head === undefined || tail === undefined ? undefined : { segment: { head, tail }, isBefore };
}

interface Linked {
  readonly uuid?: string;
}

/** Finds the kept lines, in order; none of a list of which the file lacks one, or of a segment whose head is no ancestor of its tail. */
export function findKept<Entry extends Linked>(
  { named, segment }: Kept,
  nodes: ReadonlyMap<string, Entry>,
  parentOf: (entry: Entry) => Entry | undefined,
): readonly Entry[] {
  if (segment === undefined) {
    const lines = (named ?? []).flatMap((uuid) => nodes.get(uuid) ?? []);
    return lines.length === named?.length ? lines : [];
  }
  const found = new Set<Entry>();
  let at = nodes.get(segment.tail);
  while (at !== undefined && !found.has(at)) {
    found.add(at);
    if (at.uuid === segment.head) return [...found].reverse();
    at = parentOf(at);
  }
  return [];
}

/**
 * Parses one line. A string says why it is no line of a session; null is a blank line. Like the agent, it reads the first object
 * of a line that was torn while being written and has more after it.
 */
export function parseLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (typeof line === "string") return parseFirstObject(text) ?? line;
  if (line === null) return line;
  return typeof line["type"] === "string" ? line : "no `type`";
}

/** Lines with more text after their object. */
const linesWithMore = new WeakSet<RawLine>();

function parseFirstObject(text: string): RawLine | null {
  const end = endOfObject(text);
  const first = end < text.length ? parseJsonLine(text.slice(0, end)) : null;
  if (first === null || typeof first === "string" || typeof first["type"] !== "string") return null;
  linesWithMore.add(first);
  return first;
}

/** Finds the end of the object that a text begins with; the text's length if it is not closed. One pass: lines may be huge. */
function endOfObject(text: string): number {
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') isInString = !isInString;
    else if (isInString && char === "\\") at++;
    else if (!isInString && char === "{") depth++;
    else if (!isInString && char === "}" && --depth <= 0) return at + 1;
  }
  return text.length;
}

/** The blocks of a line's message: a string counts as one text block; absent when there is no message with content. */
export function messageBlocks(line: RawLine): readonly RawLine[] | undefined {
  const content = recordOf(line, "message")?.["content"];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : undefined;
}

/**
 * `prompt` the user's request · `command` a `/command` typed by the user, a request only when the model answers it ·
 * `harness` user text made by the agent (meta lines, local command output, interrupt markers) · `result` tool results ·
 * `assistant` · `attachment` sent by the agent · `summary` and `boundary` of a compaction · `side` never sent ·
 * `repeated` a row of a context that a program put in place of the agent's (answers.ts).
 */
type LineKind =
  | "prompt"
  | "command"
  | "harness"
  | "result"
  | "assistant"
  | "attachment"
  | "summary"
  | "boundary"
  | "side"
  | "repeated";

const HARNESS_TEXT = /^\s*(?:<local-command-|<bash-stdout>|<bash-stderr>|\[Request interrupted by user)/;
const COMMAND_TEXT = /^\s*<command-name>/;

/** Classifies a line; `model` is the conversation's before it, absent = none yet. */
export function kindOfLine(line: RawLine, model?: string): LineKind {
  if (line["isVirtual"] === true) return "side";
  switch (line["type"]) {
    case "user":
      return kindOfUserLine(line);
    case "assistant":
      return isSentAnswer(line) ? "assistant" : "side";
    case "attachment":
      return isSentAttachment(line, model) ? "attachment" : "side";
    case "system":
      return kindOfSystemLine(line);
    default:
      return "side";
  }
}

/** The agent sends neither its own messages about errors nor its placeholder for an empty answer. */
function isSentAnswer(line: RawLine): boolean {
  const blocks = messageBlocks(line);
  if (blocks === undefined || (line["isApiErrorMessage"] === true && modelOfAnswer(line) === undefined)) return false;
  return blocks.length !== 1 || blocks[0]?.["text"] !== NO_CONTENT;
}

function kindOfSystemLine(line: RawLine): LineKind {
  if (line["subtype"] === "compact_boundary") return "boundary";
  if (isVoiceTalk(line)) return "harness";
  const isSent = line["subtype"] === "local_command" && line["isDisplayOnly"] !== true;
  return isSent && commandOutput(line).trim() !== "" ? "harness" : "side";
}

/** What the agent sends for a `system` line of a `/command` that it ran itself, as the user's text. */
export function commandOutput(line: RawLine): string {
  const { content } = line;
  return typeof content === "string" && content !== "" ? content : NO_CONTENT;
}

/** What the agent sends for an empty message. */
export const NO_CONTENT = "(no content)";

/** A queued prompt may be a picture without text, an attached image is one. */
function isSentAttachment(line: RawLine, model: string | undefined): boolean {
  const attachment = recordOf(line, "attachment") ?? {};
  if (attachment["type"] === "queued_command" || readAttachedImage(attachment) !== null) return true;
  return renderAttachment(line, model) !== "";
}

function kindOfUserLine(line: RawLine): LineKind {
  const blocks = messageBlocks(line);
  if (blocks === undefined) return "side";
  if (line["isCompactSummary"] === true) return "summary";
  if (blocks.some((block) => block["type"] === "tool_result")) return "result";
  if (line["isMeta"] === true || isNotification(line) || isVoiceTalk(line)) return "harness";
  const text = firstText(blocks);
  if (HARNESS_TEXT.test(text)) return "harness";
  return COMMAND_TEXT.test(text) ? "command" : "prompt";
}

/** Whether the agent wrote a user line when a background task ended. */
export function isNotification(line: RawLine): boolean {
  return recordOf(line, "origin")?.["kind"] === "task-notification";
}

function firstText(blocks: readonly RawLine[]): string {
  const first = blocks.find((block) => block["type"] === "text");
  return first === undefined ? "" : (stringOf(first, "text") ?? "");
}

/** Whether lines of this kind become events that a model is sent. */
export function isSent(kind: LineKind): boolean {
  return kind !== "side" && kind !== "boundary" && kind !== "summary" && kind !== "repeated";
}

// The session that a line names. A sub-agent's lines name the session that started it, so its own id combines both.

/** The id of a line's session; absent if it names none. */
export function sessionOfLine(line: RawLine): string | undefined {
  const fork = forkContextOf(line);
  if (fork !== undefined) return `${fork.session}-agent-${fork.agent}`;
  const session = stringOf(line, "sessionId");
  const agent = agentNamedBy(line);
  return session === undefined || agent === undefined ? session : `${session}-agent-${agent}`;
}

/** The id of the session that a line was copied from by `/branch`; absent for other lines. */
export function forkedFromSession(line: RawLine): string | undefined {
  return stringOf(recordOf(line, "forkedFrom") ?? {}, "sessionId");
}

/** The id that a line has in the session that it was copied from; absent if it does not say. */
export function originalOfLine(line: RawLine): string | undefined {
  return stringOf(recordOf(line, "forkedFrom") ?? {}, "messageUuid");
}

/** What a forked sub-agent was shown of its parent: everything up to one of the parent's lines. */
interface ForkContext {
  readonly session: string;
  readonly agent: string;
  /** Id of the last line. */
  readonly last: string;
}

/** Reads the first line of a forked sub-agent's file; undefined for any other line. */
export function forkContextOf(line: RawLine): ForkContext | undefined {
  if (line["type"] !== "fork-context-ref") return undefined;
  const [agent, session] = [stringOf(line, "agentId"), stringOf(line, "parentSessionId")];
  const last = stringOf(line, "parentLastUuid");
  return agent === undefined || session === undefined || last === undefined ? undefined : { session, agent, last };
}

/** The id of a line's sub-agent, in older versions the line's uuid; absent for the session's own lines. */
export function agentNamedBy(line: RawLine): string | undefined {
  if (line["isSidechain"] !== true) return undefined;
  return stringOf(line, "agentId") ?? stringOf(line, "uuid");
}

// The offered tools, from the agent's snapshots of its prompt: since 2.1.330, in sessions whose prompt it may have to repeat. Each
// is long, and most repeat the previous one.

interface SnapshotLine {
  /** Line of the file, 0-based. */
  readonly line: number;
  readonly timestamp: string;
}

/** Whether a line is a snapshot with tools; a session's first one is written before they are known. */
function listsTools(raw: RawLine): boolean {
  if (raw["type"] !== "attachment" || raw["isSidechain"] === true) return false;
  const { type, tools } = recordOf(raw, "attachment") ?? {};
  return type === "prompt_snapshot" && Array.isArray(tools) && tools.length > 0;
}

/** A list without its turn. */
type ListLine = Omit<ToolList, "turn"> & SnapshotLine;

/** Returns the lists that differ from the previous one. */
export function readToolLists(lines: ParsedLines, snapshots: readonly SnapshotLine[]): readonly ListLine[] {
  let known = "";
  return snapshots.flatMap(({ line, timestamp }) => {
    const tools = toolsAt(lines, line);
    const text = JSON.stringify(tools);
    if (tools.length === 0 || text === known) return [];
    known = text;
    const raw = lines.at(line);
    return [{ line, timestamp, id: (isRecord(raw) ? stringOf(raw, "uuid") : undefined) ?? `${line}`, tools }];
  });
}

/** Places a list in the last turn that begins no later in the file; `starts` = first lines of the turns. */
export function placeList({ line, ...list }: ListLine, starts: readonly number[]): ToolList {
  const turn = starts.findLastIndex((start) => start <= line);
  return { ...list, turn: Math.max(0, turn) };
}

function toolsAt(lines: ParsedLines, line: number): readonly ToolDefinition[] {
  const raw = lines.at(line);
  const tools = isRecord(raw) ? recordOf(raw, "attachment")?.["tools"] : undefined;
  return Array.isArray(tools) ? tools.filter(isRecord).flatMap((tool) => toolOf(tool) ?? []) : [];
}

/** `schema` is the tool as sent to the API; without it only the name is known. */
function toolOf(tool: RawLine): ToolDefinition | null {
  const { input_schema: parameters } = recordOf(tool, "schema") ?? {};
  return readToolDefinition({ name: tool["name"], description: tool["description"], parameters });
}

// First pass over a session file: a small entry per line (ids, parents, kind), so that the file itself is never held
// parsed. Bad lines are listed, never thrown; of lines with one uuid the last counts.
import { defined } from "../../core/json.ts";
import type { SkippedLine } from "../imported-session.ts";
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { NO_DATE, readTimestamp } from "../timestamp.ts";
import { type Kept, readKept } from "./kept-lines.ts";
import { messageBlocks } from "./line.ts";
import { kindOfLine, type LineKind } from "./line-kind.ts";
import { sessionOfLine } from "./named-session.ts";
import { listsTools, type SnapshotLine } from "./tool-lists.ts";

/** What the index keeps of one line. */
export interface LineEntry {
  /** Line of the file, 0-based; of duplicates the last. */
  readonly line: number;
  /** First line with the same uuid, 0-based. */
  readonly firstLine: number;
  readonly kind: LineKind;
  /** Whether the line is a `user` or `assistant` line: what a path can end in. */
  readonly isMessage: boolean;
  readonly isSidechain: boolean;
  /** Whether it is marked as the agent's own words; only such lines have it. */
  readonly isMeta?: true;
  /** Whether it says how far a running tool or hook is: no line that anything can follow, where the agent looks for one. */
  readonly isProgress?: true;
  /** Absent = side data that is no node of the conversation's graph. */
  readonly uuid?: string;
  readonly parent?: string;
  readonly logicalParent?: string;
  /** `message.id`: lines that share it are one assistant message. */
  readonly messageId?: string;
  /** Ids of the calls that it makes, or answers as a result; absent = none. */
  readonly calls?: readonly string[];
  /** RFC 3339 UTC; that of the line before when the line has none. */
  readonly timestamp: string;
  /** The lines that a compaction leaves as they were; only boundaries have it. */
  readonly kept?: Kept;
}

/** A line that names the session or its end: titles, the newest prompt. */
export interface MarkerLine {
  readonly line: number;
  readonly timestamp: string;
  readonly raw: RawLine;
}

/** A line that says where the conversation stood. */
export interface PromptLeaf {
  readonly line: number;
  readonly uuid: string;
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
  readonly skipped: readonly SkippedLine[];
  /** First of each that the file names. */
  readonly sessionId?: string;
  readonly cwd?: string;
  /** RFC 3339 UTC of the first dated line. */
  readonly createdAt: string;
  /** The first line of the file that parses; absent in a file without one. */
  readonly firstLine?: RawLine;
}

interface Draft {
  readonly entries: LineEntry[];
  readonly nodes: Map<string, LineEntry>;
  readonly superseded: Set<LineEntry>;
  readonly titles: MarkerLine[];
  readonly promptLeaves: PromptLeaf[];
  readonly snapshots: SnapshotLine[];
  readonly skipped: SkippedLine[];
  timestamp: string | undefined;
  createdAt: string | undefined;
  sessionId: string | undefined;
  cwd: string | undefined;
  firstLine: RawLine | undefined;
  /** Model of the newest answer so far. */
  model: string | undefined;
}

const TITLE_TYPES: ReadonlySet<unknown> = new Set(["summary", "ai-title", "custom-title"]);

/** What the lines before a line say of those after it. */
export interface IndexStart {
  /** The first line that is indexed, 0-based. */
  readonly line: number;
  readonly timestamp?: string;
  readonly createdAt?: string;
  readonly sessionId?: string;
  readonly cwd?: string;
  /** Model of the newest answer. */
  readonly model?: string;
}

/** Indexes a session file of so many lines. */
export function indexSession(lines: ParsedLines, lineCount: number, start: IndexStart = { line: 0 }): SessionIndex {
  const draft: Draft = {
    entries: [],
    nodes: new Map(),
    superseded: new Set(),
    titles: [],
    promptLeaves: [],
    snapshots: [],
    skipped: [],
    timestamp: start.timestamp,
    createdAt: start.createdAt,
    sessionId: start.sessionId,
    cwd: start.cwd,
    firstLine: undefined,
    model: start.model,
  };
  for (let line = start.line; line < lineCount; line++) {
    const parsed = lines.at(line);
    if (typeof parsed === "string") draft.skipped.push({ line: line + 1, reason: parsed });
    else if (parsed !== null) addLine(draft, line, parsed);
  }
  return finishIndex(draft);
}

function finishIndex(draft: Draft): SessionIndex {
  const { sessionId, cwd, firstLine, createdAt = NO_DATE } = draft;
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
    skipped: draft.skipped,
    createdAt,
    ...defined({ sessionId, cwd, firstLine }),
  };
}

function addLine(draft: Draft, line: number, raw: RawLine): void {
  const dated = readTimestamp(raw["timestamp"]);
  draft.createdAt ??= dated;
  draft.timestamp = dated ?? draft.timestamp;
  draft.sessionId ??= sessionOfLine(raw);
  draft.cwd ??= stringOf(raw, "cwd");
  draft.firstLine ??= raw;
  const timestamp = draft.timestamp ?? NO_DATE;
  if (TITLE_TYPES.has(raw["type"])) draft.titles.push({ line, timestamp, raw });
  if (listsTools(raw)) draft.snapshots.push({ line, timestamp });
  const leaf = raw["type"] === "last-prompt" ? stringOf(raw, "leafUuid") : undefined;
  if (leaf !== undefined) draft.promptLeaves.push({ line, uuid: leaf });
  const { model } = draft;
  const entry = createEntry({ line, raw, timestamp, model, earlier: draft.nodes.get(idOf(raw, "uuid") ?? "") });
  if (entry.kind === "assistant") draft.model = modelOfAnswer(raw) ?? model;
  draft.entries.push(entry);
  if (entry.uuid === undefined) return;
  const earlier = draft.nodes.get(entry.uuid);
  if (earlier !== undefined) draft.superseded.add(earlier);
  draft.nodes.set(entry.uuid, entry);
}

interface EntryInput {
  readonly line: number;
  readonly raw: RawLine;
  readonly timestamp: string;
  /** Model of the newest answer before it. */
  readonly model: string | undefined;
  readonly earlier: LineEntry | undefined;
}

function createEntry({ line, raw, timestamp, model, earlier }: EntryInput): LineEntry {
  const uuid = idOf(raw, "uuid");
  const kind = kindOfLine(raw, model);
  const parent = idOf(raw, "parentUuid");
  const logicalParent = idOf(raw, "logicalParentUuid");
  const messageId = kind === "assistant" ? stringOf(recordOf(raw, "message") ?? {}, "id") : undefined;
  const calls = callsOf(raw, kind);
  const kept = kind === "boundary" ? readKept(raw) : undefined;
  return {
    line,
    firstLine: earlier?.firstLine ?? line,
    kind: uuid === undefined ? "side" : kind,
    isMessage: raw["type"] === "user" || raw["type"] === "assistant",
    isSidechain: raw["isSidechain"] === true,
    timestamp,
    ...(raw["isMeta"] === true && { isMeta: true }),
    ...(raw["type"] === "progress" && { isProgress: true }),
    ...defined({ uuid, parent, logicalParent, messageId }),
    ...(calls.length > 0 && { calls }),
    ...defined({ kept }),
  };
}

/** An id that a line names; an empty one names nothing. */
function idOf(raw: RawLine, key: string): string | undefined {
  const id = stringOf(raw, key);
  return id === "" ? undefined : id;
}

/** The model of an answer; the agent names its own words, which no model wrote, differently. */
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

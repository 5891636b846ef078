// Indexes a session file: a small record per entry (id, parent, kind), so that the parsed file is never in memory whole. Bad lines are
// listed, never thrown; of entries with one id the last counts, as it does for pi.
import {
  createOriginLine,
  deriveName,
  type ExportOrigin,
  readExportOrigin,
  type SkippedLine,
  toUsableId,
} from "../imported-session.ts";
import {
  isRecord,
  NO_DATE,
  type ParsedLines,
  parseJsonLine,
  type RawLine,
  readTimestamp,
  recordOf,
  type SessionSource,
  stringOf,
} from "../session-source.ts";

/** What the index keeps of one entry. */
export interface Entry {
  /** Line in the file, 0-based. */
  readonly line: number;
  /** First line with the same id, 0-based. */
  readonly firstLine: number;
  readonly kind: EntryKind;
  /** As in the file; in a file without ids, made of session id and line number. */
  readonly id: string;
  /**
   * Id of its first event: no dot, and nothing that a name cannot contain. In files that began without ids it is made of session id
   * and entry number, because pi gives such entries random ids when it opens the file.
   */
  readonly eventId: string;
  /** Absent = the entry is a root. */
  readonly parent?: string;
  /** RFC 3339 UTC; that of the previous entry if it has none. */
  readonly timestamp: string;
  /** When the message was typed, perhaps long before it was sent; milliseconds since 1970. */
  readonly madeMs?: number;
}

export interface EntryIndex {
  /** All entries in file order, without superseded ones. */
  readonly entries: readonly Entry[];
  readonly nodes: ReadonlyMap<string, Entry>;
  readonly skipped: readonly SkippedLine[];
  readonly header: RawLine;
  readonly sessionId: string;
  /** Whether entries have ids; in the format's first version each follows the previous one. */
  readonly hasIds: boolean;
  /** RFC 3339 UTC of the header, else of the first dated entry. */
  readonly createdAt: string;
}

/** First version with ids. */
const FIRST_WITH_IDS = 2;

interface Draft {
  readonly header: RawLine;
  readonly sessionId: string;
  readonly hasIds: boolean;
  /** Whether the file began without ids: its header then names the model, even after pi has added ids. */
  readonly beganWithoutIds: boolean;
  readonly entries: Entry[];
  readonly nodes: Map<string, Entry>;
  readonly superseded: Set<Entry>;
  readonly skipped: SkippedLine[];
  timestamp: string | undefined;
}

/** Indexes a session file; null when its first entry is no header. */
export function indexEntries(lines: ParsedLines, lineCount: number): EntryIndex | null {
  let draft: Draft | null = null;
  const bad: SkippedLine[] = [];
  for (let line = 0; line < lineCount; line++) {
    const parsed = lines.at(line);
    if (parsed === null) continue;
    if (typeof parsed === "string") bad.push({ line: line + 1, reason: parsed });
    else if (draft !== null) addLine(draft, line, parsed);
    else if (isHeader(parsed)) draft = startDraft(parsed);
    else return null;
  }
  if (draft === null) return null;
  const entries = draft.entries.filter((entry) => !draft.superseded.has(entry));
  return {
    entries,
    nodes: draft.nodes,
    skipped: [...bad, ...draft.skipped].sort((a, b) => a.line - b.line),
    header: draft.header,
    sessionId: draft.sessionId,
    hasIds: draft.hasIds,
    createdAt: readTimestamp(draft.header["timestamp"]) ?? entries[0]?.timestamp ?? NO_DATE,
  };
}

export function idOfHeader(header: RawLine): string {
  return toUsableId(stringOf(header, "id") ?? "");
}

function startDraft(header: RawLine): Draft {
  // The version may be a string; other types do not count.
  const { version = 1 } = header;
  const hasIds = ["number", "string"].includes(typeof version) && Number(version) >= FIRST_WITH_IDS;
  return {
    header,
    sessionId: idOfHeader(header),
    hasIds,
    beganWithoutIds: !hasIds || typeof header["modelId"] === "string",
    entries: [],
    nodes: new Map(),
    superseded: new Set(),
    skipped: [],
    timestamp: readTimestamp(header["timestamp"]),
  };
}

function addLine(draft: Draft, line: number, raw: RawLine): void {
  if (raw["type"] === "session") {
    draft.skipped.push({ line: line + 1, reason: "a further header" });
    return;
  }
  const id = draft.hasIds ? stringOf(raw, "id") : `${draft.sessionId}-${line}`;
  if (id === undefined || id === "") {
    draft.skipped.push({ line: line + 1, reason: "no `id`" });
    return;
  }
  draft.timestamp = readTimestamp(raw["timestamp"]) ?? draft.timestamp;
  const earlier = draft.nodes.get(id);
  const parent = draft.hasIds ? stringOf(raw, "parentId") : draft.entries.at(-1)?.id;
  const { timestamp: madeMs } = messageOfEntry(raw);
  const entry: Entry = {
    line,
    firstLine: earlier?.firstLine ?? line,
    kind: kindOfEntry(raw),
    id,
    eventId: entryId(draft.beganWithoutIds ? `${draft.sessionId}-${draft.entries.length + 1}` : id),
    timestamp: draft.timestamp ?? NO_DATE,
    ...(parent !== undefined && parent !== "" && { parent }),
    ...(typeof madeMs === "number" && { madeMs }),
  };
  if (earlier !== undefined) {
    draft.superseded.add(earlier);
    draft.skipped.push({ line: earlier.line + 1, reason: `its id is used again in line ${line + 1}` });
  }
  draft.entries.push(entry);
  draft.nodes.set(id, entry);
}

/** The agent's ids are 8 hex digits or sometimes a UUID. */
const USABLE = /^[A-Za-z0-9_-]{1,128}$/;

/** Makes an entry's id usable for events: the id itself, else a name derived from it. */
function entryId(id: string): string {
  return USABLE.test(id) ? id : `entry-${deriveName(id)}`;
}

/**
 * - `prompt`: what the user typed
 * - `assistant`: an answer that the agent sends again
 * - `failed`: an answer that was broken off; neither it nor its calls are sent again
 * - `result`: what a tool returned
 * - `harness`: what the agent or an extension added, sent as if the user had said it
 * - `compaction`, `edit`: change what is sent of the entries before them
 * - `side`: never sent to a model
 */
type EntryKind = "prompt" | "assistant" | "failed" | "result" | "harness" | "compaction" | "edit" | "side";

/** Stop reasons of answers that are not sent again. */
const FAILED: ReadonlySet<unknown> = new Set(["aborted", "error"]);
const HARNESS_ROLES: ReadonlySet<string> = new Set(["custom", "hookMessage", "branchSummary", "compactionSummary"]);

function kindOfEntry(line: RawLine): EntryKind {
  switch (line["type"]) {
    case "message":
      return kindOfMessage(line);
    case "custom_message":
      return "harness";
    case "branch_summary":
      return (stringOf(line, "summary") ?? "") === "" ? "side" : "harness";
    case "compaction":
      return "compaction";
    case "context_edit":
      return isEdit(line) ? "edit" : "side";
    default:
      return "side";
  }
}

/** Whether the agent sends entries of this kind where they are. */
export function isSentKind(kind: EntryKind): boolean {
  return kind === "prompt" || kind === "assistant" || kind === "result" || kind === "harness";
}

function kindOfMessage(line: RawLine): EntryKind {
  const role = roleOf(line);
  if (role === "user") return "prompt";
  if (role === "assistant") return FAILED.has(messageOfEntry(line)["stopReason"]) ? "failed" : "assistant";
  if (role === "toolResult") return "result";
  if (role === "bashExecution") return messageOfEntry(line)["excludeFromContext"] === true ? "side" : "harness";
  return HARNESS_ROLES.has(role) ? "harness" : "side";
}

/** Whether a line is a valid edit: it names an entry that it removes (`null`) or whose content it replaces. */
function isEdit(line: RawLine): boolean {
  if (stringOf(line, "targetId") === undefined) return false;
  return line["replacement"] === null || recordOf(line, "replacement") !== undefined;
}

// Parses lines of a session file: the header, or an entry. Only `type` is checked.

/** Parses a line. A string says why it is not a line of a session; null is a blank line. */
export function parseSessionLine(text: string): RawLine | string | null {
  const line = parseJsonLine(text);
  if (line === null || typeof line === "string") return line;
  return typeof line["type"] === "string" ? line : "no `type`";
}

/** Recognises the header, which must be a session's first line. */
export function isHeader(line: RawLine): boolean {
  return line["type"] === "session" && typeof line["id"] === "string";
}

/** An entry's message; empty if it has none. */
export function messageOfEntry(line: RawLine): RawLine {
  return recordOf(line, "message") ?? {};
}

/** The role in an entry's message; "" if it has none. */
export function roleOf(line: RawLine): string {
  return stringOf(messageOfEntry(line), "role") ?? "";
}

/** Returns the blocks of a content: a string is one block of text; other values are dropped. */
export function blocksOf(content: unknown): readonly RawLine[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isRecord) : [];
}

// The tree of a session's entries. The agent continues from the file's last entry.

export interface SessionTree {
  parentOf(entry: Entry): Entry | undefined;
  /** Whether an entry's parent is missing: the agent sends nothing that comes before it. */
  isCutOff(entry: Entry): boolean;
}

/**
 * Links entries with their parents. An entry whose parent is missing follows the entry above it, so that a lost line does not hide
 * the earlier conversation.
 */
export function createTree({ entries, nodes }: EntryIndex): SessionTree {
  const parents = new Map<Entry, Entry>();
  const cutOff = new Set<Entry>();
  let above: Entry | undefined;
  for (const entry of entries) {
    const named = entry.parent === undefined ? undefined : nodes.get(entry.parent);
    const isMissing = entry.parent !== undefined && named === undefined;
    if (isMissing && above !== undefined) cutOff.add(entry);
    const parent = isMissing ? above : named;
    if (parent !== undefined && parent !== entry) parents.set(entry, parent);
    above = entry;
  }
  return { parentOf: (entry) => parents.get(entry), isCutOff: (entry) => cutOff.has(entry) };
}

/** The entries from the root to a leaf. A loop of parents, which the agent could not load, ends where it closes. */
export function treePathTo(leaf: Entry | undefined, tree: SessionTree): Entry[] {
  const seen = new Set<Entry>();
  for (let at = leaf; at !== undefined && !seen.has(at); at = tree.parentOf(at)) seen.add(at);
  return [...seen].reverse();
}

/** The path that the agent resumes; empty when the file holds no entry. */
export function activePath({ entries }: EntryIndex, tree: SessionTree): readonly Entry[] {
  return treePathTo(entries.at(-1), tree);
}

// jpg's side line in a session of pi: a `custom` entry, which pi keeps and never sends. It is the second line, since the first must
// be pi's header.

/** Distinguishes jpg's entries from those of extensions. */
const CUSTOM_TYPE = "jpg-origin";
/** Line of jpg's entry, 0-based. */
const ORIGIN_LINE = 1;
/** Most bytes of jpg's entry. */
const LONGEST = 4096;

export function createOriginBody(origin: ExportOrigin, sessionId: string): RawLine {
  return { type: "custom", customType: CUSTOM_TYPE, data: createOriginLine(origin, sessionId) };
}

/** Whether an entry is jpg's side line. */
export function isOriginEntry(line: RawLine): boolean {
  return line["type"] === "custom" && line["customType"] === CUSTOM_TYPE;
}

/** Reads the side line of a session that jpg exported; null for a session of pi's own. Never throws. */
export function readPiOrigin(source: SessionSource): ExportOrigin | null {
  return readExportOrigin(originData(source));
}

/** Returns the id under which jpg exported a session; in pi's forks, which are copies, it differs from theirs. */
export function exportedSessionId(source: SessionSource): string | undefined {
  const data = originData(source);
  return data === undefined ? undefined : stringOf(data, "sessionId");
}

function originData(source: SessionSource): RawLine | undefined {
  if (source.lineCount <= ORIGIN_LINE) return undefined;
  if (source.lineStart(ORIGIN_LINE + 1) - source.lineStart(ORIGIN_LINE) > LONGEST) return undefined;
  const line = parseSessionLine(source.line(ORIGIN_LINE));
  const isOrigin = line !== null && typeof line !== "string" && isOriginEntry(line);
  return isOrigin ? recordOf(line, "data") : undefined;
}

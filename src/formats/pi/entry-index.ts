// First pass over a session file: a small record per entry (id, parent, kind), so that the file itself is never held parsed.
// Bad lines are listed, never thrown; of entries with one id the last counts, as it does to the agent.
import type { SkippedLine } from "../imported-session.ts";
import { type RawLine, stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { NO_DATE, readTimestamp } from "../timestamp.ts";
import { toUsableId } from "../usable-id.ts";
import { entryId } from "./entry-id.ts";
import { type EntryKind, kindOfEntry } from "./entry-kind.ts";
import { isHeader, saidMessage } from "./line.ts";

/** What the index keeps of one entry. */
export interface Entry {
  /** Line of the file, 0-based; of entries with one id the last. */
  readonly line: number;
  /** First line with the same id, 0-based. */
  readonly firstLine: number;
  readonly kind: EntryKind;
  /** As in the file; in files without ids, which are one line of entries, made of the session and the line. */
  readonly id: string;
  /**
   * The id of its first event: no dot in it, and nothing that cannot stand in a name. In files that began without ids made of the
   * session and the entry's number: pi gives such entries ids by chance when it opens the file.
   */
  readonly eventId: string;
  /** Absent = the entry is a root. */
  readonly parent?: string;
  /** RFC 3339 UTC; that of the entry before when it has none. */
  readonly timestamp: string;
  /** When the message was made, milliseconds since 1970: a prompt may be typed long before it is taken up. */
  readonly made?: number;
}

export interface EntryIndex {
  /** All entries in file order, without superseded ones. */
  readonly entries: readonly Entry[];
  readonly nodes: ReadonlyMap<string, Entry>;
  readonly skipped: readonly SkippedLine[];
  readonly header: RawLine;
  readonly sessionId: string;
  /** Whether the file's entries have ids; in the first version of the format they follow each other as they stand. */
  readonly hasIds: boolean;
  /** Whether entries' events are numbered from the file's beginning, since it began without ids. */
  readonly isNumbered: boolean;
  /** RFC 3339 UTC of the header, else of the first dated entry. */
  readonly createdAt: string;
}

/** Version of files in which entries have ids. */
const FIRST_WITH_IDS = 2;

interface Draft {
  readonly header: RawLine;
  readonly sessionId: string;
  readonly hasIds: boolean;
  /** Whether the file began without ids: its header then names the model, also after pi has given them. */
  readonly beganWithout: boolean;
  readonly entries: Entry[];
  readonly nodes: Map<string, Entry>;
  readonly superseded: Set<Entry>;
  readonly skipped: SkippedLine[];
  timestamp: string | undefined;
}

/** Indexes a session file of so many lines, behind its header those from one on; null when its first entry is no header. */
export function indexEntries(lines: ParsedLines, lineCount: number, from = 0): EntryIndex | null {
  let draft: Draft | null = null;
  const bad: SkippedLine[] = [];
  for (let line = 0; line < lineCount; line++) {
    if (draft !== null && line < from) line = from;
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
    isNumbered: draft.beganWithout,
    createdAt: readTimestamp(draft.header["timestamp"]) ?? entries[0]?.timestamp ?? NO_DATE,
  };
}

/** Gives the id of a session from its header. */
export function idOfHeader(header: RawLine): string {
  return toUsableId(stringOf(header, "id") ?? "");
}

function startDraft(header: RawLine): Draft {
  // A text may stand for the number; anything else is none.
  const { version = 1 } = header;
  const hasIds = ["number", "string"].includes(typeof version) && Number(version) >= FIRST_WITH_IDS;
  return {
    header,
    sessionId: idOfHeader(header),
    hasIds,
    beganWithout: !hasIds || typeof header["modelId"] === "string",
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
  const { timestamp: made } = saidMessage(raw);
  const entry: Entry = {
    line,
    firstLine: earlier?.firstLine ?? line,
    kind: kindOfEntry(raw),
    id,
    eventId: entryId(draft.beganWithout ? `${draft.sessionId}-${draft.entries.length + 1}` : id),
    timestamp: draft.timestamp ?? NO_DATE,
    ...(parent !== undefined && parent !== "" && { parent }),
    ...(typeof made === "number" && { made }),
  };
  if (earlier !== undefined) {
    draft.superseded.add(earlier);
    draft.skipped.push({ line: earlier.line + 1, reason: `its id is used again in line ${line + 1}` });
  }
  draft.entries.push(entry);
  draft.nodes.set(id, entry);
}

import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { type AbandonedBranch, deriveName, type ImportedSession, type ToolList } from "../imported-session.ts";
import type { LiveMarks } from "../live-mark.ts";
import {
  createParsedLines,
  isRecord,
  type ParsedLines,
  type RawLine,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import {
  listPiCompactions,
  type PathCompactions,
  type PathReading,
  type PathTurn,
  readTreePath,
  readTurn,
} from "./compactions.ts";
import {
  activePath,
  createTree,
  type Entry,
  type EntryIndex,
  exportedSessionId,
  idOfHeader,
  indexEntries,
  isHeader,
  isSentKind,
  messageOfEntry,
  parseSessionLine,
  readPiOrigin,
  roleOf,
  type SessionTree,
  treePathTo,
} from "./entries.ts";

// Imports a pi session: indexes its entries, finds the path that the agent would resume, reads its turns on demand, its compactions
// and edits. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const PI_IMPORTER = 4;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";
/** Lines searched for the header: blank and damaged ones may precede it. */
const LINES_LOOKED_AT = 50;

/** Recognises a session: its first readable line is a header. */
export function isPiSession(source: SessionSource): boolean {
  return piSessionId(source) !== null;
}

/** Reads the id from the header; null when the file does not begin with one. */
export function piSessionId(source: SessionSource): string | null {
  for (let line = 0; line < Math.min(source.lineCount, LINES_LOOKED_AT); line++) {
    const parsed = parseSessionLine(source.line(line));
    if (parsed !== null && typeof parsed !== "string") return isHeader(parsed) ? idOfHeader(parsed) : null;
  }
  return null;
}

/** Reads a session; lists bad lines in `skippedLines`. Throws `not_a_session` when the first line is no header. */
export function readPiSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseSessionLine);
  const index = indexEntries(lines, source.lineCount);
  if (index === null) throw notASession();
  const tree = createTree(index);
  const reading = readTreePath(lines, index, activePath(index, tree));
  const { cuts } = reading;
  const found = listPiCompactions(reading, tree);
  const { placed } = found;
  const starts = turnStarts(cuts);
  const cwd = stringOf(index.header, "cwd");
  const origin = readPiOrigin(source);
  const exportedAs = exportedSessionId(source);
  return {
    format: "pi",
    importer: PI_IMPORTER,
    sessionId: index.sessionId,
    title: firstTitle(reading) ?? UNTITLED,
    titles: readSessionNames(lines, index.entries),
    toolLists: listTools(reading),
    createdAt: index.createdAt,
    cwd,
    turnCount: cuts.length,
    readTurn: (turn) => readTurn(reading, turn),
    turnLine: (turn) => starts[turn] ?? source.lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn]?.opener.timestamp ?? index.createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: findAbandonedBranches(reading, tree),
    skippedLines: index.skipped,
    live: liveOf(found),
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
  };
}

/** pi keeps the ids of entries. */
function liveOf({ undone, live, seen }: PathCompactions): LiveMarks {
  const marks = live.batches.map(({ mark, at, isWhole }) => ({ ...mark, line: at.eventId, isInstalled: isWhole }));
  let handles: ReadonlyMap<string, string> | undefined;
  return {
    marks,
    undone,
    handleOf(event) {
      handles ??= new Map([...seen].map(({ eventId, id }) => [eventId, id] as const));
      const [entry = event] = event.split(".", 1);
      return handles.get(entry);
    },
  };
}

function notASession(): Error {
  return userError(
    "not_a_session",
    'The file is not a pi session: expected a first line of `"type":"session"` with an `id`.',
    { hints: ["pi keeps sessions in ~/.pi/agent/sessions/--<project>--/<time>_<session>.jsonl."] },
  );
}

/** Lines at which the turns' pieces of the file begin, 0-based, never falling; turn 0 begins with the file. */
function turnStarts(cuts: readonly PathTurn[]): readonly number[] {
  let last = 0;
  return cuts.map(({ opener }, turn) => {
    if (turn > 0) last = Math.max(last, opener.firstLine);
    return last;
  });
}

/** The first words of the first request. */
function firstTitle(reading: PathReading): string | undefined {
  for (const turn of reading.cuts.keys()) {
    for (const event of readTurn(reading, turn)) {
      if (!isUserRequest(event)) continue;
      const title = titleOfRequest(wordsOfContent(event.content));
      if (title !== "") return title;
    }
  }
  return undefined;
}

/** Finds the abandoned branches, in the file order of their ends, without those on which nothing was asked or answered. */
function findAbandonedBranches(active: PathReading, tree: SessionTree): readonly AbandonedBranch[] {
  const claimed = new Set(active.path);
  const branches: AbandonedBranch[] = [];
  for (const leaf of findLeaves(active.index, tree, claimed).toReversed()) {
    const path = treePathTo(leaf, tree);
    const own = path.filter((entry) => !claimed.has(entry));
    for (const entry of own) claimed.add(entry);
    const first = own.find(({ kind }) => isSentKind(kind));
    if (first !== undefined && own.some(isSubstance)) branches.unshift(createBranch(active, path, first));
  }
  return branches;
}

function isSubstance({ kind }: Entry): boolean {
  return kind === "prompt" || kind === "assistant";
}

/** Sent entries off the path that no other sent entry off the path follows, in file order. */
function findLeaves(index: EntryIndex, tree: SessionTree, onPath: ReadonlySet<Entry>): readonly Entry[] {
  const followed = new Set<Entry>();
  const candidates = index.entries.filter((entry) => !onPath.has(entry) && isSentKind(entry.kind));
  for (const entry of candidates) {
    let at = tree.parentOf(entry);
    for (; at !== undefined && !onPath.has(at) && !followed.has(at); at = tree.parentOf(at)) followed.add(at);
  }
  return candidates.filter((entry) => !followed.has(entry));
}

function createBranch(active: PathReading, path: readonly Entry[], first: Entry): AbandonedBranch {
  const reading = readTreePath(active.lines, active.index, path);
  const common = countCommonTurns(active.cuts, reading.cuts);
  return {
    name: `left-${deriveName(first.eventId).slice(0, 8)}`,
    commonTurns: common,
    turnCount: reading.cuts.length,
    readTurn: (turn) => readTurn(turn < common ? active : reading, turn),
  };
}

/** Counts the turns at the start that sent the same entries. */
function countCommonTurns(a: readonly PathTurn[], b: readonly PathTurn[]): number {
  const differs = b.findIndex((cut, turn) => !hasSameEntries(sentEntries(cut), sentEntries(a[turn])));
  return differs < 0 ? b.length : differs;
}

function sentEntries(cut: PathTurn | undefined): readonly Entry[] {
  return cut?.chain.filter(({ kind }) => isSentKind(kind)) ?? [];
}

function hasSameEntries(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, position) => entry === b[position]);
}

/** The names of a session, oldest first, without cleared ones and repetitions. */
function readSessionNames(lines: ParsedLines, entries: readonly Entry[]): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, kind, timestamp, eventId } of entries) {
    const raw = kind === "side" ? lines.at(line) : null;
    if (raw === null || typeof raw === "string" || raw["type"] !== "session_info") continue;
    const title = shownTitle(stringOf(raw, "name") ?? "");
    if (title !== "" && title !== titles.at(-1)?.title) titles.push({ timestamp, title, id: eventId });
  }
  return titles;
}

/** Returns the tool list after each system message that changes it. */
function listTools({ lines, cuts }: PathReading): readonly ToolList[] {
  const tools: OfferedTools = new Map();
  return cuts.flatMap(({ chain }, turn) =>
    chain.flatMap((entry): readonly ToolList[] => {
      const raw = entry.kind === "side" ? lines.at(entry.line) : null;
      if (raw === null || typeof raw === "string" || roleOf(raw) !== "system") return [];
      if (!changeTools(tools, messageOfEntry(raw)) || tools.size === 0) return [];
      return [{ turn, timestamp: entry.timestamp, id: entry.eventId, tools: [...tools.values()] }];
    }),
  );
}

/** Tools by name. */
type OfferedTools = Map<string, ToolDefinition>;

/** Applies a system message to the tools. Returns whether it mentions tools. */
function changeTools(tools: OfferedTools, { toolsAdded, toolsRemoved }: RawLine): boolean {
  const added = listOf(toolsAdded).flatMap((tool) => readToolDefinition(tool) ?? []);
  const removed = listOf(toolsRemoved).flatMap((tool) => (isRecord(tool) ? (stringOf(tool, "name") ?? []) : []));
  for (const name of removed) tools.delete(name);
  for (const tool of added) tools.set(tool.name, tool);
  return added.length + removed.length > 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

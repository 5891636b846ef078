// Imports a session of pi, whole or from one of its newest turns on.
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { isUserRequest, wordsOfContent } from "../../core/conversation/event.ts";
import { shownTitle, titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import {
  type AbandonedBranch,
  areTitlesAfter,
  areTitlesBefore,
  deriveName,
  type ImportedSession,
  latestStart,
  type NameFilter,
  nameEntries,
  openNameFilter,
  READ_AGAIN,
  type SessionMark,
  type SkippedLine,
  skippedBefore,
  type ToolList,
} from "../imported-session.ts";
import {
  createParsedLines,
  isRecord,
  type ParsedLines,
  type RawLine,
  readTimestamp,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import {
  listPiCompactions,
  type PathReading,
  type PathTurn,
  type PlacedCompaction,
  readCut,
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
  parseSessionLine,
  readPiOrigin,
  roleOf,
  type SessionTree,
  saidMessage,
  treePathTo,
} from "./entries.ts";

/** Reads a session from a mark of its first lines on; null where it has to be read whole. */
export function readPiTail(source: SessionSource, mark: SessionMark): ImportedSession | null {
  const former: FormerPiMark = { ...mark, state: mark.state as PiState };
  const lines = createParsedLines(source, parseSessionLine, mark.line);
  const index = indexEntries(lines, source.lineCount, mark.line);
  const names = openNameFilter(mark.names);
  if (index === null || names === null) return null;
  const reading = readTreePath(lines, index, activePath(index, createTree(index)));
  return isApart(reading, mark.line, names) ? createTail(reading, former, source.lineCount) : null;
}

function createTail(reading: PathReading, former: FormerPiMark, lineCount: number): ImportedSession | null {
  const { lines, index, cuts } = reading;
  const { turn: first, line: firstLine, state } = former;
  const titles = readSessionNames(lines, index.entries, state.lastTitle);
  if (!areTitlesAfter(titles, state.latestStart)) return null;
  const tools = new Map(state.tools.map((tool) => [tool.name, tool]));
  const cwd = stringOf(index.header, "cwd");
  return {
    format: "pi",
    importer: PI_IMPORTER,
    sessionId: index.sessionId,
    title: state.title,
    titles,
    toolLists: listTools(reading, tools).map((list) => ({ ...list, turn: first + list.turn })),
    createdAt: state.createdAt,
    ...defined({ cwd }),
    turnCount: first + cuts.length,
    firstTurn: first,
    readTurn: (turn) => readCut(reading, cuts[turn - first]),
    turnLine: (turn) => cuts[turn - first]?.opener.firstLine ?? lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn - first]?.opener.timestamp ?? state.createdAt,
    compactions: [],
    compactionTurns: new Map(),
    abandoned: [],
    skippedLines: [...state.skipped, ...index.skipped.filter(({ line }) => line > firstLine)],
    mark: () => createSessionMark({ reading, placed: [], title: { title: state.title, turn: 0 } }, former),
  };
}

/** Whether nothing from the mark on has to do with the lines before it. */
function isApart({ index, path, cuts }: PathReading, line: number, names: NameFilter): boolean {
  const opener = cuts[0]?.opener;
  return (
    opener?.line === line &&
    opener.firstLine === line &&
    path[0] === opener &&
    opener.kind === "prompt" &&
    !index.nodes.has(opener.parent ?? "") &&
    startsRise(cuts) &&
    index.entries.every((entry) => isOwn(entry, names) && (entry === opener || followsOther(entry, index)))
  );
}

/** Whether an entry's id is new, and it changes nothing of others. */
function isOwn({ id, kind }: Entry, names: NameFilter): boolean {
  return kind !== "compaction" && kind !== "edit" && !names.mayHave(id);
}

/** Whether an entry follows an earlier one from the mark on. */
function followsOther({ parent, line }: Entry, { nodes }: EntryIndex): boolean {
  return parent !== undefined && (nodes.get(parent)?.firstLine ?? line) < line;
}

// Imports a pi session: an index of its entries, the path that the agent would resume, its turns read on demand, its compactions
// and edits as compactions. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
export const PI_IMPORTER = 1;

/** What a session without a request of the user is called. */
const UNTITLED = "untitled session";
/** How many lines are looked at for the header: blank and damaged ones may stand before it. */
const LINES_LOOKED_AT = 50;

/** Whether a file is a session of pi: its first line that can be read is a header. */
export function isPiSession(source: SessionSource): boolean {
  return piSessionId(source) !== null;
}

/** Gives the id of a session from its header; null when the file does not begin with one. */
export function piSessionId(source: SessionSource): string | null {
  for (let line = 0; line < Math.min(source.lineCount, LINES_LOOKED_AT); line++) {
    const parsed = parseSessionLine(source.line(line));
    if (parsed !== null && typeof parsed !== "string") return isHeader(parsed) ? idOfHeader(parsed) : null;
  }
  return null;
}

/** Reads a session. Bad lines are listed in `skippedLines`. Throws `not_a_session` when the first line is no header. */
export function readPiSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseSessionLine);
  const index = indexEntries(lines, source.lineCount);
  if (index === null) throw notASession();
  const tree = createTree(index);
  const reading = readTreePath(lines, index, activePath(index, tree));
  const { cuts } = reading;
  const placed = listPiCompactions(reading, tree);
  const starts = turnStarts(cuts);
  const cwd = stringOf(index.header, "cwd");
  const origin = readPiOrigin(source);
  const exportedAs = exportedSessionId(source);
  const title = firstTitle(reading);
  return {
    format: "pi",
    importer: PI_IMPORTER,
    sessionId: index.sessionId,
    title: title?.title ?? UNTITLED,
    titles: readSessionNames(lines, index.entries),
    toolLists: listTools(reading, new Map()),
    createdAt: index.createdAt,
    ...defined({ cwd }),
    turnCount: cuts.length,
    readTurn: (turn) => readTurn(reading, turn),
    turnLine: (turn) => starts[turn] ?? source.lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn]?.opener.timestamp ?? index.createdAt,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: findLeftBranches(reading, tree),
    skippedLines: index.skipped,
    ...(origin !== null && { origin }),
    ...(origin !== null && exportedAs !== undefined && { exportedAs }),
    mark: () => createSessionMark({ reading, placed, title }),
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

/** The first words of the first request, and the turn that they stand in. */
function firstTitle(reading: PathReading): { readonly title: string; readonly turn: number } | undefined {
  for (const turn of reading.cuts.keys()) {
    for (const event of readTurn(reading, turn)) {
      if (!isUserRequest(event)) continue;
      const title = titleOfRequest(wordsOfContent(event.content));
      if (title !== "") return { title, turn };
    }
  }
  return undefined;
}

/** Finds the branches, in the file order of their ends. Those on which nothing was asked or answered are none. */
function findLeftBranches(active: PathReading, tree: SessionTree): readonly AbandonedBranch[] {
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

/** How many of its first turns the second has that say the same as those of the first. */
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

/** What the lines before a mark say of those after it. */
interface PiState {
  readonly createdAt: string;
  /** First words of the first request. */
  readonly title: string;
  /** The newest of the later titles. */
  readonly lastTitle?: string;
  readonly tools: readonly ToolDefinition[];
  /** The latest start of a turn up to the mark's own, but for turn 0; milliseconds since 1970. */
  readonly latestStart: number;
  readonly skipped: readonly SkippedLine[];
}

/** A mark that a file was read from. */
interface FormerPiMark extends Omit<SessionMark, "state"> {
  readonly state: PiState;
}

interface MarkedReading {
  readonly reading: PathReading;
  readonly placed: readonly PlacedCompaction[];
  /** The first words of the first request, and the turn that they stand in; absent = there are none. */
  readonly title: { readonly title: string; readonly turn: number } | undefined;
}

/** The mark of a reading; null where a file that grew has to be read whole. */
function createSessionMark(marked: MarkedReading, former?: FormerPiMark): SessionMark | null {
  const { reading, placed, title } = marked;
  const turn = reading.cuts.length - READ_AGAIN;
  const opener = reading.cuts[turn]?.opener;
  if (opener === undefined || title === undefined || reading.index.isNumbered) return null;
  if (former?.line === opener.line) return former;
  const isEarly = former === undefined && (turn < 1 || title.turn >= turn);
  const isChanged = placed.some((one) => one.turn >= turn || one.compaction.to_turn >= turn);
  if (isEarly || isChanged || !isParted(reading, opener)) return null;
  const before = reading.index.entries.filter(({ line }) => line < opener.line);
  const state = stateBefore(marked, { turn, line: opener.line, before, title: title.title }, former?.state);
  const names = nameEntries(before.flatMap(namesOf), former?.names);
  if (state === null || names === null) return null;
  return { line: opener.line, turn: (former?.turn ?? 0) + turn, state, names };
}

interface MarkPlace {
  /** Among those that were read, 0-based. */
  readonly turn: number;
  readonly line: number;
  /** The entries before it, of those that were read. */
  readonly before: readonly Entry[];
  readonly title: string;
}

/** What lines say of those behind them; null where that is too much, or a title is of a later turn. */
function stateBefore({ reading }: MarkedReading, at: MarkPlace, former: PiState | undefined): PiState | null {
  const { lines, index, cuts } = reading;
  const titles = readSessionNames(lines, at.before, former?.lastTitle);
  const lastTitle = titles.at(-1)?.title ?? former?.lastTitle;
  const starts = cuts.slice(former === undefined ? 1 : 0, at.turn + 1).map(({ opener }) => opener);
  const latest = latestStart(starts, former?.latestStart);
  const tools = new Map((former?.tools ?? []).map((tool) => [tool.name, tool]));
  listTools({ lines, cuts: cuts.slice(0, at.turn) }, tools);
  const skipped = skippedBefore(at.line, index.skipped, former?.skipped ?? []);
  if (skipped === null || !areTitlesBefore(titles, latest)) return null;
  return {
    createdAt: former?.createdAt ?? index.createdAt,
    title: at.title,
    ...defined({ lastTitle }),
    tools: [...tools.values()],
    latestStart: latest,
    skipped,
  };
}

/** Whether the way to a turn's opener, which is dated, leads through lines before it, and each turn begins further down. */
function isParted({ lines, path, cuts }: PathReading, opener: Entry): boolean {
  const raw = lines.at(opener.line);
  const isDated = raw !== null && typeof raw !== "string" && readTimestamp(raw["timestamp"]) !== undefined;
  const before = path.slice(0, path.indexOf(opener));
  return (
    isDated && opener.firstLine === opener.line && before.every(({ line }) => line < opener.line) && startsRise(cuts)
  );
}

/** Whether each turn begins further down in the file than the one before it. */
function startsRise(cuts: PathReading["cuts"]): boolean {
  return cuts.every(({ opener }, turn) => turn === 0 || opener.firstLine > (cuts[turn - 1]?.opener.firstLine ?? 0));
}

/** Every name by which an entry may have to do with another one. */
function namesOf({ id, parent }: Entry): readonly string[] {
  return parent === undefined ? [id] : [id, parent];
}

/** The names of a session, oldest first; cleared ones and repetitions are left out, also of the one before. */
function readSessionNames(lines: ParsedLines, entries: readonly Entry[], before?: string): ImportedSession["titles"] {
  const titles: { readonly timestamp: string; readonly title: string; readonly id: string }[] = [];
  for (const { line, kind, timestamp, eventId } of entries) {
    const raw = kind === "side" ? lines.at(line) : null;
    if (raw === null || typeof raw === "string" || raw["type"] !== "session_info") continue;
    const title = shownTitle(stringOf(raw, "name") ?? "");
    if (title !== "" && title !== (titles.at(-1)?.title ?? before)) titles.push({ timestamp, title, id: eventId });
  }
  return titles;
}

/** Gives the list after each system message of the path that changes it; `tools` = those before it, and after it those that it leaves. */
function listTools({ lines, cuts }: Pick<PathReading, "lines" | "cuts">, tools: OfferedTools): readonly ToolList[] {
  return cuts.flatMap(({ chain }, turn) =>
    chain.flatMap((entry): readonly ToolList[] => {
      const raw = entry.kind === "side" ? lines.at(entry.line) : null;
      if (raw === null || typeof raw === "string" || roleOf(raw) !== "system") return [];
      if (!changeTools(tools, saidMessage(raw)) || tools.size === 0) return [];
      return [{ turn, timestamp: entry.timestamp, id: entry.eventId, tools: [...tools.values()] }];
    }),
  );
}

/** Tools by name. */
type OfferedTools = Map<string, ToolDefinition>;

/** Takes out and puts in what a system message says. Gives whether it says anything of tools. */
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

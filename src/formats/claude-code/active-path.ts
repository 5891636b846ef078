// The path that the agent resumes: from the newest leaf back to the root, with the lines that are sent with it. The rules were found
// by watching the agent.
import { findKept, type LineEntry, type SessionIndex } from "./session-index.ts";

export interface SessionPath {
  /** Where it ends; absent when the file holds no message. */
  readonly leaf?: LineEntry;
  /** From the root to the leaf, then the lines that follow the leaf; in link order. */
  readonly chain: readonly LineEntry[];
  /** Lines off the chain that the agent sends with it. */
  readonly offPath: OffPathLines;
}

/** Finds the path that the agent would resume; empty when the file holds no message. */
export function findActivePath(index: SessionIndex, graph: SessionGraph): SessionPath {
  const leaf = findLeaf(index, graph);
  if (leaf === undefined) return { chain: [], offPath: new Map() };
  const chain = [...pathTo(leaf, graph), ...trailingLines(index, graph, leaf)];
  return { leaf, chain, offPath: findOffPathLines(index, graph, chain) };
}

/** The lines from the root to a leaf. */
export function pathTo(leaf: LineEntry, graph: SessionGraph): LineEntry[] {
  const seen = new Set<LineEntry>();
  for (let at: LineEntry | undefined = leaf; at !== undefined && !seen.has(at); at = graph.parentOf(at)) seen.add(at);
  return [...seen].reverse();
}

/**
 * The agent's own rule, as observed: it continues from the message that the file's last line hangs on. If that line does not
 * descend from the one named by the newest `last-prompt` line, it continues from the named one. If none is named, the newest of
 * all lines that descend from the last one counts, because the agent sometimes writes an answer before the line that it answers.
 * (If the named line is missing from the file, the agent omits such an answer until more is said; here that would be a rewind.)
 */
function findLeaf(index: SessionIndex, graph: SessionGraph): LineEntry | undefined {
  const last = index.entries.findLast(isNode);
  const chosen = chosenEnd(index, last);
  if (chosen !== undefined) return messageOf(chosen, graph);
  const end = last === undefined ? undefined : findEnd(index, graph, last);
  return messageOf(end, graph) ?? lastMessage(index.entries);
}

/**
 * The line that the user went back to, while no other follows: the conversation ends exactly there. Absent = the user did not go
 * back, went on since, or went back to before the first message: the agent would send nothing, and what was said stays.
 */
function chosenEnd(index: SessionIndex, last: LineEntry | undefined): LineEntry | undefined {
  const leaf = index.promptLeaves.at(-1);
  if (leaf?.isExplicit !== true || leaf.line < (last?.line ?? 0)) return undefined;
  return index.nodes.get(leaf.uuid ?? "");
}

function findEnd(index: SessionIndex, graph: SessionGraph, last: LineEntry): LineEntry | undefined {
  const named = namedLine(index, graph);
  if (named !== undefined) return followTest(index, graph, named)(last) ? last : named;
  if (index.entries.some((entry) => entry.isFileSnapshot === true && entry.line > last.line)) return newestEnd(index);
  const followsLast = followTest(index, graph, last);
  let newest = last;
  for (const entry of index.entries) {
    if (entry !== last && isNode(entry) && entry.timestamp >= newest.timestamp && followsLast(entry)) newest = entry;
  }
  return newest;
}

/** The newest message that no message follows: where the agent continues if the file ends in snapshots of files. */
function newestEnd(index: SessionIndex): LineEntry | undefined {
  const messages = index.entries.filter((entry) => entry.isMessage && isNode(entry));
  const followed = new Set(messages.map(({ parent }) => parent));
  const ends = messages.filter(({ uuid }) => !followed.has(uuid));
  return ends.reduce<LineEntry | undefined>(
    (newest, end) => (end.timestamp > (newest?.timestamp ?? "") ? end : newest),
    undefined,
  );
}

/** The line named by the newest `last-prompt` line, if the file holds it; a name from before a compaction is obsolete. */
function namedLine(index: SessionIndex, graph: SessionGraph): LineEntry | undefined {
  const { line, uuid } = index.promptLeaves.at(-1) ?? { line: -1, uuid: null };
  const boundary = index.entries.findLast(({ kind }) => kind === "boundary");
  const named = line < (boundary?.line ?? 0) ? undefined : index.nodes.get(uuid ?? "");
  return named === undefined ? undefined : (graph.summaryThatKept(named) ?? named);
}

/** The message that a line is, or descends from. */
function messageOf(end: LineEntry | undefined, graph: SessionGraph): LineEntry | undefined {
  const seen = new Set<LineEntry>();
  for (let at = end; at !== undefined && !seen.has(at); at = graph.parentOf(at)) {
    if (at.isMessage) return at;
    if (at.kind === "boundary" || graph.isOrphan(at)) return undefined;
    seen.add(at);
  }
  return undefined;
}

/** Whether the conversation may end at a line; at a boundary only once its summary is written. */
function isNode(entry: LineEntry): boolean {
  return (
    entry.uuid !== undefined &&
    !entry.isSidechain &&
    entry.isProgress !== true &&
    entry.isFileSnapshot !== true &&
    entry.kind !== "boundary"
  );
}

/** The last message; on a sidechain only if all are: sub-agents' transcripts are such files. */
function lastMessage(entries: readonly LineEntry[]): LineEntry | undefined {
  return (
    entries.findLast((entry) => entry.isMessage && isNode(entry)) ??
    entries.findLast((entry) => entry.isMessage && entry.uuid !== undefined)
  );
}

/** Creates a test whether a line is the anchor or descends from it, not through a compaction. */
export function followTest(index: SessionIndex, graph: SessionGraph, anchor: LineEntry): (entry: LineEntry) => boolean {
  const walls = index.entries.filter((entry) => entry.kind === "boundary" || graph.isOrphan(entry));
  return descendantTest(graph, anchor, walls);
}

/** Creates a test whether a line is the anchor or descends from it, not through `walls`; caches results. */
function descendantTest(
  graph: SessionGraph,
  anchor: LineEntry,
  walls: readonly LineEntry[],
): (entry: LineEntry) => boolean {
  const known = new Map<LineEntry, boolean>(walls.map((wall) => [wall, false] as const)).set(anchor, true);
  return (entry) => {
    const walked: LineEntry[] = [];
    let at: LineEntry | undefined = entry;
    while (at !== undefined && !known.has(at)) {
      known.set(at, false); // a loop of links ends here
      walked.push(at);
      at = graph.parentOf(at);
    }
    const answer = at !== undefined && known.get(at) === true;
    for (const step of walked) known.set(step, answer);
    return answer;
  };
}

/**
 * Lines after the leaf that are no messages: notes, and attachments that the agent sends with the next prompt. An attachment whose
 * parent is missing is one too: that line may still be written.
 */
function trailingLines(index: SessionIndex, graph: SessionGraph, leaf: LineEntry): LineEntry[] {
  const walls = index.entries.filter(({ kind }) => kind === "boundary");
  const orphans = index.entries.filter((entry) => entry.kind === "side" && graph.isOrphan(entry));
  const descends = descendantTest(graph, leaf, [...walls, ...orphans]);
  return index.entries.filter(
    (entry) => entry !== leaf && entry.uuid !== undefined && !entry.isMessage && !entry.isSidechain && descends(entry),
  );
}

// Lines that the agent sends with its path although they are not on it. It writes parallel calls, their results and what hooks say
// of them as branches of the graph, with other lines in between. Message ids and call ids show what belongs together.

/** Lines off a path, in file order, each with the line on the path, or off it, that it belongs to. */
export type OffPathLines = ReadonlyMap<LineEntry, LineEntry>;

/** Finds the lines off a chain that are sent with it. */
export function findOffPathLines(index: SessionIndex, graph: SessionGraph, chain: readonly LineEntry[]): OffPathLines {
  const path = new Set(chain);
  const offPath = new Map<LineEntry, LineEntry>();
  const add = (entry: LineEntry, anchor: LineEntry): void => {
    path.add(entry);
    offPath.set(entry, anchor);
  };
  addMessageParts(index, path, add);
  addResults(index, path, add);
  addReminders(index, graph, path, add);
  return new Map([...offPath].sort(([a], [b]) => a.line - b.line));
}

type Add = (entry: LineEntry, anchor: LineEntry) => void;

/** Adds lines with the message id of a line on the path, whatever they follow. */
function addMessageParts({ entries }: SessionIndex, path: ReadonlySet<LineEntry>, add: Add): void {
  const messages = new Map(
    [...path].flatMap((entry) => (entry.messageId === undefined ? [] : [[entry.messageId, entry]])),
  );
  for (const entry of entries) {
    const anchor = messages.get(entry.messageId ?? "");
    if (anchor !== undefined && !path.has(entry)) add(entry, anchor);
  }
}

/** Adds the first result of each call that has none on the path before it. */
function addResults({ entries }: SessionIndex, path: ReadonlySet<LineEntry>, add: Add): void {
  const makers = new Map(
    [...path].flatMap((entry) =>
      entry.kind === "assistant" ? (entry.calls ?? []).map((call) => [call, entry] as const) : [],
    ),
  );
  const answered = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== "result") continue;
    const call = entry.calls?.find((id) => makers.has(id) && !answered.has(id));
    const anchor = makers.get(call ?? "");
    if (!path.has(entry) && anchor === undefined) continue;
    if (!path.has(entry) && anchor !== undefined) add(entry, anchor);
    for (const id of entry.calls ?? []) answered.add(id);
  }
}

/** Adds what the harness says after calls and results, unless the conversation continued from there. */
function addReminders({ entries }: SessionIndex, graph: SessionGraph, path: ReadonlySet<LineEntry>, add: Add): void {
  const abandoned = findAbandonedLines(entries, graph, path);
  for (const entry of entries) {
    if (path.has(entry) || abandoned.has(entry) || !isReminder(entry)) continue;
    const owner = findOwner(entry, graph, path);
    if (owner?.kind === "result" || (owner?.kind === "assistant" && owner.calls !== undefined)) add(entry, owner);
  }
}

function isReminder(entry: LineEntry): boolean {
  return entry.kind === "attachment" || (entry.kind === "harness" && entry.isMeta === true);
}

/** Lines off the path that a later message follows. */
function findAbandonedLines(
  entries: readonly LineEntry[],
  graph: SessionGraph,
  path: ReadonlySet<LineEntry>,
): ReadonlySet<LineEntry> {
  const abandoned = new Set<LineEntry>();
  for (const entry of entries) {
    if (path.has(entry) || !entry.isMessage || isReminder(entry)) continue;
    for (
      let at: LineEntry | undefined = entry;
      at !== undefined && !path.has(at) && !abandoned.has(at);
      at = graph.parentOf(at)
    )
      abandoned.add(at);
  }
  return abandoned;
}

/** The line of the path that a line descends from, through lines that nobody said. */
function findOwner(entry: LineEntry, graph: SessionGraph, path: ReadonlySet<LineEntry>): LineEntry | undefined {
  const seen = new Set([entry]);
  for (let at = graph.parentOf(entry); at !== undefined && !seen.has(at); at = graph.parentOf(at)) {
    // Reminders and side lines on the path have an owner already.
    if (path.has(at) && !isReminder(at) && at.kind !== "side") return at;
    seen.add(at);
  }
  return undefined;
}

// The parent of every node. Where the file leaves a link open, it is resolved as the agent does: missing parents, the turns after a
// compaction, messages that a compaction kept.

export interface SessionGraph {
  parentOf(entry: LineEntry): LineEntry | undefined;
  /** Whether an entry must have a parent and the file lacks it, or a later line took it away. */
  isOrphan(entry: LineEntry): boolean;
  /** Whether the agent finds no parent either, or takes the line for a root: it sends nothing of what comes before. */
  isCutOff(entry: LineEntry): boolean;
  /** The summary of the newest compaction that kept a line; absent when none did. */
  summaryThatKept(entry: LineEntry): LineEntry | undefined;
  /** The lines that a boundary keeps, in order. */
  keptBy(boundary: LineEntry): readonly LineEntry[];
}

/** How much older than an orphan its adopted parent may be, milliseconds: observed in Claude Code 2.1.330. */
const NEAR_MS = 5000;
/** How many nodes above an orphan are searched: more than are written in that time. */
const NEAR_NODES = 100;

/** Creates the graph of a session. */
export function createGraph(index: SessionIndex): SessionGraph {
  const parents = new Map<LineEntry, LineEntry>();
  const orphans = new Set<LineEntry>();
  const cutOff = new Set<LineEntry>();
  const kept = new Map<string, LineEntry>();
  const parentOf = (entry: LineEntry): LineEntry | undefined => parents.get(entry);
  const keptBy = (boundary: LineEntry | undefined): readonly LineEntry[] =>
    boundary?.kept === undefined ? [] : findKept(boundary.kept, index.nodes, parentOf);
  const above: LineEntry[] = [];
  const descends = createDescentTest(parents, 20 * index.entries.length);
  const marks = createMarkReader(descends);
  for (const entry of index.entries) {
    if (entry.uuid === undefined) continue;
    noteKept(kept, entry, keptBy(boundaryOf(index, entry)));
    const link = lastSaidBefore(entry) ?? marks.lastSaidBefore(entry) ?? resolveLink(index, entry, kept);
    const parent = link === "missing" ? adopt(entry) : link;
    if (parent !== undefined) parents.set(entry, parent);
    if (entry.lostParent === true && !startsNewContext(entry)) noteCut(entry);
    if (entry.isSidechain) continue;
    above.push(entry);
    marks.add(entry);
  }
  return {
    parentOf,
    keptBy,
    isOrphan: (entry) => orphans.has(entry),
    isCutOff: (entry) => cutOff.has(entry),
    summaryThatKept: ({ uuid }) => (uuid === undefined ? undefined : kept.get(uuid)),
  };

  /**
   * What was said last before a boundary that keeps lines. Its own link names the line before the kept ones, if they come after
   * the summary, else the last of them: what lies between was summarised.
   */
  function lastSaidBefore(entry: LineEntry): LineEntry | undefined {
    if (entry.kind !== "boundary" || entry.kept === undefined || entry.parent !== undefined) return undefined;
    const named = index.nodes.get(entry.logicalParent ?? "");
    const last = entry.kept.isBefore ? above.at(-1) : keptBy(entry).at(-1);
    const from = withAnswer(index, entry.kept.isBefore ? (keptBy(entry).at(-1) ?? named) : named);
    return from !== undefined && last !== undefined && descends(last, from) ? last : undefined;
  }

  function adopt(entry: LineEntry): LineEntry | undefined {
    const near = nearestAbove(entry, above, parents);
    if (near === undefined) noteCut(entry);
    else orphans.add(entry);
    return near ?? above.at(-1);
  }

  function noteCut(entry: LineEntry): void {
    orphans.add(entry);
    cutOff.add(entry);
  }
}

/**
 * Creates a test whether a line is another or descends from it, not through a compaction. All its answers together take at most
 * so many steps: a hostile file must not take a square of its lines. Then, and in a loop of links, the answer is no.
 */
function createDescentTest(
  parents: ReadonlyMap<LineEntry, LineEntry>,
  steps: number,
): (entry: LineEntry, ancestor: LineEntry) => boolean {
  let left = steps;
  return (entry, ancestor) => {
    for (let at: LineEntry | undefined = entry; at !== undefined && left > 0; at = parents.get(at)) {
      if (at === ancestor) return true;
      if (at.kind === "boundary") return false;
      left--;
    }
    return false;
  };
}

function boundaryOf({ nodes }: SessionIndex, { kind, parent = "" }: LineEntry): LineEntry | undefined {
  return kind === "summary" ? nodes.get(parent) : undefined;
}

/** In the whole conversation, a child of a kept message follows the summary that kept it. */
function noteKept(kept: Map<string, LineEntry>, summary: LineEntry, lines: readonly LineEntry[]): void {
  for (const line of lines) {
    // A copied session holds kept messages in their new place: below the summary.
    if (line.firstLine < summary.firstLine) kept.set(line.uuid ?? "", summary);
  }
}

/** Follows jpg's marks, and the boundary that each announces: the first after it, with no message in between. */
interface MarkReader {
  /** Takes the next line that is no sub-agent's. */
  add(entry: LineEntry): void;
  /**
   * What was said last before a boundary that names the mark of an earlier one, although more was said since: Claude Code does so
   * from the second compaction in one turn on, whether it is jpg's or its own.
   */
  lastSaidBefore(boundary: LineEntry): LineEntry | undefined;
}

function createMarkReader(descends: (entry: LineEntry, ancestor: LineEntry) => boolean): MarkReader {
  const announced = new Map<string, LineEntry>();
  let mark: string | undefined;
  let said: LineEntry | undefined;
  return {
    add(entry) {
      if (entry.kind === "boundary" && mark !== undefined) announced.set(mark, entry);
      if (entry.kind === "boundary" || entry.isMessage) mark = undefined;
      if (entry.mark !== undefined) mark = entry.uuid;
      else if (entry.isProgress !== true && entry.isFileSnapshot !== true) said = entry;
    },
    lastSaidBefore({ kind, parent, logicalParent = "" }) {
      const from = kind === "boundary" && parent === undefined ? announced.get(logicalParent) : undefined;
      return from !== undefined && said !== undefined && descends(said, from) ? said : undefined;
    },
  };
}

type Link = LineEntry | "missing" | undefined;

function resolveLink(index: SessionIndex, entry: LineEntry, keptUnder: ReadonlyMap<string, LineEntry>): Link {
  const name = entry.parent ?? (startsNewContext(entry) ? entry.logicalParent : undefined);
  if (name === undefined) return startsNewContext(entry) ? "missing" : undefined;
  const summary = keptUnder.get(name);
  if (summary !== undefined && entry.firstLine > summary.line) return summary;
  const parent = index.nodes.get(name);
  if (parent === undefined || parent === entry) return "missing";
  // A compaction after an answer follows all of it.
  if (entry.kind === "boundary" && parent.answers !== undefined) return withAnswer(index, parent);
  // In a copied session, the last line before a compaction may be one that it kept, which comes after it there.
  return entry.kind === "boundary" && parent.firstLine > entry.firstLine ? "missing" : parent;
}

/** The boundary of the answer that a row belongs to; any other row itself. */
function withAnswer<Row extends LineEntry | undefined>({ nodes }: SessionIndex, row: Row): Row | LineEntry {
  return nodes.get(row?.answers ?? "") ?? row;
}

/** Whether the agent starts a new context here: earlier lines are hidden, not gone. */
export function startsNewContext(entry: LineEntry): boolean {
  return entry.kind === "boundary" || entry.kind === "summary";
}

/** The newest line above an orphan that is at most NEAR_MS older and does not follow it; among lines of the same time the first. */
function nearestAbove(
  orphan: LineEntry,
  above: readonly LineEntry[],
  parents: ReadonlyMap<LineEntry, LineEntry>,
): LineEntry | undefined {
  const time = Date.parse(orphan.timestamp);
  let nearest: LineEntry | undefined;
  let newest = time - NEAR_MS - 1;
  for (const entry of above.slice(-NEAR_NODES)) {
    const at = Date.parse(entry.timestamp);
    if (entry.isProgress === true || at <= newest || at > time || follows(entry, orphan, parents)) continue;
    nearest = entry;
    newest = at;
  }
  return nearest;
}

/** Whether a line follows one below it, within NEAR_NODES links. */
function follows(entry: LineEntry, ancestor: LineEntry, parents: ReadonlyMap<LineEntry, LineEntry>): boolean {
  let at = parents.get(entry);
  for (let steps = 0; at !== undefined && steps < NEAR_NODES; steps++) {
    if (at === ancestor) return true;
    at = parents.get(at);
  }
  return false;
}

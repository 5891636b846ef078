// The path that the agent resumes: from the newest leaf back to the root, with what belongs to it and hangs beside it. The rules are those that the agent itself was seen to follow.
import { findKept, type LineEntry, type SessionIndex } from "./session-index.ts";

export interface SessionPath {
  /** Where it ends; absent when the file holds no message. */
  readonly leaf?: LineEntry;
  /** From the root to the leaf, and what hangs behind the leaf; in the order of the links. */
  readonly chain: readonly LineEntry[];
  /** Lines beside the chain that the agent sends with it. */
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
 * The agent's own rule, as it was seen: it goes on from the message that the last line of the file hangs on, unless that line
 * does not follow the one that the newest `last-prompt` line names: then from that one. Where none is named, the newest of
 * all lines that follow the last one counts: the agent writes an answer now and then before what it answers. (Where one is
 * named that the file does not hold it leaves such an answer out until more is said; here that would be a rewind.)
 */
function findLeaf(index: SessionIndex, graph: SessionGraph): LineEntry | undefined {
  const last = index.entries.findLast(isNode);
  const end = last === undefined ? undefined : findEnd(index, graph, last);
  return messageOf(end, graph) ?? lastMessage(index.entries);
}

function findEnd(index: SessionIndex, graph: SessionGraph, last: LineEntry): LineEntry {
  const named = namedLine(index, graph);
  if (named !== undefined) return followTest(index, graph, named)(last) ? last : named;
  const followsLast = followTest(index, graph, last);
  let newest = last;
  for (const entry of index.entries) {
    if (entry !== last && isNode(entry) && entry.timestamp >= newest.timestamp && followsLast(entry)) newest = entry;
  }
  return newest;
}

/** The line that the newest `last-prompt` line names, if it is in the file; what was named before a compaction counts no more. */
function namedLine(index: SessionIndex, graph: SessionGraph): LineEntry | undefined {
  const { line, uuid } = index.promptLeaves.at(-1) ?? { line: -1, uuid: "" };
  const boundary = index.entries.findLast(({ kind }) => kind === "boundary");
  const named = line < (boundary?.line ?? 0) ? undefined : index.nodes.get(uuid);
  return named === undefined ? undefined : (graph.summaryThatKept(named) ?? named);
}

/** The message that a line is, or hangs on by links of the file. */
function messageOf(end: LineEntry | undefined, graph: SessionGraph): LineEntry | undefined {
  const seen = new Set<LineEntry>();
  for (let at = end; at !== undefined && !seen.has(at); at = graph.parentOf(at)) {
    if (at.isMessage) return at;
    if (at.kind === "boundary" || graph.isOrphan(at)) return undefined;
    seen.add(at);
  }
  return undefined;
}

/** Whether a line is one that the conversation may stand at; at a boundary it does not before there is its summary. */
function isNode(entry: LineEntry): boolean {
  return entry.uuid !== undefined && !entry.isSidechain && entry.isProgress !== true && entry.kind !== "boundary";
}

/** The last message; on a sidechain only if all are: sub-agents' transcripts are such files. */
function lastMessage(entries: readonly LineEntry[]): LineEntry | undefined {
  return (
    entries.findLast((entry) => entry.isMessage && isNode(entry)) ??
    entries.findLast((entry) => entry.isMessage && entry.uuid !== undefined)
  );
}

/** Creates the test whether a line is the anchor or follows it by links of the file, not through a compaction. */
export function followTest(index: SessionIndex, graph: SessionGraph, anchor: LineEntry): (entry: LineEntry) => boolean {
  const walls = index.entries.filter((entry) => entry.kind === "boundary" || graph.isOrphan(entry));
  return descendantTest(graph, anchor, walls);
}

/** Creates the test whether a line is the anchor or descends from it, not through `walls`; answers are remembered. */
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
 * What hangs behind the leaf without being a message: attachments that the agent sends with the next prompt, notes. An
 * attachment whose parent is not there is one of them, too: that line may still come.
 */
function trailingLines(index: SessionIndex, graph: SessionGraph, leaf: LineEntry): LineEntry[] {
  const walls = index.entries.filter(({ kind }) => kind === "boundary");
  const orphans = index.entries.filter((entry) => entry.kind === "side" && graph.isOrphan(entry));
  const descends = descendantTest(graph, leaf, [...walls, ...orphans]);
  return index.entries.filter(
    (entry) => entry !== leaf && entry.uuid !== undefined && !entry.isMessage && !entry.isSidechain && descends(entry),
  );
}

// What the agent sends with its path although the path does not lead through it. The agent writes parallel calls, their
// results and what hooks say of them as branches of the graph, wherever other lines came between: one message is known by
// its id, a result by its call's.

/** Lines beside a path, in file order, each with the line of the path, or beside it, that it goes with. */
export type OffPathLines = ReadonlyMap<LineEntry, LineEntry>;

/** Finds the lines beside a chain of lines. */
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

/** Lines that share their message's id with the path, whatever they follow. */
function addMessageParts({ entries }: SessionIndex, path: ReadonlySet<LineEntry>, add: Add): void {
  const messages = new Map(
    [...path].flatMap((entry) => (entry.messageId === undefined ? [] : [[entry.messageId, entry]])),
  );
  for (const entry of entries) {
    const anchor = messages.get(entry.messageId ?? "");
    if (anchor !== undefined && !path.has(entry)) add(entry, anchor);
  }
}

/** The first result of each call that has none on the path before it. */
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

/** What the harness says behind calls and results, unless the conversation went on from there. */
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

/** Lines off the path from which something was said or answered. */
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

/** The line of the path that a line hangs on, through others that nobody said. */
function findOwner(entry: LineEntry, graph: SessionGraph, path: ReadonlySet<LineEntry>): LineEntry | undefined {
  const seen = new Set([entry]);
  for (let at = graph.parentOf(entry); at !== undefined && !seen.has(at); at = graph.parentOf(at)) {
    // What stands beside the path already was found to hang on it.
    if (path.has(at) && !isReminder(at) && at.kind !== "side") return at;
    seen.add(at);
  }
  return undefined;
}

// Who follows whom: the parent of every node, with the links that the file leaves open closed as the agent closes them
// (formats: parents that are not in the file, the turns behind a compaction, messages a compaction kept).

export interface SessionGraph {
  parentOf(entry: LineEntry): LineEntry | undefined;
  /** Whether the file does not hold the parent of an entry that must have one. */
  isOrphan(entry: LineEntry): boolean;
  /** Whether the agent, too, knows nothing that such an orphan could follow: it sends nothing of what stands before. */
  isCutOff(entry: LineEntry): boolean;
  /** The summary of the newest compaction that kept a line; absent when none did. */
  summaryThatKept(entry: LineEntry): LineEntry | undefined;
  /** The lines that a boundary keeps, in order. */
  keptBy(boundary: LineEntry): readonly LineEntry[];
}

/** How much older than an orphan the line may be that the agent has it follow, in milliseconds: seen in Claude Code 2.1.330. */
const NEAR_MS = 5000;
/** Among how many nodes above an orphan that line is looked for: more than are written in that time. */
const NEAR_NODES = 100;

/** Creates the graph of a session. */
export function createGraph(index: SessionIndex): SessionGraph {
  const parents = new Map<LineEntry, LineEntry>();
  const orphans = new Set<LineEntry>();
  const cutOff = new Set<LineEntry>();
  const kept = new Map<string, LineEntry>();
  const parentOf = (entry: LineEntry): LineEntry | undefined => parents.get(entry);
  const keptBy = ({ kept: lines }: LineEntry): readonly LineEntry[] =>
    lines === undefined ? [] : findKept(lines, index.nodes, parentOf);
  const above: LineEntry[] = [];
  for (const entry of index.entries) {
    if (entry.uuid === undefined) continue;
    if (entry.kind === "summary") noteKept(entry);
    const link = resolveLink(index, entry, kept);
    const parent = link === "missing" ? adopt(entry) : link;
    if (parent !== undefined) parents.set(entry, parent);
    if (!entry.isSidechain) above.push(entry);
  }
  return {
    parentOf,
    keptBy,
    isOrphan: (entry) => orphans.has(entry),
    isCutOff: (entry) => cutOff.has(entry),
    summaryThatKept: ({ uuid }) => (uuid === undefined ? undefined : kept.get(uuid)),
  };

  /** What follows a kept message follows, in the whole conversation, the summary that kept it. */
  function noteKept(summary: LineEntry): void {
    const boundary = index.nodes.get(summary.parent ?? "");
    for (const { uuid } of boundary === undefined ? [] : keptBy(boundary)) kept.set(uuid ?? "", summary);
  }

  function adopt(entry: LineEntry): LineEntry | undefined {
    const near = nearestAbove(entry, above, parents);
    orphans.add(entry);
    if (near === undefined) cutOff.add(entry);
    return near ?? above.at(-1);
  }
}

type Link = LineEntry | "missing" | undefined;

function resolveLink(index: SessionIndex, entry: LineEntry, keptUnder: ReadonlyMap<string, LineEntry>): Link {
  const name = entry.parent ?? (startsNewContext(entry) ? entry.logicalParent : undefined);
  if (name === undefined) return startsNewContext(entry) ? "missing" : undefined;
  const summary = keptUnder.get(name);
  if (summary !== undefined && entry.line > summary.line) return summary;
  const parent = index.nodes.get(name);
  return parent === undefined || parent === entry ? "missing" : parent;
}

/** Whether the agent starts a new context here: what stood before is hidden, not gone. */
function startsNewContext(entry: LineEntry): boolean {
  return entry.kind === "boundary" || entry.kind === "summary";
}

/** The newest line above an orphan that is hardly older than it, and does not follow it; of several of one time the first. */
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

/** Whether a line follows one that stands below it, through few others. */
function follows(entry: LineEntry, ancestor: LineEntry, parents: ReadonlyMap<LineEntry, LineEntry>): boolean {
  let at = parents.get(entry);
  for (let steps = 0; at !== undefined && steps < NEAR_NODES; steps++) {
    if (at === ancestor) return true;
    at = parents.get(at);
  }
  return false;
}

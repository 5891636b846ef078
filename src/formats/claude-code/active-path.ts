// The path that the agent resumes: from the newest leaf back to the root, with what belongs to it and hangs beside it. The rules are those that the agent itself was seen to follow.
import { findLinesBeside, type LinesBeside } from "./lines-beside.ts";
import type { SessionGraph } from "./session-graph.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";

export interface SessionPath {
  /** Where it ends; absent when the file holds no message. */
  readonly leaf?: LineEntry;
  /** From the root to the leaf, and what hangs behind the leaf; in the order of the links. */
  readonly chain: readonly LineEntry[];
  /** Lines beside the chain that the agent sends with it. */
  readonly beside: LinesBeside;
}

/** Finds the path that the agent would resume; empty when the file holds no message. */
export function findActivePath(index: SessionIndex, graph: SessionGraph): SessionPath {
  const leaf = findLeaf(index, graph);
  if (leaf === undefined) return { chain: [], beside: new Map() };
  const chain = [...pathTo(leaf, graph), ...trailingLines(index, graph, leaf)];
  return { leaf, chain, beside: findLinesBeside(index, graph, chain) };
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
  return named === undefined ? undefined : (graph.keptUnder(named) ?? named);
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

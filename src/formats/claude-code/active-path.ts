// The path that the agent resumes: from the newest leaf back to the root, with what belongs to it and hangs beside it. The rules are those that the agent itself was seen to follow.
import { findLinesBeside, type LinesBeside } from "./lines-beside.ts";
import type { SessionGraph } from "./session-graph.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";

export interface SessionPath {
  /** From the root to the leaf, and what hangs behind the leaf; in the order of the links. */
  readonly chain: readonly LineEntry[];
  /** Lines beside the chain that the agent sends with it. */
  readonly beside: LinesBeside;
}

/** Finds the path that the agent would resume; both lists are empty when the file holds no message. */
export function findActivePath(index: SessionIndex, graph: SessionGraph): SessionPath {
  const leaf = findLeaf(index, graph);
  if (leaf === undefined) return { chain: [], beside: new Map() };
  const chain = [...pathTo(leaf, graph), ...trailingLines(index, graph, leaf)];
  return { chain, beside: findLinesBeside(index, graph, chain) };
}

/** The lines from the root to a leaf. */
export function pathTo(leaf: LineEntry, graph: SessionGraph): LineEntry[] {
  const seen = new Set<LineEntry>();
  for (let at: LineEntry | undefined = leaf; at !== undefined && !seen.has(at); at = graph.parentOf(at)) seen.add(at);
  return [...seen].reverse();
}

function findLeaf(index: SessionIndex, graph: SessionGraph): LineEntry | undefined {
  for (const { uuid } of index.promptLeaves.toReversed()) {
    const anchor = index.nodes.get(uuid);
    if (anchor === undefined) continue;
    const leaf = lastMessage(index.entries, descendantTest(graph, anchor));
    if (leaf !== undefined) return leaf;
    break;
  }
  return lastMessage(index.entries, () => true);
}

function lastMessage(entries: readonly LineEntry[], matches: (entry: LineEntry) => boolean): LineEntry | undefined {
  const isCandidate = (entry: LineEntry): boolean => entry.isMessage && entry.uuid !== undefined && matches(entry);
  return entries.findLast((entry) => !entry.isSidechain && isCandidate(entry)) ?? lastOnSidechain(entries, isCandidate);
}

/** A file whose every message is marked as sidechain still has an end: sub-agent transcripts are such files. */
function lastOnSidechain(
  entries: readonly LineEntry[],
  isCandidate: (entry: LineEntry) => boolean,
): LineEntry | undefined {
  return entries.some((entry) => entry.isMessage && !entry.isSidechain) ? undefined : entries.findLast(isCandidate);
}

/** Creates the test whether a line is the anchor or descends from it, not through `walls`; answers are remembered. */
function descendantTest(
  graph: SessionGraph,
  anchor: LineEntry,
  walls: readonly LineEntry[] = [],
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

/** What hangs behind the leaf without being a message: attachments that the agent sends with the next prompt, notes. */
function trailingLines(index: SessionIndex, graph: SessionGraph, leaf: LineEntry): LineEntry[] {
  const boundaries = index.entries.filter((entry) => entry.kind === "boundary");
  const descends = descendantTest(graph, leaf, boundaries);
  return index.entries.filter(
    (entry) => entry !== leaf && entry.uuid !== undefined && !entry.isMessage && !entry.isSidechain && descends(entry),
  );
}

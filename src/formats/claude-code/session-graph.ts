// Who follows whom: the parent of every node, with the links that the file leaves open closed as the agent closes them
// (formats: parents that are not in the file, the turns behind a compaction, messages a compaction kept).
import { findKept } from "./kept-lines.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";

export interface SessionGraph {
  parentOf(entry: LineEntry): LineEntry | undefined;
  /** Whether the file does not hold the parent of an entry that must have one. */
  isOrphan(entry: LineEntry): boolean;
  /** Whether the agent, too, knows nothing that such an orphan could follow: it sends nothing of what stands before. */
  isCutOff(entry: LineEntry): boolean;
  /** The summary of the newest compaction that kept a line; absent when none did. */
  keptUnder(entry: LineEntry): LineEntry | undefined;
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
    keptUnder: ({ uuid }) => (uuid === undefined ? undefined : kept.get(uuid)),
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
  const name = entry.parent ?? (startsAfresh(entry) ? entry.logicalParent : undefined);
  if (name === undefined) return startsAfresh(entry) ? "missing" : undefined;
  const summary = keptUnder.get(name);
  if (summary !== undefined && entry.line > summary.line) return summary;
  const parent = index.nodes.get(name);
  return parent === undefined || parent === entry ? "missing" : parent;
}

/** Whether the agent starts a new context here: what stood before is hidden, not gone. */
function startsAfresh(entry: LineEntry): boolean {
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

// Who follows whom: the parent of every node, with the links that the file leaves open closed as the agent closes them
// (formats: parents that are not in the file, the turns behind a compaction, messages a compaction kept).
import type { LineEntry, SessionIndex } from "./session-index.ts";

export interface SessionGraph {
  parentOf(entry: LineEntry): LineEntry | undefined;
  /** Whether the file names a parent for the entry that it does not hold. */
  isBroken(entry: LineEntry): boolean;
}

/** Creates the graph of a session. */
export function createGraph(index: SessionIndex): SessionGraph {
  const parents = new Map<LineEntry, LineEntry>();
  const broken = new Set<LineEntry>();
  const keptUnder = new Map<string, LineEntry>();
  let previous: LineEntry | undefined;
  for (const entry of index.entries) {
    if (entry.uuid === undefined) continue;
    if (entry.kind === "summary") noteKeptLines(index, entry, keptUnder);
    const link = resolveLink(index, entry, keptUnder);
    const parent = link === "missing" ? previous : link;
    if (link === "missing" && namesParent(entry)) broken.add(entry);
    if (parent !== undefined && parent !== entry) parents.set(entry, parent);
    if (!entry.isSidechain) previous = entry;
  }
  return { parentOf: (entry) => parents.get(entry), isBroken: (entry) => broken.has(entry) };
}

/** What follows a kept message follows, in the whole conversation, the summary that kept it. */
function noteKeptLines(index: SessionIndex, summary: LineEntry, keptUnder: Map<string, LineEntry>): void {
  const boundary = summary.parent === undefined ? undefined : index.nodes.get(summary.parent);
  for (const uuid of boundary?.preserved ?? []) keptUnder.set(uuid, summary);
}

function namesParent(entry: LineEntry): boolean {
  return entry.parent !== undefined || entry.logicalParent !== undefined;
}

type Link = LineEntry | "missing" | undefined;

function resolveLink(index: SessionIndex, entry: LineEntry, keptUnder: ReadonlyMap<string, LineEntry>): Link {
  const name = entry.parent ?? (startsAfresh(entry) ? entry.logicalParent : undefined);
  if (name === undefined) return startsAfresh(entry) ? "missing" : undefined;
  const summary = keptUnder.get(name);
  if (summary !== undefined && entry.line > summary.line) return summary;
  return index.nodes.get(name) ?? "missing";
}

/** Whether the agent starts a new context here: what stood before is hidden, not gone. */
function startsAfresh(entry: LineEntry): boolean {
  return entry.kind === "boundary" || entry.kind === "summary";
}

// The lines of each turn in the order of its events: the path as it is linked, notes where they stand in the file, and
// the lines of one assistant message together. Appending lines to the file only adds to the newest turn.
import { appendAll } from "../../core/lists.ts";
import type { SessionPath } from "./active-path.ts";
import type { LinesBeside } from "./lines-beside.ts";
import type { SessionGraph } from "./session-graph.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";
import type { TurnCut } from "./turn-cuts.ts";

/** Gives each turn its lines, in event order. `notes` = the lines no model sees that belong to the path. */
export function arrangeTurns(
  cuts: readonly TurnCut[],
  beside: LinesBeside,
  notes: readonly LineEntry[],
): readonly (readonly LineEntry[])[] {
  const turnOfLine = new Map<LineEntry, number>();
  for (const [turn, cut] of cuts.entries()) for (const entry of cut.chain) turnOfLine.set(entry, turn);
  const others: LineEntry[][] = cuts.map(() => []);
  for (const entry of beside.keys()) others[turnOf(entry)]?.push(entry);
  const starts = cuts.map((cut) => cut.opener.firstLine);
  for (const note of notes) others[turnAt(starts, note.line)]?.push(note);
  return cuts.map((cut, turn) => joinMessages(mergeByPlace(cut.chain, others[turn] ?? [], placeOf)));

  /** The line of the file behind which a line is read: its own, but no result stands before its call. */
  function placeOf(entry: LineEntry): number {
    const call = entry.kind === "result" ? beside.get(entry) : undefined;
    return Math.max(entry.line, call?.line ?? 0);
  }

  function turnOf(entry: LineEntry): number {
    const anchor = beside.get(entry);
    return anchor === undefined ? (turnOfLine.get(entry) ?? 0) : turnOf(anchor);
  }
}

/** Lines no model sees that stand beside the path: side data, and nodes that hang on it. */
export function findNotes(index: SessionIndex, graph: SessionGraph, path: SessionPath): readonly LineEntry[] {
  const onPath = new Set([...path.chain, ...path.beside.keys()]);
  return index.entries.filter((entry) => {
    if (onPath.has(entry) || entry.isSidechain) return false;
    if (entry.uuid === undefined) return true;
    if (entry.kind !== "side" && entry.kind !== "attachment") return false;
    const owner = nearestOwner(entry, graph);
    return owner === undefined || onPath.has(owner);
  });
}

/** The message that a node without one of its own hangs on. */
function nearestOwner(entry: LineEntry, graph: SessionGraph): LineEntry | undefined {
  const seen = new Set([entry]);
  let at = graph.parentOf(entry);
  while (at !== undefined && at.kind === "side" && !seen.has(at)) {
    seen.add(at);
    at = graph.parentOf(at);
  }
  return at;
}

/** The turn whose piece of the file holds a line; what stands before the first piece belongs to turn 0. */
function turnAt(starts: readonly number[], line: number): number {
  let turn = 0;
  for (let low = 0, high = starts.length - 1; low <= high; ) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= line) {
      turn = middle;
      low = middle + 1;
    } else high = middle - 1;
  }
  return turn;
}

function mergeByPlace(
  chain: readonly LineEntry[],
  others: readonly LineEntry[],
  placeOf: (entry: LineEntry) => number,
): readonly LineEntry[] {
  const sorted = [...others].sort((a, b) => placeOf(a) - placeOf(b) || a.line - b.line);
  const merged: LineEntry[] = [];
  let next = 0;
  for (const entry of chain) {
    for (let other = sorted[next]; other !== undefined && placeOf(other) < entry.line; other = sorted[++next])
      merged.push(other);
    merged.push(entry);
  }
  appendAll(merged, sorted.slice(next));
  return merged;
}

/** Moves a line of an assistant message up to the rest of its message when something else was sent in between. */
function joinMessages(lines: readonly LineEntry[]): readonly LineEntry[] {
  const joined: LineEntry[] = [];
  const seen = new Set<string>();
  for (const entry of lines) {
    if (entry.messageId === undefined || !seen.has(entry.messageId)) joined.push(entry);
    else {
      const last = joined.findLastIndex((other) => other.messageId === entry.messageId);
      const isInterrupted = joined.slice(last + 1).some((other) => other.kind !== "side");
      joined.splice(isInterrupted ? last + 1 : joined.length, 0, entry);
    }
    if (entry.messageId !== undefined) seen.add(entry.messageId);
  }
  return joined;
}

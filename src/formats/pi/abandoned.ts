// Branches of a session that were left: every end that the path to the newest one does not hold, with the turns that it shares
// with that path.

import { deriveName } from "../derived-name.ts";
import type { AbandonedBranch } from "../imported-session.ts";
import type { Entry, EntryIndex } from "./entry-index.ts";
import { isSentKind } from "./entry-kind.ts";
import { type SessionTree, treePathTo } from "./session-tree.ts";
import type { PathTurn } from "./turn-cuts.ts";
import { type PathReading, readTreePath, readTurn } from "./turn-reader.ts";

/** Finds the branches, in the file order of their ends. Those on which nothing was asked or answered are none. */
export function findLeftBranches(active: PathReading, tree: SessionTree): readonly AbandonedBranch[] {
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

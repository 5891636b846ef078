// The tree of a session's entries, and the path that the agent goes on from: the last entry of the file and what it follows.
import type { Entry, EntryIndex } from "./entry-index.ts";

export interface SessionTree {
  parentOf(entry: Entry): Entry | undefined;
  /** Whether the entry names a parent that the file does not hold: the agent sends nothing of what stands before it. */
  isCutOff(entry: Entry): boolean;
}

/**
 * Links entries with their parents. One whose parent is missing follows the entry above it, so that a lost line does not take
 * the conversation before it out of sight.
 */
export function createTree({ entries, nodes }: EntryIndex): SessionTree {
  const parents = new Map<Entry, Entry>();
  const cutOff = new Set<Entry>();
  let above: Entry | undefined;
  for (const entry of entries) {
    const named = entry.parent === undefined ? undefined : nodes.get(entry.parent);
    const isMissing = entry.parent !== undefined && named === undefined;
    if (isMissing && above !== undefined) cutOff.add(entry);
    const parent = isMissing ? above : named;
    if (parent !== undefined && parent !== entry) parents.set(entry, parent);
    above = entry;
  }
  return { parentOf: (entry) => parents.get(entry), isCutOff: (entry) => cutOff.has(entry) };
}

/** The entries from the root to a leaf. A loop of parents, which the agent could not load, ends where it closes. */
export function treePathTo(leaf: Entry | undefined, tree: SessionTree): Entry[] {
  const seen = new Set<Entry>();
  for (let at = leaf; at !== undefined && !seen.has(at); at = tree.parentOf(at)) seen.add(at);
  return [...seen].reverse();
}

/** The path that the agent resumes; empty when the file holds no entry. */
export function activePath({ entries }: EntryIndex, tree: SessionTree): readonly Entry[] {
  return treePathTo(entries.at(-1), tree);
}

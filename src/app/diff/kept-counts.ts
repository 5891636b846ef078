// What the newest look at the counts of a diff came to, kept for each conversation: both views follow from their commits, and what a
// compaction of a long conversation hides is not read again for the same figures.
import type { ConversationStore } from "../../store/conversation-store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { openSealedCache } from "../branch/sealed-cache.ts";
import type { DiffStat } from "./diff-stat.ts";

/** Raised when a view is read or counted otherwise. */
const CACHE = "diff-counts-1";

/** The commits whose views are compared; null = there is none before. */
export interface ComparedCommits {
  readonly parent: string | null;
  readonly commit: string;
}

interface KeptCounts extends ComparedCommits {
  readonly stat: DiffStat;
}

/** The counts between two commits; null when they are not known. What was sealed here was written by jpg. */
export function findCounts(
  store: ConversationStore,
  { turnOids: [first = ""] }: BranchTree,
  compared: ComparedCommits,
): DiffStat | null {
  const kept = openSealedCache(store, CACHE).read(first);
  if (kept === null) return null;
  const { parent, commit, stat } = JSON.parse(String(kept)) as KeptCounts;
  return parent === compared.parent && commit === compared.commit ? stat : null;
}

/** Keeps them, in place of those of other commits; without effect where nothing can be written. */
export async function keepCounts(
  store: ConversationStore,
  { turnOids: [first = ""] }: BranchTree,
  { parent, commit, stat }: KeptCounts,
): Promise<void> {
  await openSealedCache(store, CACHE).write(JSON.stringify({ parent, commit, stat }), first);
}

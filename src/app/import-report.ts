// What an import says it did. Counts are those of the branch as it stands afterwards.
import type { ConversationStore, FileChange } from "../store/conversation-store.ts";
import type { BranchTree } from "./branch-tree.ts";
import { conversationOf } from "./conversations.ts";
import type { EventCounts } from "./event-counts.ts";
import type { ImportReport } from "./reports.ts";

const NEWLINE = 10;

/** The report of a session of which the branch holds everything. Its lines were not read: none is counted as skipped. */
export async function reportUnchanged(
  store: ConversationStore,
  open: { readonly path: string; readonly source: { readonly byteLength: number } },
  { tree, counts }: { readonly tree: BranchTree; readonly counts: EventCounts },
): Promise<ImportReport> {
  const events = counts.get(tree.commit) ?? sum(await countStoredEvents(store, tree.turnOids));
  counts.set(tree.commit, events);
  return {
    id: conversationOf(tree.branch),
    branch: tree.branch,
    turns: tree.turnOids.length,
    events,
    compactions: tree.compactions.length,
    skipped_lines: 0,
    status: "unchanged",
    source: open.path,
    title: tree.header.title,
    turns_added: 0,
    bytes: open.source.byteLength,
  };
}

/** Events of each turn file, by its lines; nothing is parsed. */
export async function countStoredEvents(store: ConversationStore, turnOids: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for await (const bytes of store.readBlobs(turnOids)) counts.push(countLines(bytes));
  return counts;
}

/** Live compactions at a commit, once `changes` are made. */
export async function countCompactions(
  store: ConversationStore,
  commit: string | null,
  changes: readonly FileChange[],
): Promise<number> {
  const files = commit === null ? [] : await store.listTree(commit, { under: ["compactions"] });
  return changes.reduce((count, change) => count + ("remove" in change ? -1 : 1), files.length);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

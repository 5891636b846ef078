// What an import says it did. Counts are those of the branch as it stands afterwards.
import type { ConversationStore, FileChange } from "../../store/conversation-store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { conversationOf } from "../names/conversations.ts";
import type { ImportReport } from "../reports/reports.ts";
import type { CountCache } from "./count-cache.ts";

const NEWLINE = 10;

/** What a branch holds, as an import reports it. */
export type HeldContent = Pick<ImportReport, "turns" | "events" | "compactions" | "title">;

/** The report of a session of which the branch holds everything. Its lines were not read: none is counted as skipped. */
export async function reportUnchanged(
  store: ConversationStore,
  open: { readonly path: string; readonly source: { readonly byteLength: number } },
  { tree, counts }: { readonly tree: BranchTree; readonly counts: CountCache },
): Promise<ImportReport> {
  const events = counts.get(tree.commit) ?? sum(await countStoredEvents(store, tree.turnOids));
  counts.set(tree.commit, events);
  const { branch, header, turnOids, compactions } = tree;
  const held = { turns: turnOids.length, events, compactions: compactions.length, title: header.title };
  return unchangedReport(branch, held, { path: open.path, byteLength: open.source.byteLength });
}

/** The same of a branch of which it is known what it holds: nothing is read. */
export function unchangedReport(
  branch: string,
  { turns, events, compactions, title }: HeldContent,
  file: { readonly path: string; readonly byteLength: number },
): ImportReport {
  return {
    id: conversationOf(branch),
    branch,
    turns,
    events,
    compactions,
    skipped_lines: 0,
    status: "unchanged",
    source: file.path,
    ...(title === undefined ? {} : { title }),
    turns_added: 0,
    bytes: file.byteLength,
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
  const ours = changes.filter(({ path }) => path.startsWith("compactions/"));
  return ours.reduce((count, change) => count + ("remove" in change ? -1 : 1), files.length);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

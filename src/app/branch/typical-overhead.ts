// What an agent of the conversation's kind sends beside its events, where the conversation itself does not tell.
import type { ConversationStore } from "../../store/store.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";

/**
 * Tokens of system prompt and tools by the newest line that names a version of the agent; null = nothing is known. Without
 * `mayBring`, a line that is not here, in a partial clone, stays where it is.
 */
export async function typicalOverhead(
  store: ConversationStore,
  tree: BranchTree,
  { mayBring }: { readonly mayBring: boolean },
): Promise<number | null> {
  const { source } = tree.header;
  if (source === null) return null;
  // Hardly ever needed, and agents' formats are much code.
  const { AGENTS } = await import("../../formats/agents.ts");
  const overhead = AGENTS.find(({ name }) => name === source.format)?.overhead;
  if (overhead === undefined) return null;
  const folder = `sources/${source.session}`;
  const files = await store.listTree(tree.commit, { under: [folder] });
  const newest = files.findLast(({ path }) => !path.startsWith(`${folder}/files/`));
  const isElsewhere = newest !== undefined && (store.partial?.missing([newest.oid]).length ?? 0) > 0;
  if (newest === undefined || (isElsewhere && !mayBring)) return null;
  const [bytes] = await collectBlobs(store, [newest.oid]);
  const lines = new TextDecoder().decode(bytes).split("\n");
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const tokens = overhead(lines[at] ?? "");
    if (tokens !== null) return tokens;
  }
  return null;
}

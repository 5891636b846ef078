// Says where a format has no place for a summary that stands in the view as one System message.
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadCompactions } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Formats whose lists have System messages anywhere, and those that tell of every role. */
const WITH_SYSTEM: readonly string[] = ["openai-chat", "openai-responses", "jsonl", "markdown"];

/** What to say of an export of a branch's view to a format; null where nothing is to be said. */
export async function systemSummaryNote(
  { store }: Pick<Workspace, "store">,
  tree: BranchTree,
  to: string,
): Promise<string | null> {
  if (WITH_SYSTEM.includes(to)) return null;
  const { applied } = await loadCompactions(store, tree);
  if (!applied.some(({ summary }) => summary?.inject === "system")) return null;
  return `${to} has no System messages inside a conversation: the summary is written as a reminder in a user message instead.`;
}

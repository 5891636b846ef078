// Gives a conversation a new title: one commit with one meta record.
import { parseTitle } from "../core/title.ts";
import { commitChange, recordChange, timestampAfter } from "./append-record.ts";
import type { BranchTree } from "./branch-tree.ts";
import { refreshViews } from "./refresh-view.ts";
import { randomId } from "./runtime.ts";
import { conversationTitle, readMetas } from "./titles.ts";
import type { Workspace } from "./workspace.ts";

/** Gives a conversation's branch a new title. Throws `empty_title`, `long_title`. */
export async function setTitle(
  workspace: Workspace,
  tree: BranchTree,
  title: string,
): Promise<{ readonly commit: string | null; readonly title: string }> {
  const line = parseTitle(title);
  const appended = await commitChange(workspace, tree, async (current) => {
    const metas = await readMetas(workspace, current);
    if ((await conversationTitle(workspace, current)) === line) return null;
    const timestamp = timestampAfter(
      workspace.runtime.now(),
      metas.map((meta) => meta.timestamp),
    );
    const record = { type: "meta", id: randomId(workspace.runtime), timestamp, title: line };
    return { message: `title: ${line}\n`, changes: [recordChange(workspace, "meta", record)], sign: false };
  });
  if (appended !== null) await refreshViews(workspace, tree.branch, appended.parent);
  return { commit: appended?.commit ?? null, title: line };
}

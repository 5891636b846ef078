// Gives a conversation a new title: one commit with one meta record.

import { parseTitle } from "../../core/conversation/marks.ts";
import { recordMessage } from "../../store/messages.ts";
import { appendMeta } from "../branch/append-meta.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { titleIn } from "../branch/titles.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Gives a conversation's branch a new title. Throws `empty_title`, `long_title`. */
export async function setTitle(
  workspace: Workspace,
  tree: BranchTree,
  title: string,
): Promise<{ readonly commit: string | null; readonly title: string }> {
  const line = parseTitle(title);
  const commit = await appendMeta(workspace, tree, (metas, { header }) =>
    titleIn(metas, header) === line ? null : { fields: { title: line }, message: recordMessage("title", line) },
  );
  return { commit, title: line };
}

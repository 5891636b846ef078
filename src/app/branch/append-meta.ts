// Appends one meta record (title, pin, comment, archive, labels) to a branch: one commit that touches only its file.
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { commitChange, recordChange, timestampAfter } from "./append-record.ts";
import type { BranchTree } from "./branch-tree.ts";
import { refreshViews } from "./refresh-view.ts";
import { type MetaRecord, readMetas } from "./titles.ts";

/** What a record says, and the message of its commit. */
export interface MetaChange {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/**
 * Plans against all of meta/, oldest first, with the id that the record will have, and commits; plans again when the branch moved. Gives the commit; null when the
 * plan has nothing to do. Throws as `commitChange` does.
 */
export async function appendMeta(
  workspace: Workspace,
  tree: BranchTree,
  plan: (metas: readonly MetaRecord[], tree: BranchTree, id: string) => MetaChange | null,
): Promise<string | null> {
  const appended = await commitChange(workspace, tree, async (current) => {
    const metas = await readMetas(workspace, current);
    const id = randomId(workspace.runtime);
    const change = plan(metas, current, id);
    if (change === null) return null;
    const timestamp = timestampAfter(
      workspace.runtime.now(),
      metas.map((meta) => meta.timestamp),
    );
    const record = { type: "meta", id, timestamp, ...change.fields };
    return { message: change.message, changes: [recordChange(workspace, "meta", record)], sign: false };
  });
  if (appended !== null) await refreshViews(workspace, tree.branch, appended.parent);
  return appended?.commit ?? null;
}

// All that was said on a branch, as lines to look for secrets in: a view may show the beginning of one that stands in full only
// where the view hides or cuts it. Read a few turns at a time, long texts with them; images and the agent's files are not.
import { turnPath } from "../../core/conversation/turn-file.ts";
import { requireTexts } from "../branch/attachments.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { readComments } from "../branch/comments.ts";
import { loadCompactions, loadTurns } from "../branch/load-view.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { TextAtPath } from "./find-masks.ts";

/** Turns read at once. */
const BATCH = 100;

/** Reads turns as they were said, compactions with their summaries, comments. Throws `attachment_missing`. */
export async function* readSaidLines(workspace: Workspace, tree: BranchTree): AsyncGenerator<TextAtPath> {
  const { store } = workspace;
  const { all } = await loadCompactions(store, tree);
  yield { path: "compactions", text: linesOf(all) };
  yield { path: "comments", text: linesOf(await readComments(workspace, tree)) };
  for (let from = 0; from < tree.turnOids.length; from += BATCH) {
    const positions = [...tree.turnOids.keys()].slice(from, from + BATCH);
    const turns = await loadTurns(store, tree, positions);
    for (const { index, events } of turns.values()) {
      requireTexts(tree.commit, events);
      yield { path: turnPath(index), text: linesOf(events) };
    }
  }
}

function linesOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join("\n");
}

// Two branches beside each other: the turns that they share, and what a model sees otherwise on the one than on the other.

import { type KnownTurns, loadView } from "../branch/load-view.ts";
import { conversationTitle } from "../branch/titles.ts";
import { diffViews, type ViewDiff } from "../diff/view-diff.ts";
import { resolveWholeTree } from "../names/resolve-id.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** One of them. */
export interface ComparedFork {
  readonly branch: string;
  readonly title: string;
  readonly turns: number;
  readonly compactions: number;
}

export interface ComparePage {
  readonly left: ComparedFork;
  readonly right: ComparedFork;
  /** Turns from the first on that are the same on both. */
  readonly shared: number;
  /** From the view of the left one to that of the right one. */
  readonly diff: ViewDiff;
}

/** Compares the views of two branches. Throws `unknown_id`, `spliced_turns`. */
export async function readComparePage(workspace: Workspace, left: string, right: string): Promise<ComparePage> {
  const { store } = workspace;
  const known: KnownTurns = new Map();
  const load = async (name: string) => {
    const tree = await resolveWholeTree(workspace, name);
    const { view, live } = await loadView(store, tree, { known });
    const facts: ComparedFork = {
      branch: tree.branch,
      title: await conversationTitle(workspace, tree),
      turns: tree.turnOids.length,
      compactions: live.applied.length,
    };
    return { tree, view, facts };
  };
  const [one, other] = [await load(left), await load(right)];
  const differing = one.tree.turnOids.findIndex((oid, turn) => oid !== other.tree.turnOids[turn]);
  return {
    left: one.facts,
    right: other.facts,
    shared: differing < 0 ? one.tree.turnOids.length : differing,
    diff: diffViews(one.view, other.view),
  };
}

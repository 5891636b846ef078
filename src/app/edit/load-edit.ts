// Reads what a plan is made of: the view of a branch as it stands, with its pins, counted.
import type { Config } from "../../config/config.ts";
import { type EditItem, itemsOf } from "../../core/compact/edit-plan.ts";
import { withoutIndex } from "../../core/conversation/compaction.ts";
import type { Turn, View } from "../../core/conversation/event.ts";
import { type Pin, pinsInForce } from "../../core/conversation/marks.ts";
import { project } from "../../core/conversation/projection.ts";
import type { TokenCount, TokenMeter } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadConversationConfig } from "../branch/conversation-config.ts";
import { loadCounted } from "../branch/counted-view.ts";
import type { KnownTurns, LiveCompactions } from "../branch/load-view.ts";
import { refuseSplice } from "../branch/spliced-turns.ts";
import { type MetaRecord, readMetas } from "../branch/titles.ts";
import { viewWindow } from "../models/view-window.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface LoadedEdit {
  readonly tree: BranchTree;
  readonly config: Config;
  readonly live: LiveCompactions;
  /** Turns at hand: at least those that the view shows. */
  readonly turns: ReadonlyMap<number, Turn>;
  readonly view: View;
  readonly meter: TokenMeter;
  readonly size: TokenCount;
  /** Context window of the conversation's model, tokens; null = unknown. */
  readonly windowTokens: number | null;
  readonly metas: readonly MetaRecord[];
  readonly pins: readonly Pin[];
  readonly items: readonly EditItem[];
}

/** What is read, and what was read before. */
export interface EditReading {
  /** Whether calls have lines of their own. */
  readonly calls: boolean;
  readonly known?: KnownTurns;
  /** Turns beside those that the view shows. */
  readonly also?: readonly number[];
}

/** Loads a branch to edit it. Throws `spliced_turns`. */
export async function loadEdit(
  workspace: Workspace,
  tree: BranchTree,
  { calls, known = new Map(), also = [] }: EditReading,
): Promise<LoadedEdit> {
  await refuseSplice(workspace, tree);
  const [{ config }, metas, counted] = await Promise.all([
    loadConversationConfig(workspace, tree),
    readMetas(workspace, tree),
    loadCounted(workspace.store, tree, also, known),
  ]);
  const { live, turns, view, meter } = counted;
  const window = await viewWindow(workspace, config, { turns, meter, next: null });
  const pins = pinsInForce(metas);
  const compactions = live.applied.map(withoutIndex);
  const listed = project({ turnCount: tree.turnOids.length, turns, compactions });
  const items = itemsOf({ view: listed, turns, compactions, pins, count: meter.countEvent, calls });
  return {
    tree,
    config,
    live,
    turns,
    view,
    meter,
    size: meter.countView(view, live.applied),
    windowTokens: window?.tokens ?? null,
    metas,
    pins,
    items,
  };
}

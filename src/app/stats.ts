// Sizes and token accounting of a branch: raw, and what the view still shows.
import { countConversation } from "../core/conversation-stats.ts";
import { isMessage } from "../core/event.ts";
import { estimateByKind } from "../core/token-estimate.ts";
import type { BranchTree } from "./branch-tree.ts";
import { conversationOf } from "./conversations.ts";
import { loadWhole } from "./load-view.ts";
import type { StatsReport } from "./reports.ts";
import type { Workspace } from "./workspace.ts";

/** Counts a branch. */
export async function readStats(workspace: Workspace, tree: BranchTree): Promise<StatsReport> {
  const files = await workspace.store.listTree(tree.commit, { under: ["turns"], sizes: true });
  const { turns, view, live } = await loadWhole(workspace.store, tree);
  const events = [...turns.values()].flatMap((turn) => turn.events);
  const shown = view.turns.flatMap((turn) => turn.events);
  const { total: raw, ...rawKinds } = estimateByKind(events);
  const { total: viewed, ...viewKinds } = estimateByKind(shown);
  const kinds = Object.keys(rawKinds) as (keyof typeof rawKinds)[];
  return {
    turns: turns.size,
    events: countConversation([...turns.values()], []).events,
    bytes: files.reduce((sum, file) => sum + (file.size ?? 0), 0),
    tokens: {
      raw,
      view: viewed,
      by_kind: Object.fromEntries(kinds.map((kind) => [kind, { raw: rawKinds[kind], view: viewKinds[kind] }])),
    },
    id: conversationOf(tree.branch),
    branch: tree.branch,
    messages: view.turns
      .filter((turn) => turn.origin.kind === "kept")
      .flatMap((turn) => turn.events)
      .filter(isMessage).length,
    compactions: live.all.length,
  };
}

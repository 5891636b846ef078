// What fills a conversation's window: the view by kind, by tool and by turn, what its requests used and cost where that is recorded,
// and what strategies would still free of it.

import { recordedTools, selectDeltas } from "../../config/config.ts";
import { offeredTools } from "../../core/conversation/defined-tools.ts";
import { countFrame } from "../../core/model/token-meter.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { readDeltas } from "../branch/conversation-config.ts";
import { readToolDefinitions } from "../branch/tool-records.ts";
import { type HeadroomView, loadHeadroom } from "../plan/headroom.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { countByKind, countByTool, countByTurn, measureTurns } from "./anatomy-counts.ts";
import type { AnatomyPart, AnatomyReport } from "./anatomy-report.ts";
import { addCosts, costByTurn } from "./recorded-cost.ts";

/** Reads the anatomy of a branch's view. Throws `spliced_turns`. */
export async function readAnatomy(workspace: Workspace, tree: BranchTree): Promise<AnatomyReport> {
  const loaded = await loadHeadroom(workspace, tree);
  const { before: view, live, meter, config, facts, headroom, windowTokens: window, knownWindow } = loaded;
  const costs = await costByTurn(workspace, config, facts);
  const { tokens, source } = meter.countView(view, live.applied);
  const parts = measureTurns(view, meter);
  return {
    branch: tree.branch,
    commit: tree.commit,
    turns: tree.turnOids.length,
    model: loaded.model,
    window,
    window_source: knownWindow === null ? "usual" : "known",
    tokens,
    tokens_source: source,
    overhead_source: meter.overheadSource,
    by_kind: countByKind(parts, { tokens, before: await frameParts(workspace, tree, loaded) }),
    by_tool: countByTool(view, meter),
    by_turn: countByTurn(view, parts, costs),
    recorded: addCosts(costs.values()),
    headroom: {
      strategies: headroom.strategies,
      mechanical: { ...headroom.mechanical, share: headroom.mechanical.frees / window },
      threshold: config.conversation.compaction.summarize_threshold,
      turns_left: turnsLeft(loaded),
    },
  };
}

/** What stands in front of the events: system prompt and tools, apart where the definitions are recorded. */
async function frameParts(
  workspace: Workspace,
  tree: BranchTree,
  { before: view, live, meter }: HeadroomView,
): Promise<readonly AnatomyPart[]> {
  const overhead = meter.overheadUnder(live.applied);
  if (overhead === 0) return [];
  const recorded = recordedTools(selectDeltas(await readDeltas(workspace, tree), tree.atTurn)) ?? [];
  const definitions = await readToolDefinitions(workspace.store, tree, recorded);
  const tools = countFrame(meter, { tools: offeredTools(definitions, view, live.applied) });
  if (tools === 0 || tools > overhead) return [{ kind: "overhead", tokens: overhead }];
  return [
    { kind: "system", tokens: overhead - tools },
    { kind: "tools", tokens: tools },
  ];
}

/** What mechanical compaction leaves grows with the turns: when that alone is above the threshold, only a summary helps. */
function turnsLeft({ config, meter, live, before, headroom, windowTokens }: HeadroomView): number | null {
  const { after } = headroom.mechanical;
  const most = config.conversation.compaction.summarize_threshold * windowTokens;
  if (after >= most) return 0;
  const shown = new Set(before.turns.flatMap(({ origin }) => (origin.kind === "kept" ? [origin.turn] : [])));
  const growth = (after - meter.overheadUnder(live.applied)) / shown.size;
  return growth > 0 ? Math.floor((most - after) / growth) : null;
}

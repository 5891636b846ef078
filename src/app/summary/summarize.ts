// Has the summary of a planned compaction written: by a model, or as an extract where no model can be asked. What it is made from
// are the raw events, never a view of them. Only what is complete comes back; nothing is stored here.

import { extractSummary } from "../../core/compact/extract.ts";
import type { PlacedEvent } from "../../core/compact/transcript.ts";
import { EXTRACTIVE, type Summary } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { readCovered } from "../branch/covered-events.ts";
import type { PlannedCompaction } from "../plan/compact-plan.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { refuseAborted } from "./ask-summary.ts";
import { generateSummary } from "./generate-summary.ts";
import { summaryModel } from "./summary-model.ts";
import type { SummaryRequest } from "./summary-request.ts";

/**
 * Writes the summary of a plan. Throws `summary_rejected` (kind `provider`), `interrupted`, and what choosing, opening and asking
 * the model throws.
 */
export async function writeSummary(
  workspace: Workspace,
  tree: BranchTree,
  planned: PlannedCompaction,
  request: SummaryRequest,
): Promise<Summary> {
  const name = await summaryModel(workspace, planned, request);
  const events = await readCovered(workspace.store, tree.commit, {
    compaction: planned.plan.compaction,
    turns: planned.turns,
  });
  const summary =
    name === EXTRACTIVE
      ? extractOf(events)
      : await generateSummary(workspace, { tree, planned, request, events, model: name });
  refuseAborted(request.signal);
  return { ...summary, ...defined({ inject: request.inject }) };
}

/** The summary that no model writes. */
export function extractOf(events: readonly PlacedEvent[]): Summary {
  const { summary, files, open_tasks } = extractSummary(events);
  return { summary, source: "extractive", model: EXTRACTIVE, files, open_tasks };
}

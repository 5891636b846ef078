// Has the summary of a planned compaction written: by a model, or as an extract where no model can be asked. What it is made from
// are the raw events, never a view of them. Only what is complete comes back; nothing is stored here.
import { inline } from "../core/attachment.ts";
import { EXTRACTIVE, type Summary } from "../core/compaction.ts";
import { extractSummary } from "../core/extract/extract.ts";
import type { PlacedEvent } from "../core/summary/placed-event.ts";
import { refuseAborted } from "./ask-summary.ts";
import { readAttachments } from "./attachments.ts";
import type { BranchTree } from "./branch-tree.ts";
import type { PlannedCompaction } from "./compact-plan.ts";
import { coveredEvents } from "./covered-events.ts";
import { generateSummary } from "./generate-summary.ts";
import { summaryModel } from "./summary-model.ts";
import type { SummaryRequest } from "./summary-request.ts";
import type { Workspace } from "./workspace.ts";

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
  const name = await summaryModel(workspace, planned, request.model);
  const events = await readCovered(workspace, tree, planned);
  const summary =
    name === EXTRACTIVE
      ? extractOf(events)
      : await generateSummary(workspace, { tree, planned, request, events, model: name });
  refuseAborted(request.signal);
  return { ...summary, ...(request.inject === undefined ? {} : { inject: request.inject }) };
}

/** The raw events that are covered, with the payloads that were moved out of them. */
async function readCovered(
  { store }: Workspace,
  tree: BranchTree,
  { plan, turns }: PlannedCompaction,
): Promise<readonly PlacedEvent[]> {
  const covered = coveredEvents(plan.compaction, turns);
  const read = await readAttachments(
    store,
    tree.commit,
    covered.map(({ event }) => event),
  );
  return covered.map(({ turn, event }) => ({ turn, event: inline(event, read) }));
}

function extractOf(events: readonly PlacedEvent[]): Summary {
  const { summary, files, open_tasks } = extractSummary(events);
  return { summary, source: "extractive", model: EXTRACTIVE, files, open_tasks };
}

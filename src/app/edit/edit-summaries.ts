// The summaries of a plan: one for each run of its lines, made of the raw events, as `compact` has one written.

import type { PlannedStep } from "../../core/compact/edit-steps.ts";
import { trialOf } from "../../core/compact/plan.ts";
import { EXTRACTIVE, type Summary } from "../../core/conversation/compaction.ts";
import { project } from "../../core/conversation/projection.ts";
import { boundAt } from "../../core/conversation/range-bound.ts";
import { USUAL_WINDOW } from "../../core/model/token-meter.ts";
import type { PlannedCompaction } from "../plan/compact-plan.ts";
import { describeSummary, type PlannedSummary } from "../plan/compact-report.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type EditRequest, type PreparedEdit, protectedEvents } from "./prepare-edit.ts";

/** What came of having summaries written. */
export interface WrittenSummaries {
  /** The text for each step that wanted one. */
  readonly summaries: ReadonlyMap<PlannedStep, Summary>;
  /** In a dry run, those that a model would write. */
  readonly toWrite: readonly PlannedSummary[];
  readonly notes: readonly string[];
}

/** Has the summaries of a plan written; a dry run writes extracts and names the model of others. Throws as `writeSummary` does. */
export async function writeSummaries(
  workspace: Workspace,
  prepared: PreparedEdit,
  request: EditRequest,
): Promise<WrittenSummaries> {
  const wanted = prepared.steps.filter(({ plan }) => plan.summarize !== undefined);
  const summaries = new Map<PlannedStep, Summary>();
  const toWrite: PlannedSummary[] = [];
  if (wanted.length === 0) return { summaries, toWrite, notes: [] };
  const { extractNotes, summaryModel } = await import("../summary/summary-model.ts");
  const { writeSummary } = await import("../summary/summarize.ts");
  const notes = new Set<string>();
  for (const [at, step] of wanted.entries()) {
    const planned = plannedOf(step, prepared);
    const { from_turn, to_turn } = step.plan.compaction;
    const model = await summaryModel(workspace, planned, request);
    for (const note of await extractNotes(workspace, planned, { model, asked: request, command: "" })) notes.add(note);
    if (request.dryRun && model !== EXTRACTIVE) {
      toWrite.push({ from_turn, to_turn, model });
      continue;
    }
    if (request.dryRun) notes.add(describeSummary({ from_turn, to_turn, model }));
    if (model !== EXTRACTIVE && wanted.length > 1)
      request.progress?.(`summary ${at + 1} of ${wanted.length}: turns ${from_turn}..${to_turn}`);
    summaries.set(step, await writeSummary(workspace, prepared.loaded.tree, planned, request));
  }
  return { summaries, toWrite, notes: [...notes] };
}

/** A step as the plan of one compaction, beside which nothing changes. */
function plannedOf({ plan }: PlannedStep, prepared: PreparedEdit): PlannedCompaction {
  const { config, live, turns, view, meter, size, windowTokens, tree } = prepared.loaded;
  const trial = [...live.applied, trialOf(plan.compaction, true)];
  const after = project({ turnCount: tree.turnOids.length, turns, compactions: trial });
  const { from_turn, from_event, to_turn, to_event } = plan.compaction;
  return {
    plan,
    config,
    live,
    turns,
    before: view,
    after,
    tokens: { before: size.tokens, after: meter.countView(after, trial).tokens },
    tokens_source: "estimate",
    meter,
    pinned: protectedEvents(prepared),
    bounds: { from: boundAt(from_turn, from_event), to: boundAt(to_turn, to_event) },
    windowTokens: windowTokens ?? USUAL_WINDOW,
    problems: [],
  };
}

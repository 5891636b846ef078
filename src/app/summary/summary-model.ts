// Which model writes the summary of a plan: asked before anything is written, and by a dry run to say its name.
import { EXTRACTIVE } from "../../core/compaction/compaction.ts";
import { defined } from "../../core/defined.ts";
import { chooseSummaryModel, type SummaryModelChoice, unnamedSummaryModel } from "../models/choose-model.ts";
import { conversationModel } from "../models/models.ts";
import type { PlannedCompaction } from "../plan/compact-plan.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { SummaryRequest } from "./summary-request.ts";

/** Who may be asked for a summary, as far as the request says. */
export type AskedModel = Pick<SummaryRequest, "model" | "answering">;

/** Gives its name in full, or `extractive`. Throws `bad_model_name`, `unknown_provider` for one that was named. */
export function summaryModel(workspace: Workspace, planned: PlannedCompaction, asked: AskedModel): Promise<string> {
  return chooseSummaryModel(workspace, choiceOf(planned, asked));
}

/** What to say where the summary is an extract for the one reason that nobody named a model; none otherwise. */
export async function extractNotes(
  workspace: Workspace,
  planned: PlannedCompaction,
  { model: summarizer, asked }: { readonly model: string | undefined; readonly asked: AskedModel },
): Promise<readonly string[]> {
  return summarizer === EXTRACTIVE ? extractNotesFor(workspace, choiceOf(planned, asked)) : [];
}

/** The same for an extract whose model was to be chosen so. */
export async function extractNotesFor(workspace: Workspace, choice: SummaryModelChoice): Promise<readonly string[]> {
  const model = await unnamedSummaryModel(workspace, choice);
  if (model === null) return [];
  return [
    `the summary is an extract: neither this call nor your settings name a model; \`--model ${model}\` asks that one`,
  ];
}

function choiceOf(
  { plan, config, turns }: PlannedCompaction,
  { model: flag, answering }: AskedModel,
): SummaryModelChoice {
  const profileModel = plan.summarize?.model;
  return {
    config,
    conversationModel: conversationModel(turns.values()),
    ...defined({ flag, answering, profileModel }),
  };
}

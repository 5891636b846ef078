// Which model writes the summary of a plan: asked before anything is written, and by a dry run to say its name.
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import { shellWord } from "../../core/safe-text.ts";
import {
  chooseSummaryModel,
  nameOnce,
  type SummaryModelChoice,
  unnamedSummaryModels,
  whyUnnamed,
} from "../models/choose-model.ts";
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
  { model: summarizer, asked, command }: ExtractFacts,
): Promise<readonly string[]> {
  if (summarizer !== EXTRACTIVE) return [];
  return extractNotesFor(workspace, choiceOf(planned, asked), command ?? commandOf(planned));
}

interface ExtractFacts {
  readonly model: string | undefined;
  readonly asked: AskedModel;
  /** What `--model` goes with; absent = the `jpg compact` that makes such a plan. */
  readonly command?: string;
}

/** The same for an extract whose model was to be chosen so; `command` = what `--model` goes with. */
export async function extractNotesFor(
  workspace: Workspace,
  choice: SummaryModelChoice,
  command: string,
): Promise<readonly string[]> {
  const models = await unnamedSummaryModels(workspace, choice);
  return models.length === 0 ? [] : [`the summary is an extract: ${whyUnnamed(models)}; ${nameOnce(models, command)}`];
}

function commandOf({ plan: { compaction } }: PlannedCompaction): string {
  const { profile, strategy = [] } = compaction;
  const words = profile === undefined ? strategy.map((name) => `-s ${shellWord(name)}`) : [`-p ${shellWord(profile)}`];
  return ["jpg compact", ...words].join(" ");
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

// Which model writes the summary of a plan: asked before anything is written, and by a dry run to say its name.

import type { PlannedCompaction } from "./compact-plan.ts";
import { chooseSummaryModel, conversationModel } from "./models.ts";
import type { Workspace } from "./workspace.ts";

/** Gives its name in full, or `extractive`. Throws `bad_model_name`, `unknown_provider` for one that was named. */
export function summaryModel(workspace: Workspace, planned: PlannedCompaction, flag?: string): Promise<string> {
  const { plan, config, turns } = planned;
  const profileModel = plan.summarize?.model;
  return chooseSummaryModel(workspace, {
    config,
    conversationModel: conversationModel(turns.values()),
    ...(flag === undefined ? {} : { flag }),
    ...(profileModel === undefined ? {} : { profileModel }),
  });
}

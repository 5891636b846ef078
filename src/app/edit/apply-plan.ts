// Follows an edited plan: load → check its lines and plan its compactions → have summaries written → one commit. Nothing is
// committed unless all of it can be.

import { parsePlan } from "../../core/compact/edit-plan.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import { commitPlan } from "../branch/append-record.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { keepHidden } from "../branch/counted-view.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { makeChange } from "./edit-change.ts";
import { type EditReport, idleReport } from "./edit-report.ts";
import { writeSummaries } from "./edit-summaries.ts";
import { type LoadedEdit, loadEdit } from "./load-edit.ts";
import { prepareAgain } from "./moved-plan.ts";
import { badPlan, planMoved, requireBase } from "./plan-error.ts";
import { type EditRequest, prepareEdit } from "./prepare-edit.ts";

/**
 * Follows the text of a plan. Throws `bad_plan` with the lines, `plan_of_another`, `plan_moved`, `pin_hidden`, `view_grows`, and what
 * having a summary written throws; nothing is committed then.
 */
export async function applyPlan(
  workspace: Workspace,
  tree: BranchTree,
  text: string,
  request: EditRequest,
): Promise<EditReport> {
  const { plan, problems } = parsePlan(text);
  if (plan === null && problems.length > 0) throw badPlan(problems);
  const idle = async (reason: string): Promise<EditReport> =>
    idleReport(await loadEdit(workspace, tree, { calls: false }), request.dryRun, reason);
  if (plan === null) return idle("the plan is empty");
  await requireBase(workspace, tree, plan.base);
  const prepared = await prepareEdit(workspace, tree, { plan, problems });
  const { loaded, steps, pinned, unpinned, notes } = prepared;
  if (steps.length + pinned.length + unpinned.length === 0)
    return { ...idleReport(loaded, request.dryRun, notes[0] ?? "the plan changes nothing"), warnings: notes };
  const written = await writeSummaries(workspace, prepared, request);
  const { dryRun, force } = request;
  const first = await makeChange(workspace, prepared, { ...written, dryRun, ...defined({ force }) });
  if (dryRun) return first.report;
  const { appended, value: report } = await commitPlan(workspace, tree, async (at) => {
    if (at.commit === tree.commit) return { change: first.change, value: first.report };
    const again = await prepareAgain(workspace, at, { plan, prepared, written });
    if (again === null) throw await planMoved(workspace, plan.base);
    const made = await makeChange(workspace, again.prepared, { ...again.written, dryRun, ...defined({ force }) });
    return { change: made.change, value: made.report };
  });
  if (appended === null) return report;
  await keepFacts(workspace, loaded, report.compactions);
  await refreshViews(workspace, tree.branch, appended.parent);
  return { ...report, commit: appended.commit };
}

/** What is hidden from now on is counted by its facts. */
async function keepFacts(
  { store }: Workspace,
  { tree, turns, live }: LoadedEdit,
  compactions: readonly Compaction[],
): Promise<void> {
  if (compactions.length > 0) await keepHidden(store, tree, { turns, compactions: [...live.applied, ...compactions] });
}

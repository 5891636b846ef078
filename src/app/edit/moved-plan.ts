// A plan whose branch moved while its summaries were written: what was written is not thrown away where everything that the plan
// changes still stands, and what came since is kept as it is.
import { type EditPlan, printPlan } from "../../core/compact/edit-plan.ts";
import type { PlannedStep } from "../../core/compact/edit-steps.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { WrittenSummaries } from "./edit-summaries.ts";
import { carryOver } from "./offer-plan.ts";
import { type PreparedEdit, prepareEdit } from "./prepare-edit.ts";

/** A plan that was ready to be committed. */
interface ReadyEdit {
  readonly plan: EditPlan;
  readonly prepared: PreparedEdit;
  readonly written: WrittenSummaries;
}

/** Prepares a plan again on a branch that moved, with the summaries that it has; null where something of it changed. */
export async function prepareAgain(
  workspace: Workspace,
  at: BranchTree,
  { plan, prepared, written }: ReadyEdit,
): Promise<Pick<ReadyEdit, "prepared" | "written"> | null> {
  if (written.summaries.size === 0) return null;
  const { items, verbs, lost } = await carryOver(workspace, at, printPlan(plan));
  const isWhole = plan.lines.every(({ place, verb }) => verb === "keep" || verbs.get(place) === verb);
  if (lost.length > 0 || !isWhole) return null;
  const lines = items.map(({ place, verb }) => ({ place, verb: verbs.get(place) ?? verb }));
  const again = await prepareEdit(workspace, at, { plan: { ...plan, lines }, problems: [] });
  const summaries = sameSummaries(prepared, again, written);
  return summaries === null ? null : { prepared: again, written: { ...written, summaries } };
}

/** The summaries by the steps of the new plan; null where one of them would stand for other events. */
function sameSummaries(
  before: PreparedEdit,
  after: PreparedEdit,
  { summaries }: WrittenSummaries,
): WrittenSummaries["summaries"] | null {
  const rangeOf = ({ plan: { compaction } }: PlannedStep): string => {
    const { from_turn, from_event, to_turn, to_event } = compaction;
    return JSON.stringify([from_turn, from_event, to_turn, to_event]);
  };
  const texts = new Map(before.steps.map((step) => [rangeOf(step), summaries.get(step)] as const));
  const found: (readonly [PlannedStep, NonNullable<ReturnType<typeof summaries.get>>])[] = [];
  for (const step of after.steps) {
    if (step.plan.summarize === undefined) continue;
    const text = texts.get(rangeOf(step));
    if (text === undefined) return null;
    found.push([step, text]);
  }
  return new Map(found);
}

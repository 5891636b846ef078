// Checks an edited plan against the view that it was made of, and plans the compactions that it comes to; nothing is written yet.
import { toolHints } from "../../config/config.ts";
import type { EditPlan, PlanProblem } from "../../core/compact/edit-plan.ts";
import { checkPlan, type EditSteps, listSteps, type PlannedStep, planSteps } from "../../core/compact/edit-steps.ts";
import { type Pin, pinnedEvents } from "../../core/conversation/marks.ts";
import { leadingPrompts } from "../../core/model/thread.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import type { KnownTurns } from "../branch/load-view.ts";
import type { SummaryRequest } from "../summary/summary-request.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type LoadedEdit, loadEdit } from "./load-edit.ts";
import { badPlan } from "./plan-error.ts";

/** How a plan is followed. What is said of summaries counts only where the plan has some. */
export interface EditRequest
  extends Pick<SummaryRequest, "model" | "focus" | "style" | "signal" | "progress" | "force"> {
  readonly dryRun: boolean;
}

/** A plan that was checked: all that is needed to follow it. */
export interface PreparedEdit {
  readonly loaded: LoadedEdit;
  readonly steps: readonly PlannedStep[];
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
  /** The pins as they are to be. */
  readonly pins: readonly Pin[];
  /** What the user should know, as sentences. */
  readonly notes: readonly string[];
}

/** Checks the lines and plans what they come to. Throws `bad_plan`. */
export async function prepareEdit(
  workspace: Workspace,
  tree: BranchTree,
  { plan, problems: written }: { readonly plan: EditPlan; readonly problems: readonly PlanProblem[] },
): Promise<PreparedEdit> {
  const known: KnownTurns = new Map();
  const { calls } = plan.base;
  const shown = await loadEdit(workspace, tree, { calls, known });
  const checked = checkPlan(plan, shown.items);
  if (written.length + checked.problems.length > 0) throw badPlan([...written, ...checked.problems]);
  const steps = listSteps(checked.choices, shown.turns);
  if (steps.problems.length > 0) throw badPlan(steps.problems);
  const also = hiddenTurns(steps, shown);
  const loaded = also.length === 0 ? shown : await loadEdit(workspace, tree, { calls, known, also });
  const pins = pinsAfter(loaded.pins, steps);
  const { planned, idle, problems } = planSteps(steps.steps, {
    turnCount: tree.turnOids.length,
    turns: loaded.turns,
    compactions: loaded.live.applied,
    now: workspace.runtime.now().toISOString(),
    hints: toolHints(loaded.config),
    pins,
    prompts: promptsOf(loaded),
  });
  if (problems.length > 0) throw badPlan(problems);
  const notes = idle.map(({ step, reason }) => `line ${step.line} of the plan changes nothing: ${reason}`);
  return { loaded, steps: planned, pinned: steps.pins, unpinned: steps.unpins, pins, notes };
}

/** Turns of the steps that nothing shows: a summary is made of them, too, and what they held is counted. */
function hiddenTurns({ steps }: EditSteps, { turns }: LoadedEdit): readonly number[] {
  const wanted = new Set<number>();
  for (const { range, verb } of steps)
    if (verb !== "calls") for (let turn = range.from; turn <= range.to; turn++) if (!turns.has(turn)) wanted.add(turn);
  return [...wanted];
}

function pinsAfter(pins: readonly Pin[], { pins: set, unpins }: EditSteps): readonly Pin[] {
  const keyOf = ({ turn, event }: Pin): string => `${turn}:${event ?? ""}`;
  const gone = new Set(unpins.map(keyOf));
  return [...pins.filter((pin) => !gone.has(keyOf(pin))), ...set];
}

/** What was said is edited, not what the model is to be. */
function promptsOf({ turns }: LoadedEdit): readonly string[] {
  const first = turns.get(0);
  return first === undefined ? [] : leadingPrompts([first]).map(({ id }) => id);
}

/** The events that are to stay as they are. */
export function protectedEvents({ pins, loaded }: Pick<PreparedEdit, "pins" | "loaded">): readonly string[] {
  return pinnedEvents(pins, loaded.turns.values());
}

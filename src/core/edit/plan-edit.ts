// Plans the compactions of an edited plan, purely: each step as the compaction of its range would be planned by itself.
import { type Pin, pinnedEvents } from "../compaction/pin.ts";
import type { Policies } from "../compaction/policy.ts";
import type { Turn } from "../event/turn.ts";
import { type CompactionPlan, type CompactionRequest, planCompaction } from "../plan/plan-compaction.ts";
import { isNothing } from "../range/bound-resolution.ts";
import { boundAt } from "../range/range-bound.ts";
import type { CutRange } from "../range/turn-range.ts";
import type { PlanProblem } from "./edit-plan.ts";
import type { EditStep } from "./edit-steps.ts";
import { TRUNCATED_CHARS } from "./edit-verb.ts";

/** What the steps are planned against. */
export interface EditFacts extends Pick<CompactionRequest, "turnCount" | "turns" | "compactions" | "now" | "hints"> {
  /** Pins as they are to be. */
  readonly pins: readonly Pin[];
  /** Ids of events that stay whatever a step says: the system prompts in front. */
  readonly prompts: readonly string[];
}

/** A step with its compaction. */
export interface PlannedStep {
  readonly step: EditStep;
  readonly plan: CompactionPlan;
}

/** A step of which nothing would come, and why, as a clause. */
export interface IdleStep {
  readonly step: EditStep;
  readonly reason: string;
}

/** What comes of steps. */
export interface PlannedSteps {
  readonly planned: readonly PlannedStep[];
  readonly idle: readonly IdleStep[];
  readonly problems: readonly PlanProblem[];
}

const POLICIES: Readonly<Record<EditStep["verb"], Policies>> = {
  strip: { reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } },
  truncate: { tool_calls: { policy: "truncate", max_chars: TRUNCATED_CHARS } },
  omit: { turns: "omit" },
  summarise: { summary: { policy: "summarize" } },
  calls: {},
};

/** Plans each step by itself: no two of them say anything of the same content. */
export function planSteps(steps: readonly EditStep[], facts: EditFacts): PlannedSteps {
  const planned: PlannedStep[] = [];
  const idle: IdleStep[] = [];
  const problems: PlanProblem[] = [];
  for (const step of steps) {
    const plan = planCompaction(requestOf(step, facts));
    if (isNothing(plan)) idle.push({ step, reason: plan.nothing });
    else if (plan.extendedFrom === undefined) planned.push({ step, plan });
    else problems.push({ line: step.line, message: takesIn(plan) });
  }
  return { planned, idle, problems };
}

/** A summary takes in older ones that it partly overlaps: more than its lines say. */
function takesIn({ compaction: { from_turn, to_turn } }: CompactionPlan): string {
  return `an older summary partly overlaps these turns, and a new one would reach over ${from_turn}..${to_turn}: \`jpg compact --from ${from_turn} --to ${to_turn}\` makes it, \`jpg log\` has the older one`;
}

function requestOf(
  { range, verb, calls }: EditStep,
  { turnCount, turns, compactions, now, hints = {}, pins, prompts }: EditFacts,
): CompactionRequest {
  const own = turnsOf(range, turns, turnCount);
  const request = {
    range: { from: boundAt(range.from, range.fromEvent), to: boundAt(range.to, range.toEvent) },
    policies: POLICIES[verb],
    turnCount,
    turns: own,
    turnTimes: [],
    compactions,
    now,
  };
  // What names single calls says nothing of what else stands between them: nothing has to be kept from it.
  if (calls !== undefined) return { ...request, calls };
  return { ...request, hints, keep: [...pinnedEvents(pins, own.values()), ...prompts] };
}

/** The turns that planning a range looks into. */
function turnsOf(
  { from, to }: CutRange,
  turns: ReadonlyMap<number, Turn>,
  turnCount: number,
): ReadonlyMap<number, Turn> {
  const own = new Map<number, Turn>();
  for (const position of [...Array.from({ length: to - from + 1 }, (_, at) => from + at), turnCount - 1]) {
    const turn = turns.get(position);
    if (turn !== undefined) own.set(position, turn);
  }
  return own;
}

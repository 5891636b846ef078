// Why there is nothing to compact, and what to type: the plan is made again without each thing that could have stood in its
// way, and the first without which something comes of it is the cause.

import { defined } from "../defined.ts";
import { unfinishedLoop } from "../event/safe-cut.ts";
import { DEFAULT_KEEP_LAST, fixBounds, isNothing, KEEP_CALLS, type Nothing } from "../range/bound-resolution.ts";
import type { EventRange } from "../range/range-location.ts";
import type { CutRange } from "../range/turn-range.ts";
import type { StepReport } from "../strategies/compose-steps.ts";
import { formatTokens } from "../tokens/token-estimate.ts";
import type { CompactionPlan, CompactionRequest } from "./compaction-request.ts";
import { absentAsOmitted } from "./unread-turns.ts";

type Plan = (request: CompactionRequest) => CompactionPlan | Nothing;

/**
 * Says that older compactions have taken out all that may be, where they have; null else. A few turns of what they hide are enough at
 * hand, if something could be taken out of those.
 */
export function explainByOlder(request: CompactionRequest, plan: Plan): Nothing | null {
  if (request.compactions.length === 0) return null;
  const { from, to } = request.range;
  // Both at one place: nothing is between them, whatever was compacted.
  if (from?.type === "last" && to?.type === "last") return null;
  // Without the compactions the end would be another place.
  const range = { ...request.range, ...fixBounds(defined({ to }), request) };
  if (isNothing(plan({ ...request, range, compactions: absentAsOmitted(request) }))) return null;
  return {
    nothing: "everything that may be removed is already compacted",
    hints: [
      "`jpg log` lists the compactions; `jpg compact --keep 0` includes the newest turns, `--profile heavy` replaces turns with a summary.",
    ],
  };
}

/** Names the cause; what was found, with what to type where something helps, when none of them is it. */
export function explainNothing(found: Nothing, request: CompactionRequest, plan: Plan): Nothing {
  const older = explainByOlder(request, plan);
  if (older !== null) return older;
  for (const { without, cause, hint } of causesOf(request)) {
    if (!isNothing(plan({ ...request, ...without }))) return { nothing: cause, hints: [hint] };
  }
  return found;
}

interface Cause {
  /** The request without it. */
  readonly without: Partial<CompactionRequest>;
  readonly cause: string;
  readonly hint: string;
}

function causesOf(request: CompactionRequest): readonly Cause[] {
  const { range, keep = [], hints, strategies } = request;
  const { to, protectTokens, ...rest } = range;
  const causes: Cause[] = [];
  if (protectTokens !== undefined && to === undefined) {
    causes.push({
      without: { range: rest },
      cause: `what could be removed is in the newest ${protectTokens} tokens, which are left alone`,
      hint: "`--protect N` leaves fewer tokens alone.",
    });
  }
  causes.push({
    without: { intoLoop: true },
    cause: "what could be removed is in the last turn, which is not finished",
    hint: "`jpg compact --keep 0` includes its answered calls; its reasoning stays, because the provider requires it.",
  });
  if (to === undefined) {
    causes.push({
      without: { range: { ...rest, keep: 0 } },
      cause: `what could be removed is in ${sparedBy(request)}, left alone`,
      hint: "`jpg compact --keep 0` includes it.",
    });
  }
  if (keep.length > 0) {
    causes.push({
      without: { keep: [] },
      cause: "what could be removed is pinned",
      hint: "`jpg pin` lists the pins, `jpg pin --remove` removes one.",
    });
  }
  causes.push({
    without: { hints: {}, ...(strategies === undefined ? {} : { strategies: { ...strategies, hints: {} } }) },
    cause: "what could be removed is kept by the hints of its tools",
    hint: "`jpg config` lists the hints; `-c tools.NAME.compaction.response=strip` strips the results of a tool anyway.",
  });
  return hints === undefined && strategies?.hints === undefined ? causes.slice(0, -1) : causes;
}

/** What stays at the end of the conversation, in words. */
function sparedBy({ range, turnCount }: CompactionRequest): string {
  const { keep, keepLast = DEFAULT_KEEP_LAST } = range;
  const newest = (count: number): string => (count === 1 ? "the newest turn" : `the newest ${count} turns`);
  if (keep !== undefined) return newest(keep);
  return turnCount <= keepLast ? `the newest ${KEEP_CALLS} tool calls` : newest(keepLast);
}

/** Says that nothing in a range is sent to a model, or that it is but may not be touched. */
export function nothingVisible({ from, to }: CutRange, { turnCount, turns }: CompactionRequest): Nothing {
  const last = turns.get(turnCount - 1)?.events ?? [];
  if (to < turnCount - 1 || unfinishedLoop(last) === null)
    return { nothing: `nothing of ${formatTurns(from, to)} is sent to a model` };
  return {
    nothing: `turn ${turnCount - 1} is not finished, so it is neither left out nor summarised`,
    hints: ["`jpg compact --keep 0` shortens its answered calls."],
  };
}

/** Says that policies would leave a range as it is. */
export function nothingChanged(range: EventRange, request: CompactionRequest, steps: readonly StepReport[]): Nothing {
  const { strategies, profile } = request;
  const conditions = strategies?.uses.filter(({ isWanted }) => isWanted !== undefined) ?? [];
  if (strategies !== undefined && conditions.length > 0 && steps.length === 0) {
    return {
      nothing: `the view has about ${formatTokens(strategies.viewTokens ?? 0)} tokens, which is already within the target`,
      hints: ["`--target SIZE` asks for less: 20k, or 0.1 of the model's window."],
    };
  }
  const named = strategies?.names ?? strategies?.uses.map(({ strategy }) => strategy.name);
  const what = named?.join(", ") ?? (profile === undefined ? "these policies" : `profile ${profile}`);
  return {
    nothing: `${formatTurns(range.from, range.to)} hold nothing that ${what} would change`,
    hints: ["`jpg compact --profile heavy` replaces them with a summary."],
  };
}

function formatTurns(from: number, to: number): string {
  return `turns ${from}..${to}`;
}

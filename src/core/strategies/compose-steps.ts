// Composes what several strategies say into one: per call and half the strongest step wins, and every step is told what it
// added to those before it.
import type { CallPolicy, StubStyle } from "../compaction/compaction.ts";
import { USUAL_WINDOW } from "../model/context-window.ts";
import { compareStrength, type MaybeDecision, strongest } from "./call-strength.ts";
import { add, NOTHING_SHOWN, type Shown, type Spoken, takenBy, takenFromCall } from "./step-effect.ts";
import type { CallDecision, HalfState, StrategyContext, StrategyStep, StrategyUse, ViewedCall } from "./strategy.ts";

/** What one step added to those before it; tokens are an estimate of the view. */
export interface StepReport {
  readonly strategy: string;
  readonly events_removed: number;
  readonly estimated_tokens_saved: number;
}

/** What strategies say together. */
export interface ComposedSteps extends Omit<StrategyStep, "calls"> {
  /** Decisions that take more than what is in force, by id of the request event. */
  readonly decisions: ReadonlyMap<string, CallDecision>;
  /** Of the steps that were taken, in order. */
  readonly steps: readonly StepReport[];
}

/** What composing needs beside the context. */
export interface ComposeOptions {
  /** How the stubs of the planned compaction are written. */
  readonly stubs?: StubStyle;
  /** Tokens of the whole view before, estimated, for steps under a condition; default 0. */
  readonly viewTokens?: number;
  /** Tokens for each token of the plain estimate; default 1. */
  readonly tokenFactor?: number;
  /** Context window of the model, tokens; default the usual one. */
  readonly windowTokens?: number;
}

/** Asks strategies in order and composes their answers. */
export function composeSteps(
  uses: readonly StrategyUse[],
  context: StrategyContext,
  { stubs, viewTokens = 0, tokenFactor = 1, windowTokens = USUAL_WINDOW }: ComposeOptions = {},
): ComposedSteps {
  const byId = new Map(context.calls.map((call) => [call.request.id, call]));
  const decisions = new Map<string, CallDecision>();
  const steps: StepReport[] = [];
  let policies: Omit<StrategyStep, "calls"> = {};
  let tokens = viewTokens;
  for (const { strategy, options, isWanted } of uses) {
    if (isWanted !== undefined && !isWanted({ viewTokens: tokens, windowTokens })) continue;
    const { calls, ...rest } = strategy.decide(context, options);
    const added = withoutRepeats(rest, policies);
    let taken = takenBy(added, context);
    if (policies.prune === undefined) taken = add(taken, { events: 0, tokens: tokensOfTools(rest.prune, context) });
    for (const [id, decision] of calls ?? []) {
      const call = byId.get(id);
      if (call !== undefined) taken = add(taken, decideCall(call, decision, decisions, stubs));
    }
    policies = { ...policies, ...rest };
    tokens -= taken.tokens * tokenFactor;
    steps.push({
      strategy: strategy.name,
      events_removed: taken.events,
      estimated_tokens_saved: Math.round(taken.tokens * tokenFactor),
    });
  }
  return { ...policies, decisions, steps };
}

/** What the definitions of tools come to, a plain estimate. */
export function tokensOfTools(
  names: readonly string[] | undefined,
  { toolTokens }: Pick<StrategyContext, "toolTokens">,
): number {
  return (names ?? []).reduce((sum, name) => sum + (toolTokens.get(name) ?? 0), 0);
}

/** Takes a decision in; gives what it took out of the view. */
function decideCall(
  call: ViewedCall,
  decision: CallDecision,
  decisions: Map<string, CallDecision>,
  stubs: StubStyle | undefined,
): Shown {
  const before = decisions.get(call.request.id) ?? {};
  const after = strongest(before, strengthening(decision, call));
  if (after.request === before.request && after.response === before.response) return NOTHING_SHOWN;
  decisions.set(call.request.id, after);
  return takenFromCall(call, before, after, stubs);
}

/** What of a decision takes more than what is in force, of the halves it may speak of. */
function strengthening({ request, response }: CallDecision, call: ViewedCall): MaybeDecision {
  return { request: heavier(request, call.requestState), response: heavier(response, call.responseState) };
}

function heavier(policy: CallPolicy | undefined, state: HalfState | null): CallPolicy | undefined {
  return state?.isOpen === true && compareStrength(policy, state.now) > 0 ? policy : undefined;
}

/** What an earlier step has said already takes nothing more. */
function withoutRepeats(step: StrategyStep, earlier: StrategyStep): Spoken {
  return {
    reasoning: earlier.reasoning === undefined ? step.reasoning : undefined,
    attachments: earlier.attachments === undefined ? step.attachments : undefined,
    turns: earlier.turns === undefined ? step.turns : undefined,
  };
}

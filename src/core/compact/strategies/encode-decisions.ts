// Encodes decisions about calls as the shortest tool policy with the same effect: one for all calls with hints for the exceptions, else one
// that names calls. It must not change a call nobody decided about.
import type {
  CallPolicy,
  StripPolicies,
  StubStyle,
  ToolCallPolicy,
  ToolHint,
  UniformToolCallPolicy,
} from "../../conversation/compaction.ts";
import { contentPolicies } from "../../conversation/contents/content-types.ts";
import type { CallHalf } from "../../conversation/contents/tool-calls.ts";
import type { Event } from "../../conversation/event.ts";
import { USUAL_WINDOW } from "../../model/token-meter.ts";
import {
  add,
  NOTHING_SHOWN,
  type NonCallPolicies,
  removedByPolicies,
  removedFromCall,
  type Shown,
} from "./step-effect.ts";
import type {
  CallDecision,
  CallDecisions,
  HalfState,
  StrategyContext,
  StrategyStep,
  StrategyUse,
  ViewedCall,
} from "./strategy.ts";

/** The fields of a compaction that concern calls. */
interface EncodedDecisions {
  readonly tool_calls?: ToolCallPolicy;
  readonly tool_overrides?: Readonly<Record<string, ToolHint>>;
}

/** Encodes decisions; empty when there are none. `stubs` = style of the planned compaction's stubs. */
export function encodeDecisions(
  decisions: CallDecisions,
  context: StrategyContext,
  stubs?: StubStyle,
): EncodedDecisions {
  if (decisions.size === 0) return {};
  const named = context.calls.filter(({ request }) => decisions.has(request.id));
  let best: EncodedDecisions | null = null;
  let fewest = named.length;
  // A policy for all calls would change results without a call, which no strategy decides about.
  for (const base of context.hasOrphans ? [] : listBases(decisions)) {
    const overrides = overridesOf(base, context);
    const exceptions = context.calls.filter((call) => !fits(call, base, overrides));
    if (exceptions.length >= fewest) continue;
    fewest = exceptions.length;
    const calls = exceptions.map((call) => nameCall(call));
    best = {
      tool_calls: calls.length === 0 ? base : { policy: "selective", calls, else: base },
      ...(Object.keys(overrides).length === 0 ? {} : { tool_overrides: overrides }),
    };
  }
  return best ?? { tool_calls: { policy: "selective", calls: named.map((call) => nameCall(call)) } };

  function nameCall({ request }: ViewedCall): { readonly event: string } & CallDecision {
    return { event: request.id, ...decisions.get(request.id) };
  }

  function fits(call: ViewedCall, base: UniformToolCallPolicy, overrides: Overrides): boolean {
    const { request, response } = decisions.get(call.request.id) ?? {};
    const hint = Object.hasOwn(overrides, call.request.name) ? overrides[call.request.name] : undefined;
    return (
      isMet(call.requestState, request, policyOf(base, "request", hint), stubs) &&
      (call.responseState === null || isMet(call.responseState, response, policyOf(base, "response", hint), stubs))
    );
  }
}

type Overrides = Readonly<Record<string, ToolHint>>;

/** Whether a half reads under the policy as decided, or as it does now if nothing was decided. */
function isMet(
  { isCovered, now, stubs: oldStyle }: HalfState,
  decided: CallPolicy | undefined,
  policy: CallPolicy,
  style: StubStyle | undefined,
): boolean {
  if (!isCovered || now === "hide") return true;
  if (!isSamePolicy(decided ?? now, policy)) return false;
  return decided !== undefined || policy !== "strip" || isSameStyle(oldStyle, style);
}

function isSameStyle(a: StubStyle = {}, b: StubStyle = {}): boolean {
  return a.first_line === b.first_line && a.pointers === b.pointers && a.heads === b.heads && a.text === b.text;
}

/** The policies for all calls that agree with some decision, each once. */
function listBases(decisions: CallDecisions): readonly UniformToolCallPolicy[] {
  const bases = new Map<unknown, UniformToolCallPolicy>();
  for (const { request, response } of decisions.values()) {
    const base = baseOf(request, response);
    if (base !== null) bases.set(base.policy === "truncate" ? JSON.stringify(base) : base, base);
    if (bases.size >= MOST_BASES) break;
  }
  return [...bases.values()];
}

/** Most policies tried: there are four, and one for each limit of truncation. */
const MOST_BASES = 8;

function baseOf(request: CallPolicy | undefined, response: CallPolicy | undefined): UniformToolCallPolicy | null {
  if (request === "omit" || response === "omit") return OMIT_ALL;
  if (typeof response === "object") return "truncate" in response ? { policy: "truncate", ...response.truncate } : null;
  if (request !== "strip" && response !== "strip") return null;
  return (
    STRIPS.find((base) => base.request === (request === "strip") && base.response === (response === "strip")) ?? null
  );
}

const OMIT_ALL: UniformToolCallPolicy = { policy: "omit" };
const STRIPS = [
  { policy: "strip", request: true, response: true },
  { policy: "strip", request: true, response: false },
  { policy: "strip", request: false, response: true },
] as const satisfies readonly UniformToolCallPolicy[];

/** The hints that keep what the policy would take, frozen by the names of the tools called in the range. */
function overridesOf(base: UniformToolCallPolicy, { calls, hintFor }: StrategyContext): Overrides {
  if (base.policy === "omit") return {};
  const covered = calls.filter(({ requestState, responseState }) => requestState.isCovered || responseState?.isCovered);
  const names = [...new Set(covered.map(({ request }) => request.name))].sort();
  const found = names.flatMap((name): [string, ToolHint][] => {
    const { request, response } = hintFor(name);
    const asks = base.policy === "strip" && base.request && request === "keep";
    const answers = (base.policy === "truncate" || base.response) && response === "keep";
    if (!asks && !answers) return [];
    return [[name, { ...(asks ? { request: "keep" } : {}), ...(answers ? { response: "keep" } : {}) }]];
  });
  return Object.fromEntries(found);
}

function policyOf(base: UniformToolCallPolicy, half: CallHalf, hint: ToolHint | undefined): CallPolicy {
  if (base.policy === "omit") return "omit";
  const kept = hint?.[half];
  if (kept !== undefined) return kept;
  if (base.policy === "strip") return base[half] ? "strip" : "keep";
  return half === "request" ? "keep" : { truncate: base };
}

// How much a policy takes of one half of a call: omit > strip > drop > truncate > nothing. Of two of one kind the one that leaves fewer
// characters is stronger.

/** A decision in the making; undefined = no opinion. */
type MaybeDecision = { readonly [Half in keyof CallDecision]: CallDecision[Half] | undefined };

type EffectivePolicy = CallPolicy | "hide" | undefined;

/** Compares two policies on the same half; above 0 when `a` takes more. */
export function compareStrength(a: EffectivePolicy, b: EffectivePolicy): number {
  return rankOf(a) - rankOf(b) || limitOf(b) - limitOf(a);
}

/** Whether two policies have the same effect on a half; `keep` equals nothing. */
export function isSamePolicy(a: EffectivePolicy, b: EffectivePolicy): boolean {
  return rankOf(a) === rankOf(b) && limitOf(a) === limitOf(b) && headOf(a) === headOf(b);
}

/** Whether nothing of a half is shown. */
export function isGone({ now }: Pick<HalfState, "now">): boolean {
  return now === "hide" || now === "omit";
}

/** Returns the stronger of two decisions, half by half. If one half is omitted, the whole call is. */
export function strongest(a: MaybeDecision, b: MaybeDecision): CallDecision {
  const request = strongerOf(a.request, b.request);
  const response = strongerOf(a.response, b.response);
  if (request === "omit" || response === "omit") return OMIT;
  return { request, response };
}

/** The decision to leave a call out. */
export const OMIT: CallDecision = { request: "omit", response: "omit" };

function strongerOf(a: CallPolicy | undefined, b: CallPolicy | undefined): CallPolicy | undefined {
  return compareStrength(b, a) > 0 ? b : a;
}

function rankOf(policy: EffectivePolicy): number {
  if (policy === undefined || policy === "keep") return 0;
  if (policy === "strip") return 3;
  if (policy === "omit") return 4;
  if (policy === "hide") return 5;
  return "drop" in policy ? 2 : 1;
}

/** Characters left of each text; 0 for policies without a limit. */
function limitOf(policy: EffectivePolicy): number {
  if (typeof policy !== "object") return 0;
  return "drop" in policy ? policy.drop.max_chars : policy.truncate.max_chars;
}

function headOf(policy: EffectivePolicy): number | undefined {
  return typeof policy === "object" && "truncate" in policy ? policy.truncate.head : undefined;
}

/** What one step added to those before it; tokens are an estimate of the view. */
export interface StepReport {
  readonly strategy: string;
  readonly events_removed: number;
  readonly estimated_tokens_saved: number;
}

/** The combined result of strategies. */
interface ComposedSteps extends Omit<StrategyStep, "calls"> {
  /** Decisions that take more than what is in force, by id of the request event. */
  readonly decisions: ReadonlyMap<string, CallDecision>;
  /** Of the steps that were taken, in order. */
  readonly steps: readonly StepReport[];
}

export interface ComposeOptions {
  /** How the stubs of the planned compaction are written. */
  readonly stubs?: StubStyle;
  /** Tokens of the whole view before, estimated, for conditional steps; default 0. */
  readonly viewTokens?: number;
  /** Tokens per token of the plain estimate; default 1. */
  readonly tokenFactor?: number;
  /** Context window of the model, tokens; default the usual one. */
  readonly windowTokens?: number;
}

/** Asks strategies in order and combines their answers. */
export function composeSteps(
  uses: readonly StrategyUse[],
  context: StrategyContext,
  { stubs, viewTokens = 0, tokenFactor = 1, windowTokens = USUAL_WINDOW }: ComposeOptions = {},
): ComposedSteps {
  const byId = new Map(context.calls.map((call) => [call.request.id, call]));
  const byResult = new Map(context.calls.map((call) => [call.response?.id, call]));
  const decisions = new Map<string, CallDecision>();
  const steps: StepReport[] = [];
  let policies: Omit<StrategyStep, "calls"> = {};
  let tokens = viewTokens;
  for (const { strategy, options, isWanted } of uses) {
    if (isWanted !== undefined && !isWanted({ viewTokens: tokens, windowTokens })) continue;
    const { calls, ...rest } = strategy.decide(context, options);
    const added = withoutRepeats(rest, policies);
    const decidedOf = ({ id }: Event): CallPolicy | undefined => {
      const call = byResult.get(id);
      return decisions.get(call?.request.id ?? "")?.response;
    };
    let taken = removedByPolicies(added, context, { earlier: policies, decidedOf, stubs });
    if (policies.prune === undefined) taken = add(taken, { events: 0, tokens: tokensOfTools(rest.prune, context) });
    policies = { ...policies, ...rest };
    for (const [id, decision] of calls ?? []) {
      const call = byId.get(id);
      if (call !== undefined) taken = add(taken, decideCall(call, decision, decisions, { stubs, spoken: policies }));
    }
    tokens -= taken.tokens * tokenFactor;
    steps.push({
      strategy: strategy.name,
      events_removed: taken.events,
      estimated_tokens_saved: Math.round(taken.tokens * tokenFactor),
    });
  }
  return { ...policies, decisions, steps };
}

/** Tokens of tool definitions, a plain estimate. */
export function tokensOfTools(
  names: readonly string[] | undefined,
  { toolTokens }: Pick<StrategyContext, "toolTokens">,
): number {
  return (names ?? []).reduce((sum, name) => sum + (toolTokens.get(name) ?? 0), 0);
}

/** Adds a decision; returns what it took out of the view. */
function decideCall(
  call: ViewedCall,
  decision: CallDecision,
  decisions: Map<string, CallDecision>,
  how: { readonly stubs: StubStyle | undefined; readonly spoken: NonCallPolicies },
): Shown {
  const before = decisions.get(call.request.id) ?? {};
  const after = strongest(before, strongerHalves(decision, call));
  if (after.request === before.request && after.response === before.response) return NOTHING_SHOWN;
  decisions.set(call.request.id, after);
  return removedFromCall(call, before, after, how);
}

/** The halves of a decision that may be changed and take more than what is in force. */
function strongerHalves({ request, response }: CallDecision, call: ViewedCall): MaybeDecision {
  return { request: ifStronger(request, call.requestState), response: ifStronger(response, call.responseState) };
}

function ifStronger(policy: CallPolicy | undefined, state: HalfState | null): CallPolicy | undefined {
  return state?.isOpen === true && compareStrength(policy, state.now) > 0 ? policy : undefined;
}

/** What an earlier step has already decided takes nothing more. */
function withoutRepeats(step: StrategyStep, earlier: StrategyStep): NonCallPolicies {
  const { turns } = earlier.turns === undefined ? step : {};
  const { tool_calls: _, tools: __, ...said } = contentPolicies(step);
  const added = Object.entries(said).filter(([content]) => earlier[content as keyof StripPolicies] === undefined);
  return { ...Object.fromEntries(added), turns };
}

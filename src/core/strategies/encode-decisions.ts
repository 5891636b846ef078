// Writes decisions about calls as the shortest tool policy that means the same: one for all calls with the hints that
// explain the exceptions, else one that names calls. What it must not do is change a call nobody decided about.
import type {
  CallPolicy,
  StubStyle,
  ToolCallPolicy,
  ToolHint,
  UniformToolCallPolicy,
} from "../compaction/compaction.ts";
import type { CallHalf } from "../projection/tool-policy.ts";
import { isSamePolicy } from "./call-strength.ts";
import type { CallDecision, CallDecisions, HalfState, StrategyContext, ViewedCall } from "./strategy.ts";

/** The fields of a compaction that speak of calls. */
export interface EncodedDecisions {
  readonly tool_calls?: ToolCallPolicy;
  readonly tool_overrides?: Readonly<Record<string, ToolHint>>;
}

/** Encodes decisions; nothing when there are none. `stubs` = style of the planned compaction's stubs. */
export function encodeDecisions(
  decisions: CallDecisions,
  context: StrategyContext,
  stubs?: StubStyle,
): EncodedDecisions {
  if (decisions.size === 0) return {};
  const named = context.calls.filter(({ request }) => decisions.has(request.id));
  let best: EncodedDecisions | null = null;
  let fewest = named.length;
  // A policy for all calls would change results without a call, of which no strategy speaks.
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

/** Whether a half reads under the policy as it was decided, or as it does now when nothing was. */
function isMet(
  { isCovered, now, stubs: oldStyle }: HalfState,
  decided: CallPolicy | undefined,
  policy: CallPolicy,
  style: StubStyle | undefined,
): boolean {
  if (!isCovered || now === "hide") return true;
  if (!isSamePolicy(decided ?? now, policy)) return false;
  // Whether a stub shows a head hangs on the other half, too: one that nothing was decided about is left alone.
  return decided !== undefined || policy !== "strip" || (style?.heads !== true && isSameStyle(oldStyle, style));
}

function isSameStyle(a: StubStyle = {}, b: StubStyle = {}): boolean {
  return a.first_line === b.first_line && a.pointers === b.pointers && a.heads === b.heads;
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

/** Policies tried at most: there are four, and one for each limit of truncation. */
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

/** The hints that keep what the policy would take, frozen by the names of the tools that are called in the range. */
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

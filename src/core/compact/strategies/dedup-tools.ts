// The strategy dedup-tools: of calls with the same tool and equal arguments, or of which the later contains the earlier, only the newest
// stays. Near-linear: calls are looked up by their arguments as one text.
import { canonicalJson } from "../../json.ts";
import { isPlaceholder } from "../shown-lines.ts";
import { canOmit, decideEach } from "./call-conditions.ts";
import { compareStrength, isGone, OMIT } from "./encode-decisions.ts";
import type { Strategy, StrategyContext, ViewedCall } from "./strategy.ts";

/** `dedup-tools`: leaves out calls that a later call repeats. */
export const dedupTools: Strategy = {
  name: "dedup-tools",
  summary: "leave out calls that a later call repeats",
  omitsCalls: true,
  usesSubsumption: true,
  decide: (context) => {
    const repeated = findRepeated(context);
    return { calls: decideEach(context.calls, (call) => (repeated.has(call) && canOmit(call) ? OMIT : {})) };
  },
};

/** The calls whose content a later one shows. */
function findRepeated({ calls, subsumed, hintFor }: StrategyContext): ReadonlySet<ViewedCall> {
  const repeated = new Set<ViewedCall>();
  const later = new Map<string, ViewedCall[]>();
  const byId = new Map<string, ViewedCall>();
  for (const call of calls.toReversed()) {
    const { name, arguments: args, id } = call.request;
    if (hintFor(name).dedup === false) continue;
    const key = `${name}\n${canonicalJson(args)}`;
    const containing = byId.get(subsumed.get(id) ?? "");
    const same = later.get(key) ?? [];
    const isRepeated = same.some((newer) => replaces(newer, call));
    if (isRepeated || (containing !== undefined && replaces(containing, call))) repeated.add(call);
    // A call that replaces none, or no more than those after it, is not compared again.
    if (!isRepeated && isAnswered(call)) later.set(key, [...same, call]);
    byId.set(id, call);
  }
  return repeated;
}

/** Whether a later call shows at least as much: it is answered, is no failure in place of a success, and is not shortened further. */
function replaces(newer: ViewedCall, older: ViewedCall): boolean {
  if (!isAnswered(newer)) return false;
  if (older.response === null) return true;
  if (newer.response !== null && isPlaceholder(newer.response) && !isPlaceholder(older.response)) return false;
  if (newer.response?.is_error === true && !older.response.is_error) return false;
  return compareStrength(newer.responseState?.now, older.responseState?.now) <= 0;
}

function isAnswered({ requestState, responseState }: ViewedCall): boolean {
  return responseState !== null && !isGone(requestState) && !isGone(responseState);
}

// Puts into words what becomes of the calls that a selective policy names, counted by kind.
import type { CallPolicy, SelectedCall } from "./compaction.ts";

/** Describes named calls, e.g. `4 calls omitted`, `1 result stripped`; kinds that do not occur are left out. */
export function describeNamedCalls(calls: readonly SelectedCall[]): readonly string[] {
  return NAMED_KINDS.flatMap(([one, many, has]) => {
    const count = calls.filter((call) => has(call)).length;
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
}

/** What can become of a named call: words for one and for many, and whether it is so. */
const NAMED_KINDS: readonly (readonly [string, string, (call: SelectedCall) => boolean])[] = [
  ["call omitted", "calls omitted", isOmitted],
  [
    "call stripped",
    "calls stripped",
    (call) => !isOmitted(call) && call.request === "strip" && call.response === "strip",
  ],
  [
    "result stripped",
    "results stripped",
    ({ request, response }) => response === "strip" && !isGoneOr(request, "strip"),
  ],
  ["result truncated", "results truncated", (call) => !isOmitted(call) && isTruncation(call.response)],
  [
    "call's arguments stripped",
    "calls' arguments stripped",
    ({ request, response }) => request === "strip" && !isGoneOr(response, "strip"),
  ],
  [
    "call's arguments shortened",
    "calls' arguments shortened",
    (call) => !isOmitted(call) && typeof call.request === "object",
  ],
];

function isOmitted({ request, response }: SelectedCall): boolean {
  return request === "omit" || response === "omit";
}

function isGoneOr(policy: CallPolicy | undefined, other: CallPolicy): boolean {
  return policy === "omit" || policy === other;
}

function isTruncation(policy: CallPolicy | undefined): boolean {
  return typeof policy === "object" && "truncate" in policy;
}

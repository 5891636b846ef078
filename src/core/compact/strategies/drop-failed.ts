// The strategy drop-failed: a call that failed and was repeated with success says nothing that the success does not.
import { canonicalJson } from "../../json.ts";
import { callFacts, fileKey } from "../tool-call.ts";
import { canOmit, decideEach, hasSucceeded } from "./call-conditions.ts";
import { OMIT } from "./encode-decisions.ts";
import type { Strategy, ViewedCall } from "./strategy.ts";

/** `drop-failed`: leaves out failed calls whose tool succeeded later on the same file or with the same arguments. */
export const dropFailed: Strategy = {
  name: "drop-failed",
  summary: "leave out failed calls that were repeated with success",
  omitsCalls: true,
  decide: ({ calls }) => {
    const obsolete = findObsolete(calls);
    return { calls: decideEach(calls, (call) => (obsolete.has(call) && canOmit(call) ? OMIT : {})) };
  },
};

function findObsolete(calls: readonly ViewedCall[]): ReadonlySet<ViewedCall> {
  const obsolete = new Set<ViewedCall>();
  const succeeded = new Set<string>();
  for (const call of calls.toReversed()) {
    if (call.response?.is_error === true && keysOf(call).some((key) => succeeded.has(key))) obsolete.add(call);
    else if (hasSucceeded(call)) for (const key of keysOf(call)) succeeded.add(key);
  }
  return obsolete;
}

/** What a repetition shares with the call: its tool and its file, or its arguments. */
function keysOf({ request }: ViewedCall): readonly string[] {
  const file = fileKey(callFacts(request));
  return [
    `${request.name}\n${canonicalJson(request.arguments)}`,
    ...(file === undefined ? [] : [`${request.name}\n\n${file}`]),
  ];
}

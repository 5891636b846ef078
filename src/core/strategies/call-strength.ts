// How much a policy takes of one half of a call: omit > strip > drop > truncate > nothing. Of two that are alike, the one
// that leaves fewer characters is the stronger.
import type { CallPolicy } from "../compaction/compaction.ts";
import { defined } from "../defined.ts";
import type { CallDecision, HalfState } from "./strategy.ts";

/** A decision in the making; undefined = no opinion. */
export type MaybeDecision = { readonly [Half in keyof CallDecision]: CallDecision[Half] | undefined };

type Standing = CallPolicy | "hide" | undefined;

/** Compares two policies on the same half; above 0 when `a` takes more. */
export function compareStrength(a: Standing, b: Standing): number {
  return rankOf(a) - rankOf(b) || limitOf(b) - limitOf(a);
}

/** Whether two policies make the same of a half; `keep` is the same as nothing. */
export function isSamePolicy(a: Standing, b: Standing): boolean {
  return rankOf(a) === rankOf(b) && limitOf(a) === limitOf(b) && headOf(a) === headOf(b);
}

/** Whether nothing of a half is shown. */
export function isGone({ now }: Pick<HalfState, "now">): boolean {
  return now === "hide" || now === "omit";
}

/** Gives the stronger of two decisions, half by half. A call of which one half is omitted is omitted whole. */
export function strongest(a: MaybeDecision, b: MaybeDecision): CallDecision {
  const request = strongerOf(a.request, b.request);
  const response = strongerOf(a.response, b.response);
  if (request === "omit" || response === "omit") return OMIT;
  return { ...defined({ request, response }) };
}

/** The decision to leave a call out. */
export const OMIT: CallDecision = { request: "omit", response: "omit" };

function strongerOf(a: CallPolicy | undefined, b: CallPolicy | undefined): CallPolicy | undefined {
  return compareStrength(b, a) > 0 ? b : a;
}

function rankOf(policy: Standing): number {
  if (policy === undefined || policy === "keep") return 0;
  if (policy === "strip") return 3;
  if (policy === "omit") return 4;
  if (policy === "hide") return 5;
  return "drop" in policy ? 2 : 1;
}

/** Characters left of each text; 0 where the policy does not count them. */
function limitOf(policy: Standing): number {
  if (typeof policy !== "object") return 0;
  return "drop" in policy ? policy.drop.max_chars : policy.truncate.max_chars;
}

function headOf(policy: Standing): number | undefined {
  return typeof policy === "object" && "truncate" in policy ? policy.truncate.head : undefined;
}

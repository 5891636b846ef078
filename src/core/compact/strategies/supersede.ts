// The strategy supersede: shows a file's content only once. A read is stripped when the whole file is read or written later; written text
// is left out of a call's arguments when the whole file is read later.
import { shownLines } from "../shown-lines.ts";
import { callFacts, fileKey, isWriting } from "../tool-call.ts";
import { decideEach, dropBodies, forResponse, isWhollyShown } from "./call-conditions.ts";
import type { CallDecision, Strategy, StrategyContext, ViewedCall } from "./strategy.ts";

/** Longest written text that stays, characters: names, flags and paths are shorter, contents rarely are. */
export const BODY_CHARS = 200;

/** `supersede`: takes out a file's content when the whole of it is shown later. */
export const supersede: Strategy = {
  name: "supersede",
  summary: "leave out file contents that a later read or write of the whole file replaces",
  takes: ["maxChars"],
  decide: (context, { maxChars = BODY_CHARS }) => {
    const later = findLater(context.calls);
    return { calls: decideEach(context.calls, (call) => decide(call, later.get(call) ?? NEVER, context, maxChars)) };
  },
};

/** Which whole versions of a call's file the view shows after it. */
interface Later {
  readonly read: boolean;
  readonly written: boolean;
}

const NEVER: Later = { read: false, written: false };

/** What follows each call that names a file. */
function findLater(calls: readonly ViewedCall[]): ReadonlyMap<ViewedCall, Later> {
  const found = new Map<ViewedCall, Later>();
  const files = new Map<string, Later>();
  const keys = calls.map(({ request }) => fileKey(callFacts(request)));
  const firsts = new Map<string | undefined, number>();
  for (const [at, file] of keys.entries()) if (!firsts.has(file)) firsts.set(file, at);
  for (let at = calls.length - 1; at >= 0; at--) {
    const [call, file] = [calls[at], keys[at]];
    if (call === undefined || file === undefined) continue;
    const later = files.get(file) ?? NEVER;
    found.set(call, later);
    // What precedes the first call of a file does not matter.
    if (firsts.get(file) !== at && isWhollyShown(call)) files.set(file, withCall(later, call));
  }
  return found;
}

function withCall({ read, written }: Later, call: ViewedCall): Later {
  const { kind, isWhole } = callFacts(call.request);
  return { read: read || showsWholeFile(call), written: written || (kind === "write" && isWhole) };
}

function decide(
  call: ViewedCall,
  { read, written }: Later,
  { hintFor }: StrategyContext,
  maxChars: number,
): CallDecision {
  const facts = callFacts(call.request);
  const hint = hintFor(call.request.name);
  if (facts.kind === "read" && (read || written) && isWorthStripping(call) && hint.response !== "keep")
    return forResponse(call, "strip");
  if (isWriting(facts.kind) && read && hint.request !== "keep") return dropBodies(call, maxChars, facts.path);
  return {};
}

/** A failed read says in a line what a stub would not. */
function isWorthStripping({ response }: ViewedCall): boolean {
  return response?.is_error === false;
}

/** Readers stop at their own limits: the result says what was shown. */
function showsWholeFile(call: ViewedCall): boolean {
  const lines = shownLines(call);
  return lines !== null && lines.first <= 1 && lines.last === Number.POSITIVE_INFINITY;
}

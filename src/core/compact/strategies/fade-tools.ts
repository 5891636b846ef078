// The strategy fade-tools: calls fade with age. The newest stay whole. Before them stay: what a file contained when it was last read, the
// last change of each file, and the ends of other output. Older ones are left out, except the last that names a changed file. A result that
// a hint keeps stays at any age.
import { isPlaceholder } from "../shown-lines.ts";
import { type CallFacts, callFacts, fileKey, isWriting } from "../tool-call.ts";
import type { ToolCompactionHint } from "../tool-hints.ts";
import {
  type CallAge,
  canOmit,
  changedPaths,
  decideEach,
  dropBodies,
  findAges,
  forResponse,
  isWhollyShown,
  keepPaths,
} from "./call-conditions.ts";
import { isGone, OMIT } from "./encode-decisions.ts";
import { RESULT_CHARS } from "./shorten-results.ts";
import type { CallDecision, Strategy, ViewedCall } from "./strategy.ts";
import { BODY_CHARS } from "./supersede.ts";

/** Newest tokens that stay whole, and as many before them that are only shortened; chosen in hindsight (docs/COMPACTION.md). */
const WHOLE_TOKENS = 18_000;
/** The same as a share of a small window. */
const WHOLE_SHARE = 0.1;
/** Characters left of output that shows no file: its start and end. */
const OUTPUT_CHARS = 300;

/** `fade-tools`: shortens older calls and leaves the oldest out. */
export const fadeTools: Strategy = {
  name: "fade-tools",
  summary: "shorten older calls, and leave the oldest out",
  omitsCalls: true,
  decide: (context) => {
    const ages = findAges(context, Math.min(WHOLE_TOKENS, Math.round(WHOLE_SHARE * context.windowTokens)));
    const later = findLater(context.calls);
    return {
      calls: decideEach(context.calls, (call) => {
        const age = ages(call);
        return age === "new" ? {} : fade(call, age, later.get(call) ?? NEVER, context.hintFor(call.request.name));
      }),
    };
  },
};

/** What later calls do with the file of a call. */
interface Later {
  readonly isRead: boolean;
  readonly isChanged: boolean;
  /** Whether they name every file that this one changes. */
  readonly areNamed: boolean;
}

const NEVER: Later = { isRead: false, isChanged: false, areNamed: false };

function findLater(calls: readonly ViewedCall[]): ReadonlyMap<ViewedCall, Later> {
  const found = new Map<ViewedCall, Later>();
  const [read, changed, named] = [new Set<string | undefined>(), new Set<string | undefined>(), new Set<string>()];
  for (const call of calls.toReversed()) {
    const facts = callFacts(call.request);
    const file = fileKey(facts);
    const paths = changedPaths(facts);
    found.set(call, {
      isRead: file !== undefined && read.has(file),
      isChanged: file !== undefined && changed.has(file),
      areNamed: paths.every((path) => named.has(path)),
    });
    if (!isGone(call.requestState)) for (const path of paths) named.add(path);
    if (!isWhollyShown(call) || call.response === null || isPlaceholder(call.response)) continue;
    if (isWriting(facts.kind)) changed.add(file);
    if (facts.kind === "read") read.add(file);
  }
  return found;
}

function fade(call: ViewedCall, age: Exclude<CallAge, "new">, later: Later, hint: ToolCompactionHint): CallDecision {
  const facts = callFacts(call.request);
  const isChange = isWriting(facts.kind);
  const isOutdated = isChange ? later.isRead || later.isChanged : facts.kind === "read" && later.isRead;
  const isPast = age === "old" || isOutdated;
  const isKept = hint.response === "keep" || (isChange && !later.areNamed);
  if (canOmit(call) && (hint.response === "remove" || (isPast && !isKept))) return OMIT;
  return { ...fadeRequest(call, facts, hint, isChange && !isPast), ...fadeResponse(call, facts, hint, isPast) };
}

function fadeRequest(
  call: ViewedCall,
  facts: CallFacts,
  hint: ToolCompactionHint,
  isLastChange: boolean,
): CallDecision {
  if (hint.request === "keep" || isLastChange) return {};
  return isWriting(facts.kind) ? keepPaths(call, changedPaths(facts)) : dropBodies(call, BODY_CHARS, facts.path);
}

function fadeResponse(call: ViewedCall, { kind }: CallFacts, hint: ToolCompactionHint, isPast: boolean): CallDecision {
  if (hint.response === "keep") return {};
  if (isPast || hint.response === "strip") return forResponse(call, "strip");
  return forResponse(call, { truncate: { max_chars: kind === "read" ? RESULT_CHARS : OUTPUT_CHARS } });
}

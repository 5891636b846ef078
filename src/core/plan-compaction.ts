// Plans a compaction: from a range as a person wrote it and the policies of a profile to the compaction that would be
// stored, and what it would do. Pure; ids, times, digests and token counts are filled in by the caller.
import type { BoundFacts } from "./bound-position.ts";
import { isNothing, type Nothing, type RangeRequest, resolveBounds, turnsForBounds } from "./bound-resolution.ts";
import { type Compaction, compareCompactions, type Summary, type ToolHint } from "./compaction.ts";
import { effectOf } from "./plan-effect.ts";
import { listHiding, type PlanSegment, planTimeline } from "./plan-timeline.ts";
import type { Policies, SummaryPolicy } from "./policy.ts";
import { cutRangeOf, type EventRange, isInRange, locateRange } from "./range-location.ts";
import { extendEventRange, standsForTurns } from "./summary-extent.ts";
import { type CutRange, rangesIntersect, type TurnRange } from "./turn-range.ts";

/** Hints by tool name; `*` = every tool that is not named. */
export type ToolHints = Readonly<Record<string, ToolHint>>;

export interface CompactionRequest extends BoundFacts {
  readonly range: RangeRequest;
  readonly policies: Policies;
  /** The accepted text, when the policy is a summary and there is one already. */
  readonly summary?: Summary;
  readonly hints?: ToolHints;
  readonly profile?: string;
  readonly source?: NonNullable<Compaction["source"]>;
  readonly strategy?: readonly string[];
  /** Ids of events that stay unchanged; those outside the range are left out of the plan. */
  readonly keep?: readonly string[];
}

/** A compaction before the store has given it id, time and digest; `stats` has no tokens yet. */
export type CompactionDraft = Omit<Compaction, "id" | "timestamp" | "covers">;

export interface CompactionPlan {
  readonly compaction: CompactionDraft;
  /** How to make the summary when its text is not there yet; `compaction.summary` is absent then. */
  readonly summarize?: SummaryPolicy;
  /** The range before it was extended over summaries that it partly overlapped; absent when it was not. */
  readonly extendedFrom?: CutRange;
  /** The whole conversation as it would be read. */
  readonly segments: readonly PlanSegment[];
  /** Ids of the live summaries that hide all of a mechanical plan until they are reverted, oldest first; usually empty. */
  readonly hiddenBy: readonly string[];
}

/** Lists the turns (0-based, ascending) that planCompaction looks into: read them, then plan. */
export function planCompactionReading(request: Omit<CompactionRequest, "turns">): readonly number[] {
  const wanted = new Set(turnsForBounds(request.range, request));
  const range = resolveBounds(request.range, { ...request, turns: new Map() });
  if (!isNothing(range)) {
    const { from, to } = request.policies.summary === undefined ? range : unionWithSummaries(range, request);
    for (let turn = from; turn <= to; turn++) wanted.add(turn);
  }
  if (request.turnCount > 0) wanted.add(request.turnCount - 1);
  return [...wanted].sort((a, b) => a - b);
}

/**
 * Plans a compaction, or says why there is nothing to compact: nothing in the range, or nothing in it that would be read
 * differently. Throws the errors of a wrong request: `contradictory_flags`, `bad_keep`, `unknown_event`, `ambiguous_event`.
 */
export function planCompaction(request: CompactionRequest): CompactionPlan | Nothing {
  const resolved = resolveBounds(request.range, request);
  if (isNothing(resolved)) return resolved;
  const { policies, turnCount, turns, compactions } = request;
  const isSummary = policies.summary !== undefined;
  const touchesRequests = isSummary || policies.turns !== undefined || policies.attachments !== undefined;
  const located = locateRange(resolved, { turnCount, turns, touchesRequests });
  if (located === null)
    return { nothing: "nothing in the range may be compacted yet: the model is still working on it" };
  const range = isSummary ? extendEventRange(located, compactions, request) : located;
  const draft = createDraft(range, request);
  const trial = trialOf(draft, isSummary);
  const effect = effectOf(trial, range, request);
  if (!effect.changes)
    return { nothing: `turns ${range.from}..${range.to} hold nothing that these policies would change` };
  const stats = { original_message_count: effect.messages, events_removed: effect.removed };
  return {
    compaction: { ...draft, stats },
    ...(isSummary && request.summary === undefined ? { summarize: policies.summary } : {}),
    ...(isSameRange(range, located) ? {} : { extendedFrom: cutRangeOf(located, request) }),
    segments: planTimeline(trial, request),
    hiddenBy: isSummary || policies.turns !== undefined ? [] : listHiding(range, request),
  };
}

function createDraft(range: EventRange, request: CompactionRequest): CompactionDraft {
  const { policies, summary, profile, source = "manual", strategy } = request;
  const bounds = cutRangeOf(range, request);
  const keep = keptIn(range, request);
  const overrides = overridesFor(range, request);
  const basis = [...request.compactions].sort(compareCompactions).map(({ id }) => id);
  return {
    type: "compaction",
    from_turn: bounds.from,
    to_turn: bounds.to,
    ...(bounds.fromEvent === undefined ? {} : { from_event: bounds.fromEvent }),
    ...(bounds.toEvent === undefined ? {} : { to_event: bounds.toEvent }),
    ...(keep.length === 0 ? {} : { keep }),
    ...(policies.summary === undefined ? mechanicalOf(policies) : {}),
    ...(policies.summary === undefined || summary === undefined ? {} : { summary }),
    ...(overrides === null ? {} : { tool_overrides: overrides }),
    ...(basis.length === 0 ? {} : { basis }),
    ...(profile === undefined ? {} : { profile }),
    source,
    ...(strategy === undefined || strategy.length === 0 ? {} : { strategy }),
  };
}

/** The policies that count when there is no summary. */
function mechanicalOf({ reasoning, tool_calls, attachments, turns }: Policies): Partial<CompactionDraft> {
  return {
    ...(turns === undefined ? {} : { turns }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(tool_calls === undefined ? {} : { tool_calls }),
    ...(attachments === undefined ? {} : { attachments }),
  };
}

/** The draft as the newest compaction of all, with a stand-in for a summary that is not written yet. */
function trialOf(draft: CompactionDraft, isSummary: boolean): Compaction {
  const trial: Compaction = { ...draft, id: "\uffff", timestamp: "9999-12-31T23:59:59Z" };
  return isSummary && trial.summary === undefined ? { ...trial, summary: { summary: "" } } : trial;
}

function keptIn(range: EventRange, { keep = [], turns }: CompactionRequest): readonly string[] {
  if (keep.length === 0) return [];
  const inside = new Set<string>();
  for (const turn of turns.values()) {
    for (const [index, event] of turn.events.entries()) {
      if (isInRange(range, turn.index, index)) inside.add(event.id);
    }
  }
  return [...new Set(keep)].filter((id) => inside.has(id));
}

/** The hints of tools that occur in the range, by name in order; null when none has a say. Hints never change `omit`. */
function overridesFor(range: EventRange, { policies, hints = {}, turns }: CompactionRequest): ToolHints | null {
  const policy = policies.summary === undefined ? policies.tool_calls : undefined;
  if (policy === undefined || policy.policy === "omit") return null;
  const names = new Set<string>();
  for (const turn of turns.values()) {
    for (const [index, event] of turn.events.entries()) {
      if (event.type === "tool_call_request" && isInRange(range, turn.index, index))
        names.add(hintName(event.name, hints));
    }
  }
  const found = [...names].sort().flatMap((name): [string, ToolHint][] => {
    const hint = Object.hasOwn(hints, name) ? frozenHint(hints[name] ?? {}) : {};
    return Object.keys(hint).length === 0 ? [] : [[name, hint]];
  });
  return found.length === 0 ? null : Object.fromEntries(found);
}

/** The name under which a tool finds its hint. */
function hintName(tool: string, hints: ToolHints): string {
  return Object.hasOwn(hints, tool) ? tool : "*";
}

/** The two fields of a hint that projection knows, without what else a configuration says about the tool. */
function frozenHint({ request, response }: ToolHint): ToolHint {
  return { ...(request === undefined ? {} : { request }), ...(response === undefined ? {} : { response }) };
}

function unionWithSummaries(range: TurnRange, { compactions, turnCount }: Omit<CompactionRequest, "turns">): TurnRange {
  const summaries = compactions.filter((compaction) => standsForTurns(compaction));
  let { from, to } = range;
  for (let grown = true; grown; ) {
    const touching = summaries.filter(({ from_turn, to_turn }) =>
      rangesIntersect({ from, to }, { from: from_turn, to: to_turn }),
    );
    const next = {
      from: Math.min(from, ...touching.map(({ from_turn }) => from_turn)),
      to: Math.min(turnCount - 1, Math.max(to, ...touching.map(({ to_turn }) => to_turn))),
    };
    grown = next.from !== from || next.to !== to;
    ({ from, to } = next);
  }
  return { from, to };
}

function isSameRange(a: EventRange, b: EventRange): boolean {
  return a.from === b.from && a.fromIndex === b.fromIndex && a.to === b.to && a.toIndex === b.toIndex;
}

// The report of `compact`, which is also the document of `jpg compact --json`, and its timeline of turns that are kept or read
// differently. Turn positions are raw, 0-based, inclusive.
import type { Ungrounded } from "../../core/compact/grounding.ts";
import { type HiddenContent, hiddenContent } from "../../core/compact/hidden-content.ts";
import type { LostFacts } from "../../core/compact/lost-facts.ts";
import type { CompactionPlan } from "../../core/compact/plan.ts";
import { lossReceipt } from "../../core/compact/receipt.ts";
import type { StepReport } from "../../core/compact/strategies/encode-decisions.ts";
import { type Compaction, EXTRACTIVE, type LossReceipt } from "../../core/conversation/compaction.ts";
import { type Event, type ProjectedTurn, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import type { CacheCost } from "../../core/model/cache-cost.ts";
import { type Trade, tradeOf } from "../../core/model/money.ts";
import type { DiffMeasure, OverheadSource, TokenMeter, TokenSource } from "../../core/model/token-meter.ts";
import { coveredEvents } from "../conversation/covers.ts";
import type { NextCallTerms } from "../models/next-call.ts";

/** Estimated tokens of a stretch of the view, before and after the compaction. */
export interface TokenChange {
  readonly before: number;
  readonly after: number;
}

/** A stretch of turns with one outcome; segments are ordered, do not overlap and cover the conversation. */
export interface CompactSegment {
  readonly from: number;
  readonly to: number;
  /** `summary`: replaced by a summary, this compaction's or an older one's. */
  readonly kind: "kept" | "compacted" | "summary";
  /** What happens here, in words, e.g. `reasoning + tools stripped`; absent for kept turns. */
  readonly policies?: string;
  readonly tokens: TokenChange;
}

/** What a compaction removes from the view; the CompactionReport of RFD 036. */
export interface StrategyReport {
  /** Events that a model was sent before and is no longer sent. */
  readonly events_removed: number;
  /** Below 0 when the view grows. */
  readonly estimated_tokens_saved: number;
  /**
   * What each strategy freed beyond those before it, in order; for a profile, each policy by its key. They add up to the totals,
   * rounding aside.
   */
  readonly steps: readonly StepReport[];
}

export interface PlannedSummary {
  /** Turns that it will replace, 0-based, inclusive. */
  readonly from_turn: number;
  readonly to_turn: number;
  /** Its writer: `provider/model`, or `extractive`. */
  readonly model: string;
  /** Why a pipeline continues with it after its own steps, in words; absent if it is what was asked for. */
  readonly reason?: string;
}

/** What a compaction costs once and saves with each later call, at the list prices of the model that answered last. */
export interface CompactCost extends Trade {
  /** As the agent wrote it. */
  readonly model: string;
  /** Whether the provider still has the conversation in its cache. */
  readonly is_warm: boolean;
}

/** Puts a price on the effect on the cache; undefined where one of them is not known. */
export function costOfChange(cache: CacheCost | null, terms: NextCallTerms | null): CompactCost | undefined {
  if (cache === null || terms === null) return undefined;
  const { prefix_kept: kept, rewritten, saved_per_call } = cache;
  const trade = tradeOf({ kept, rewritten, dropped: Math.max(0, rewritten + saved_per_call) }, terms);
  return { model: terms.model, is_warm: terms.isWarm, ...trade };
}

/** Smallest share of the view that a good compaction saves. */
const LEAST_SHARE = 0.1;
/** Calls within which it has paid for itself: few conversations go on for longer. */
export const MOST_CALLS = 50;

/** Calls until a compaction has paid for itself, by price, or by tokens where that is not known; null = never, or not known. */
export function callsToPay({ cache, cost }: Pick<CompactReport, "cache" | "cost">): number | null {
  return cost === undefined ? (cache?.break_even_calls ?? null) : cost.pays_after;
}

/** Whether a compaction saves little, or pays late or never. One that an unwritten summary is part of is not judged. */
export function isPoorTrade(report: CompactReport): boolean {
  const { tokens, cache, compaction, further } = report;
  if (further !== undefined) return false;
  if (compaction === null) return true;
  if (cache === null) return false;
  const calls = callsToPay(report);
  return calls === null || calls > MOST_CALLS || tokens.before - tokens.after < LEAST_SHARE * tokens.before;
}

/** Says by how much a view grows, for `the view would grow …`; `least` = only the least is known. */
export function describeGrowth({ before, after }: TokenChange, least: boolean = false): string {
  const [from, to] = [formatTokens(before), formatTokens(after)];
  const most = least ? "at least " : "";
  return from === to ? `by ${most}${after - before} tokens, from ${from}` : `from ${from} to ${most}${to} tokens`;
}

/** The report of `compact`, or of its dry run. */
export interface CompactReport extends NothingReport {
  readonly conversation: string;
  /** Branch it was appended to, or would be. */
  readonly branch: string;
  readonly dryRun: boolean;
  /** Set on a new fork: whether that is, or would be, the active conversation. */
  readonly activated?: boolean;
  /** Null when there was nothing to compact; then `reason` says why. */
  readonly compaction: Compaction | null;
  /** Its commit; null in a dry run and when there was nothing to compact. */
  readonly commit: string | null;
  /** Null when the range is empty. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** All policies in words, as in the commit's subject, e.g. `reasoning + tools stripped`. */
  readonly policies: string;
  /** Tokens of the whole view, with system prompt and tool definitions if known; an unwritten summary counts as empty. */
  readonly tokens: TokenChange;
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
  /** Tokens in front of the events before (system prompt, tool definitions); 0 when unknown. */
  readonly overhead: number;
  /** Tools whose definitions are no longer sent, and the tokens that this takes from `overhead`; null = none. */
  readonly pruned: { readonly names: readonly string[]; readonly tokens: number } | null;
  /** Source of `overhead`. */
  readonly overhead_source: OverheadSource;
  /** Its effect on the provider's cached prefix; null when there was nothing to compact, and for an unwritten summary. */
  readonly cache: CacheCost | null;
  /** What the next calls cost, US dollars; absent where a price, or whether the provider caches, is not known. */
  readonly cost?: CompactCost;
  /** What it hides from the model; null like `cache`. */
  readonly receipt: LossReceipt | null;
  /** What the receipt counts as hidden or behind a pointer, by name; absent like `receipt`. Not in the JSON document. */
  readonly lost?: readonly LostFacts[];
  /** What the summary claims and the events do not support; empty without a summary. */
  readonly ungrounded: readonly Ungrounded[];
  /** Null when there was nothing to compact, and for an unwritten summary. */
  readonly report: StrategyReport | null;
  readonly segments: readonly CompactSegment[];
  /** In a dry run, the summary that would be written (an extract has its text in `compaction`); else null. */
  readonly planned_summary: PlannedSummary | null;
  /** What the user should know, one sentence each, e.g. `hidden by summary k3f9q2 until k3f9q2 is reverted`. */
  readonly warnings: readonly string[];
  /** In a dry run: the view now, and as it would be, with an unwritten summary empty. Not in the JSON document. */
  readonly views?: { readonly before: View; readonly after: View; readonly measure: DiffMeasure };
  /** What followed these steps in a commit of its own: a pipeline's summary, or the open turn. */
  readonly further?: CompactReport;
  /** Code of the error that prevented that summary, e.g. `interrupted`; absent when none did. */
  readonly summary_error?: string;
}

/** Returns the tokens of the view before the first and after the last step. */
export function overallTokens({ tokens, further }: CompactReport): TokenChange {
  return further === undefined ? tokens : { before: tokens.before, after: further.tokens.after };
}

export interface NothingReport {
  /** A clause; absent = not known. */
  readonly reason?: string;
  readonly hints?: readonly string[];
}

/** Says that nothing was compacted, why, and what to type; the same in every front end. */
export function describeNothing({ reason, hints = [] }: NothingReport): {
  readonly title: string;
  /** Empty = unknown. */
  readonly why: string;
  readonly hints: readonly string[];
} {
  const begin = /^[a-z]+(?=[\s,])/.exec(reason ?? "")?.[0] ?? "";
  const why = `${begin.charAt(0).toUpperCase()}${begin.slice(1)}${(reason ?? "").slice(begin.length)}`;
  return { title: "Nothing to compact.", why: why === "" || why.endsWith(".") ? why : `${why}.`, hints };
}

/** Lists what the user should know: the planned summary, if any, then the warnings. */
export function notesOf({
  planned_summary,
  warnings,
}: Pick<CompactReport, "planned_summary" | "warnings">): readonly string[] {
  return planned_summary === null ? warnings : [describeSummary(planned_summary), ...warnings];
}

/** Describes a planned summary. */
export function describeSummary({ from_turn, to_turn, model, reason }: PlannedSummary): string {
  const step = reason === undefined ? "" : `${reason}: the next step `;
  const note = model === EXTRACTIVE ? " (an extract by fixed rules)" : "";
  return `${step}will generate a summary for turns ${from_turn}-${to_turn} using model ${model}${note}`;
}

/** Counts the events that a model was sent before and is no longer sent; below 0 if `keep` brings some back. */
export function eventsRemoved({ before, after }: { readonly before: View; readonly after: View }): number {
  return countKept(before) - countKept(after);
}

function countKept({ turns }: View): number {
  return turns.reduce(
    (count, { origin, events }) =>
      origin.kind === "kept" ? count + events.filter((event) => traitsOf(event).providerVisible).length : count,
    0,
  );
}

// What a compaction removed from the view: its covered raw events compared with what the view shows of them. The report and the
// record use the same count; events that were hidden before do not count again.

/**
 * Computes what a compaction hides. `turns` must hold every turn of its range, except those that were hidden before and stay so.
 */
export function hiddenBy(
  compaction: Pick<Compaction, "from_turn" | "to_turn">,
  facts: {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly before: View;
    readonly after: View;
    readonly meter: Pick<TokenMeter, "countEvent">;
  },
): HiddenContent {
  const { from_turn: from, to_turn: to } = compaction;
  const isTouched = touchedTurns(facts);
  const raw = [...facts.turns.values()]
    .filter((turn) => from <= turn.index && turn.index <= to && isTouched(turn.index))
    .flatMap((turn) => turn.events);
  const shown = facts.after.turns
    .filter(({ origin }) =>
      origin.kind === "kept" ? from <= origin.turn && origin.turn <= to : from <= origin.from && origin.to <= to,
    )
    .flatMap((turn) => turn.events);
  return { ...hiddenContent(raw, shown, facts.meter.countEvent), events_removed: Math.max(0, eventsRemoved(facts)) };
}

/** Returns a test for turns that were shown before, or that a new summary replaces. */
function touchedTurns({ before, after }: { readonly before: View; readonly after: View }): (turn: number) => boolean {
  const shown = new Set<number>();
  const shownOrigins = new Set<string>();
  for (const { origin } of before.turns) {
    if (origin.kind === "kept") shown.add(origin.turn);
    else shownOrigins.add(origin.compaction);
  }
  const fresh = after.turns.flatMap(({ origin }) =>
    origin.kind === "kept" || origin.kind === "index" || shownOrigins.has(origin.compaction) ? [] : [origin],
  );
  return (turn) => shown.has(turn) || fresh.some(({ from, to }) => from <= turn && turn <= to);
}

// Tokens of each segment of a planned compaction, before and after; they add up to the events of the view.

interface Facts {
  readonly turns: ReadonlyMap<number, Turn>;
  readonly before: View;
  readonly after: View;
  /** Tokens of an event, not rounded. */
  readonly countEvent: (event: Event) => number;
}

export function segmentTokens(
  plan: Pick<CompactionPlan, "segments">,
  { turns, before, after, countEvent }: Facts,
): CompactSegment[] {
  const place = createPlacer(plan, turns);
  const count = (view: View): number[] => {
    const sums = plan.segments.map(() => 0);
    for (const turn of view.turns)
      for (const event of turn.events) {
        const index = place(turn, event.id);
        sums[index] = (sums[index] ?? 0) + countEvent(event);
      }
    return sums.map(Math.round);
  };
  const [was, is] = [count(before), count(after)];
  return plan.segments.map((segment, index) => ({
    from: segment.from,
    to: segment.to,
    kind: segment.kind,
    policies: segment.policies,
    tokens: { before: was[index] ?? 0, after: is[index] ?? 0 },
  }));
}

/** Returns the last segment that begins at or before a place, by binary search; -1 = none. */
function lastStarted(segments: CompactionPlan["segments"], turn: number, position: number): number {
  let [low, high] = [0, segments.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const { from = 0, fromIndex = 0 } = segments[middle] ?? {};
    if (from < turn || (from === turn && fromIndex <= position)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Returns a function to the segment of an event of a view: by its position, even in a turn cut between several segments. A summary
 * belongs to its own segment, or to the one that replaces it.
 */
function createPlacer(
  { segments }: Pick<CompactionPlan, "segments">,
  turns: ReadonlyMap<number, Turn>,
): (turn: ProjectedTurn, event: string) => number {
  const cut = new Set(segments.filter(({ fromIndex }) => fromIndex !== undefined).map(({ from }) => from));
  const positions = new Map<string, number>();
  for (const turn of cut)
    for (const [position, { id }] of turns.get(turn)?.events.entries() ?? []) positions.set(id, position);
  const ofKept = (turn: number, event: string): number => {
    const position = cut.has(turn) ? (positions.get(event) ?? 0) : 0;
    return lastStarted(segments, turn, position);
  };
  const ofSummary = (turn: number, compaction: string): number => {
    const held = segments.filter(({ from, to }) => from <= turn && turn <= to);
    const own = held.find((segment) => segment.compaction === compaction);
    const found = own ?? held.find(({ planned }) => planned) ?? held.find(({ kind }) => kind === "summary") ?? held[0];
    return found === undefined ? 0 : segments.indexOf(found);
  };
  return ({ origin }, event) =>
    Math.max(0, origin.kind === "kept" ? ofKept(origin.turn, event) : ofSummary(origin.from, origin.compaction));
}

/** Computes the loss receipt from the views without and with the compaction; `turns` must hold every covered turn. */
export function lossOf(
  compaction: Pick<Compaction, "from_turn" | "to_turn" | "from_event" | "to_event" | "summary">,
  facts: {
    readonly turns: ReadonlyMap<number, Turn>;
    readonly before: View;
    readonly after: View;
    readonly pins?: readonly string[];
  },
): LossReceipt {
  const { before, after, pins = [] } = facts;
  const raw = coveredEvents(compaction, facts.turns).map(({ event }) => event);
  return lossReceipt({ raw, before, after, summary: compaction.summary?.summary, pins });
}

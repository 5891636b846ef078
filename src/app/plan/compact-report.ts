// What `compact` tells: which turns keep their form and which are read differently from now on. The JSON document of
// `jpg compact --json`, plus the timeline drawn for people. Turn positions are raw, 0-based, inclusive.

import type { Ungrounded } from "../../core/compact/grounding.ts";
import type { StepReport } from "../../core/compact/strategies/encode-decisions.ts";
import { type Compaction, EXTRACTIVE, type LossReceipt } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import type { CacheCost } from "../../core/model/cache-cost.ts";
import type { DiffMeasure, OverheadSource, TokenSource } from "../../core/model/token-meter.ts";

/** Tokens of a stretch of the view, estimated, before and after the compaction. */
export interface TokenChange {
  readonly before: number;
  readonly after: number;
}

/** A stretch of turns that fares alike; segments are ordered, do not overlap and cover the conversation. */
export interface CompactSegment {
  readonly from: number;
  readonly to: number;
  /** `summary`: stands as a summary, whether this compaction's or an older one's. */
  readonly kind: "kept" | "compacted" | "summary";
  /** What happens here, in words, e.g. `reasoning + tools stripped`; absent for kept turns. */
  readonly policies?: string;
  readonly tokens: TokenChange;
}

/** What a compaction takes out of the view; the CompactionReport of RFD 036. */
export interface StrategyReport {
  /** Events that a model was sent before and is not any more. */
  readonly events_removed: number;
  /** Below 0 when the view grows. */
  readonly estimated_tokens_saved: number;
  /** What each strategy added to those before it, in order; of a profile each policy, by its key. They add up to the totals, rounding aside. */
  readonly steps: readonly StepReport[];
}

/** A summary that is still to be written. */
export interface PlannedSummary {
  /** Turns that it is to stand for, 0-based, inclusive. */
  readonly from_turn: number;
  readonly to_turn: number;
  /** Who is to write it: `provider/model`, or `extractive`. */
  readonly model: string;
  /** Why a pipeline goes on to it behind its own steps, in words; absent where it is what was asked for. */
  readonly reason?: string;
}

/** The outcome of `compact` and of its dry run. */
export interface CompactReport extends NothingReport {
  readonly conversation: string;
  /** Branch it was appended to, or would be. */
  readonly branch: string;
  readonly dryRun: boolean;
  /** Set where it stands on a new fork: whether that is the active conversation now, or would be. */
  readonly activated?: boolean;
  /** Null when there was nothing to compact; then `reason` says why. */
  readonly compaction: Compaction | null;
  /** Commit that carries it; null in a dry run and when there was nothing to compact. */
  readonly commit: string | null;
  /** Null when the range is empty. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** All policies in words, as in the commit's subject, e.g. `reasoning + tools stripped`. */
  readonly policies: string;
  /** Tokens of the whole view, system prompt and tool definitions where they are known; a summary that is still to be written counts as empty. */
  readonly tokens: TokenChange;
  /** `recorded` when the provider counted both. */
  readonly tokens_source: TokenSource;
  /** Tokens in front of the events before (system prompt, tool definitions); 0 when unknown. */
  readonly overhead: number;
  /** Tools whose definitions are not sent any more, and the tokens that `overhead` has less for it; null = all stay. */
  readonly pruned: { readonly names: readonly string[]; readonly tokens: number } | null;
  /** Where `overhead` is from. */
  readonly overhead_source: OverheadSource;
  /** What it does to a cached prefix; null when there was nothing to compact, and for a summary that is not written yet. */
  readonly cache: CacheCost | null;
  /** What it takes from the model's sight; null as for `cache`. */
  readonly receipt: LossReceipt | null;
  /** What the summary says and the events do not bear out; empty without a summary. */
  readonly ungrounded: readonly Ungrounded[];
  /** Null when there was nothing to compact, and for a summary that is not written yet. */
  readonly report: StrategyReport | null;
  readonly segments: readonly CompactSegment[];
  /** In a dry run, the summary that would be written, an extract with its text in `compaction`; null when none would, and when all is done. */
  readonly planned_summary: PlannedSummary | null;
  /** What the user should know, one sentence each, e.g. `hidden by summary k3f9q2 until k3f9q2 is reverted`. */
  readonly warnings: readonly string[];
  /** In a dry run: the view as it is, and as it would be, a summary that is still to be written empty. No part of the JSON document. */
  readonly views?: { readonly before: View; readonly after: View; readonly measure: DiffMeasure };
  /** What was gone on to after these steps, in a commit of its own: a pipeline's summary, or the open turn. */
  readonly further?: CompactReport;
  /** Code of the error for which that summary was not written, e.g. `interrupted`; absent when none was thrown. */
  readonly summary_error?: string;
}

/** Tokens of the view before all that was done, and after it. */
export function overallTokens({ tokens, further }: CompactReport): TokenChange {
  return further === undefined ? tokens : { before: tokens.before, after: further.tokens.after };
}

/** Why nothing was compacted. */
export interface NothingReport {
  /** A clause; absent = not known. */
  readonly reason?: string;
  /** What to type. */
  readonly hints?: readonly string[];
}

/** Says that nothing was compacted and why, in sentences, and what to type; the same in every front. */
export function sayNothing({ reason, hints = [] }: NothingReport): {
  readonly title: string;
  /** Empty when the reason is not known. */
  readonly why: string;
  readonly hints: readonly string[];
} {
  const begin = /^[a-z]+(?=[\s,])/.exec(reason ?? "")?.[0] ?? "";
  const why = `${begin.charAt(0).toUpperCase()}${begin.slice(1)}${(reason ?? "").slice(begin.length)}`;
  return { title: "Nothing to compact.", why: why === "" || why.endsWith(".") ? why : `${why}.`, hints };
}

/** Words what the user should know: the summary that is to be written, if one is, then the warnings. */
export function notesOf({
  planned_summary,
  warnings,
}: Pick<CompactReport, "planned_summary" | "warnings">): readonly string[] {
  return planned_summary === null ? warnings : [describeSummary(planned_summary), ...warnings];
}

/** Says which summary is to be written. */
export function describeSummary({ from_turn, to_turn, model, reason }: PlannedSummary): string {
  const step = reason === undefined ? "" : `${reason}: the next step `;
  const note = model === EXTRACTIVE ? " (an extract by fixed rules)" : "";
  return `${step}will generate a summary for turns ${from_turn}-${to_turn} using model ${model}${note}`;
}

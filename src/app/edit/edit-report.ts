// What an edited plan did, or would do: the report of a compaction, of several that are one.

import type { Ungrounded } from "../../core/compact/grounding.ts";
import { planTimeline } from "../../core/compact/timeline.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import { type CompactionGroup, describeGroup, groupRange } from "../../core/conversation/group.ts";
import type { Pin } from "../../core/conversation/marks.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { cacheCost } from "../../core/model/cache-cost.ts";
import type { TokenCount } from "../../core/model/token-meter.ts";
import { worstSource } from "../branch/token-report.ts";
import { segmentTokens } from "../compact/compact-segments.ts";
import { type CompactReport, describeSummary, type PlannedSummary } from "../plan/compact-report.ts";
import { eventsRemoved } from "../plan/events-removed.ts";
import type { LoadedEdit } from "./load-edit.ts";

/** The outcome of `edit`; `compaction` is the first one that it made. */
export interface EditReport extends CompactReport {
  /** All that it made, in order of their ranges. */
  readonly compactions: readonly Compaction[];
  /** What they share, where they are several or pins came with them. */
  readonly group: string | null;
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
}

/** What is reported. */
export interface EditOutcome {
  readonly compactions: readonly Compaction[];
  readonly after: View;
  readonly size: TokenCount;
  readonly pinned: readonly Pin[];
  readonly unpinned: readonly Pin[];
  readonly group: string | null;
  readonly dryRun: boolean;
  readonly ungrounded: readonly Ungrounded[];
  /** Summaries that are still to be written. */
  readonly summaries: readonly PlannedSummary[];
  readonly warnings: readonly string[];
}

/** Reports a plan that changes nothing, and why. */
export function idleReport(loaded: LoadedEdit, dryRun: boolean, reason: string): EditReport {
  const { view: after, size } = loaded;
  const none = { compactions: [], pinned: [], unpinned: [], group: null, ungrounded: [], summaries: [], warnings: [] };
  return { ...editReport(loaded, { ...none, after, size, dryRun }), reason };
}

/** Reports what a plan does. */
export function editReport(loaded: LoadedEdit, outcome: EditOutcome): EditReport {
  const { tree, live, turns, view: before, meter, size } = loaded;
  const { compactions, after, dryRun, summaries } = outcome;
  const [first = null, ...others] = compactions;
  const group: CompactionGroup | null = first === null ? null : [first, ...others];
  const range = group === null ? null : groupRange(group);
  const segments = planTimeline(compactions, { turnCount: tree.turnOids.length, turns, compactions: live.applied });
  const counting = { count: meter.countEvent, overhead: meter.overheadUnder(live.applied) };
  const { overhead } = counting;
  const measure = { factor: meter.factor, overhead: { before: overhead, after: overhead } };
  const tokens = { before: size.tokens, after: outcome.size.tokens };
  const [summary = null, ...more] = summaries;
  return {
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    dryRun,
    compaction: first,
    compactions,
    group: outcome.group,
    pinned: outcome.pinned,
    unpinned: outcome.unpinned,
    commit: null,
    from_turn: range?.from ?? null,
    to_turn: range?.to ?? null,
    policies: group === null ? "" : describeGroup(group),
    tokens,
    tokens_source: worstSource([size.source, outcome.size.source]),
    overhead: counting.overhead,
    overhead_source: meter.overheadSource,
    pruned: null,
    cache: group === null || summaries.length > 0 ? null : cacheCost(before, after, counting),
    receipt: first?.receipt ?? null,
    ungrounded: outcome.ungrounded,
    report:
      group === null || summaries.length > 0
        ? null
        : {
            events_removed: eventsRemoved({ before, after }),
            estimated_tokens_saved: tokens.before - tokens.after,
            steps: [],
          },
    segments: segmentTokens({ segments }, { turns, before, after, countEvent: meter.countEvent }),
    planned_summary: summary,
    warnings: [...more.map(describeSummary), ...outcome.warnings],
    ...(dryRun ? { views: { before, after, measure } } : {}),
  };
}

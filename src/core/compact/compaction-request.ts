// Input and output of planning a compaction: the request, the facts of the conversation, the draft of what would be stored, the plan.
import type { BoundFacts, RangeRequest } from "../conversation/bound-resolution.ts";
import type { Compaction, SelectedCall, StubStyle, Summary } from "../conversation/compaction.ts";
import { type CutRange, type Event, isMessage, type ProjectedTurn, type View } from "../conversation/event.ts";
import type { Policies, SummaryPolicy } from "../conversation/policy.ts";
import type { RangeBound } from "../conversation/range-bound.ts";
import type { StepReport } from "./strategies/encode-decisions.ts";
import type { ChosenStrategies } from "./strategies/pipelines.ts";
import type { StrategyFacts } from "./strategies/strategy-names.ts";
import type { PlanSegment } from "./timeline.ts";
import type { ToolCompactionHints } from "./tool-hints.ts";

/** Whether a request hides whole turns, replacing them by a summary or an omission. */
export function hidesTurns({ policies, strategies }: Pick<PlanInput, "policies" | "strategies">): boolean {
  if (strategies === undefined) return policies.summary !== undefined || policies.turns !== undefined;
  return strategies.uses.some(({ strategy }) => strategy.hidesTurns === true);
}

/** An answer to a running agent, in the words of a record's metadata. */
export interface LiveOrigin {
  /** Name of the agent's format. */
  readonly agent: string;
  /** The agent's session id. */
  readonly session: string;
  /** Shared by the compactions of one answer. */
  readonly answer: string;
}

/** A request to compact, from a command, a chat, a page, a model or jpg itself. */
export interface CompactionRequest {
  readonly range: RangeRequest;
  readonly profile?: string;
  /** Policies instead of a profile's. */
  readonly policies?: Policies;
  /** Strategies instead of a profile. */
  readonly strategies?: ChosenStrategies;
  /** Calls named one by one, instead of policies. */
  readonly calls?: readonly SelectedCall[];
  readonly stubs?: StubStyle;
  /** The accepted text, when the policy is a summary and one exists already. */
  readonly summary?: Summary;
  /** Who asked for it; absent = `manual`. */
  readonly source?: NonNullable<Compaction["source"]>;
  /** The running session that it is made for; absent = none. Kept in the record. */
  readonly live?: LiveOrigin;
  /** Ids of events that stay unchanged; those outside the range are ignored. */
  readonly keep?: readonly string[];
  /** Include the answered calls of an unfinished tool loop although the end of the range was not named. */
  readonly intoLoop?: boolean;
}

/** A request with its policies and the facts that planning needs. */
export interface PlanInput extends CompactionRequest, BoundFacts {
  /** Ignored where strategies decide. */
  readonly policies: Policies;
  /** Plan even if a live summary hides the whole effect and no range was named. */
  readonly evenIfHidden?: boolean;
  /** Hints in force; those of tools called in the range are frozen into the compaction. */
  readonly hints?: ToolCompactionHints;
  /** What strategies know in addition to the conversation. */
  readonly strategyFacts?: StrategyFacts;
}

/** A compaction before the store has given it id, time and digest; `stats` has no tokens yet. */
export type CompactionDraft = Omit<Compaction, "id" | "timestamp" | "covers">;

export interface CompactionPlan {
  readonly compaction: CompactionDraft;
  /** How to make the summary when its text does not exist yet; `compaction.summary` is absent then. */
  readonly summarize?: SummaryPolicy;
  /** The range before it was extended over summaries that it partly overlapped; absent when it was not. */
  readonly extendedFrom?: CutRange;
  /** How the whole conversation would be read. */
  readonly segments: readonly PlanSegment[];
  /** Ids of the live summaries that hide all of a mechanical plan until they are reverted, oldest first; usually empty. */
  readonly hiddenBy: readonly string[];
  /** What each strategy added to those before it, in order; for a profile what each policy took out (timeline.ts). */
  readonly steps: readonly StepReport[];
}

// Where a compaction that leaves the newest messages of a view alone ends: at the end of a turn, so that at least so many messages stay.
// Only a turn with far more messages than asked for is cut inside (agents' turns are hours long).

/** Recent messages left alone by default. */
export const KEEP_RECENT = 15;
/** A view of fewer messages is not worth a summary. */
export const LEAST_MESSAGES = 30;
/** Messages that whole turns may keep beyond the number asked for, before the oldest turn is cut. */
const MOST_EXTRA = 10;

/**
 * Finds where a compaction of a view may end so that at least `keep` (>= 0) of its messages stay after it. Null when no message precedes
 * them.
 */
export function keepMessages({ turns }: View, keep: number): RangeBound | null {
  const oldest = oldestKept(turns, keep);
  if (oldest === null) return null;
  const before = oldest.at === 0 ? null : boundBefore(turns, oldest.at);
  if (oldest.kept <= keep + MOST_EXTRA) return before;
  return boundInside(turns[oldest.at] as ProjectedTurn, keep - oldest.keptAfter) ?? before;
}

interface OldestKept {
  /** Position in the view of the oldest turn that stays; the number of turns when none need stay. */
  readonly at: number;
  /** Messages that stay when it stays whole, and messages of the turns after it. */
  readonly kept: number;
  readonly keptAfter: number;
}

/** Finds the newest turns that together hold the messages to keep; null when all turns hold too few. */
function oldestKept(turns: readonly ProjectedTurn[], keep: number): OldestKept | null {
  let kept = 0;
  if (keep === 0) return { at: turns.length, kept, keptAfter: 0 };
  for (let at = turns.length - 1; at >= 0; at--) {
    const keptAfter = kept;
    kept += messagesOf(turns[at] as ProjectedTurn).length;
    if (kept >= keep) return { at, kept, keptAfter };
  }
  return null;
}

/** The end of the turns before position `at` (> 0) of the view; null when no message is shown before it. */
function boundBefore(turns: readonly ProjectedTurn[], at: number): RangeBound | null {
  const { origin } = turns[at - 1] as ProjectedTurn;
  const stays = turns[at];
  // A summary may end inside the turn whose rest stays.
  const turn = Math.min(
    origin.kind === "kept" ? origin.turn : origin.to,
    stays === undefined ? Number.POSITIVE_INFINITY : firstTurn(stays) - 1,
  );
  const older = turns.slice(0, at).filter((candidate) => firstTurn(candidate) <= turn);
  return older.some((candidate) => messagesOf(candidate).length > 0) ? { type: "turn", turn } : null;
}

function firstTurn({ origin }: ProjectedTurn): number {
  return origin.kind === "kept" ? origin.turn : origin.from;
}

/** The event before the oldest of the `keep` (> 0) messages that stay of a turn with more; null inside a replacement. */
function boundInside(turn: ProjectedTurn, keep: number): RangeBound | null {
  if (turn.origin.kind !== "kept") return null;
  const first = messagesOf(turn).at(-keep) as Event;
  const last = turn.events[turn.events.indexOf(first) - 1] as Event;
  return { type: "event", turn: turn.origin.turn, event: last.id };
}

function messagesOf({ origin, events }: ProjectedTurn): readonly Event[] {
  return origin.kind === "summary" ? [] : events.filter((event) => isMessage(event));
}

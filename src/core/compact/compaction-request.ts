// What planning a compaction takes and gives: the request, the draft of what would be stored, the plan.
import { type BoundFacts, isNothing, type RangeRequest, resolveBounds } from "../conversation/bound-resolution.ts";
import type { Compaction, SelectedCall, StubStyle, Summary } from "../conversation/compaction.ts";
import { planRanges } from "../conversation/covered-range.ts";
import {
  type CutRange,
  type Event,
  isMessage,
  joinRuns,
  type ProjectedTurn,
  type TurnRange,
  type View,
} from "../conversation/event.ts";
import { findKeptTurns, withKeptTurns } from "../conversation/group.ts";
import type { Policies, SummaryPolicy } from "../conversation/policy.ts";
import type { RangeBound } from "../conversation/range-bound.ts";
import { countTurns, type TurnFacts, tokensByTurn } from "../model/usage.ts";
import type { StepReport } from "./strategies/encode-decisions.ts";
import type { StrategyRequest } from "./strategies/strategy-names.ts";
import type { PlanSegment } from "./timeline.ts";
import { hintFor, type ToolCompactionHints } from "./tool-hints.ts";

/** What planning knows of the turns that it does not read. */
export interface UnreadTurns {
  /** Messages of each, by position. */
  readonly messages: ReadonlyMap<number, number>;
  /** Tools that they call, each with turns (0-based, inclusive) of which the first and the last do, as far as it is known. */
  readonly calls: readonly (TurnRange & { readonly tool: string })[];
}

/** Whether a request hides whole turns: a summary or an omission is to stand for them. */
export function hidesTurns({ policies, strategies }: Pick<CompactionRequest, "policies" | "strategies">): boolean {
  if (strategies === undefined) return policies.summary !== undefined || policies.turns !== undefined;
  return strategies.uses.some(({ strategy }) => strategy.hidesTurns === true);
}

export interface CompactionRequest extends BoundFacts {
  readonly range: RangeRequest;
  /** Those of a profile; not looked at where strategies decide. */
  readonly policies: Policies;
  /** Strategies in place of a profile. */
  readonly strategies?: StrategyRequest;
  /** Calls that are named one by one, in place of policies. */
  readonly calls?: readonly SelectedCall[];
  /** How stubs are written. */
  readonly stubs?: StubStyle;
  /** The accepted text, when the policy is a summary and there is one already. */
  readonly summary?: Summary;
  /** Hints in force; those of tools called in the range are frozen into the compaction. */
  readonly hints?: ToolCompactionHints;
  readonly profile?: string;
  readonly source?: NonNullable<Compaction["source"]>;
  /** Ids of events that stay unchanged; those outside the range are left out of the plan. */
  readonly keep?: readonly string[];
  /** Reach the answered calls of a tool loop that is not finished, though the end of the range was not named. */
  readonly intoLoop?: boolean;
  /** What is known of those turns of `turnsToLeave` that are not at hand. */
  readonly unread?: UnreadTurns;
  /** Make a plan, too, of which nothing shows until a summary over it is reverted, though no range was named. */
  readonly beneath?: boolean;
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
  /** What each strategy added to those before it, in order; empty where a profile decided (timeline.ts). */
  readonly steps: readonly StepReport[];
}

// The turns of a plan's range that need not be read: a summary hides them wholly, strategies pass over them, and what policies make
// of them shows only once it is reverted. Their calls must be known even so, for hints are frozen against them: what is known of turns
// says them, and which of them must be read after all.

type Unread = Omit<CompactionRequest, "turns" | "unread">;

/**
 * Lists the turns (0-based, ascending) that planning may leave unread, but for those of `turnsNeeded`; none where a range was named, or
 * a summary or an omission is to stand for the turns.
 */
export function turnsToLeave(request: Unread): readonly number[] {
  const { range, calls, turnCount, compactions, beneath = false } = request;
  const isNamed = beneath || range.from !== undefined || range.to !== undefined || range.keep !== undefined;
  if (isNamed || hidesTurns(request) || calls !== undefined) return [];
  // Which of the newest are protected is not known yet: the range is at its longest.
  const { protectTokens: _, protectedMessages: __, ...longest } = range;
  const bounds = resolveBounds(longest, { ...request, turns: new Map() });
  if (isNothing(bounds)) return [];
  const left: number[] = [];
  for (const { from, to, hiddenBy } of planRanges(turnCount, compactions)) {
    // Where a range begins or ends is looked at.
    const [first, last] = [Math.max(from, bounds.from + 1), Math.min(to, bounds.to - 1)];
    for (let turn = first; hiddenBy !== null && turn <= last; turn += 1) left.push(turn);
  }
  return left;
}

/** Gives what the facts of a conversation say of some of its turns. */
export function knownOf(left: readonly number[], facts: readonly TurnFacts[]): UnreadTurns {
  const unread = new Set(left);
  const messages = new Map<number, number>();
  const calls: UnreadTurns["calls"][number][] = [];
  for (const one of facts) {
    const { index, stretch } = one;
    const own = Array.from({ length: countTurns(one) }, (_, at) => index + at).filter((turn) => unread.has(turn));
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) continue;
    for (const turn of own) messages.set(turn, stretch?.messages[turn - index] ?? one.messages);
    for (const [tool, from, to] of stretch?.calls ?? one.tools.map((tool) => [tool, 0, 0] as const)) {
      const range = { from: Math.max(first, index + from), to: Math.min(last, index + to) };
      if (range.from <= range.to) calls.push({ tool, ...range });
    }
  }
  return { messages, calls };
}

/**
 * Lists the turns (0-based) that must be read after all, as the facts of the conversation say: those that may call a tool whose calls
 * are named one by one, those in which the end of the range is looked for, and where something is kept by name those that may hold
 * nothing that can be hidden, and the first behind each turn that is read: a summary may come to stand there, and takes its time.
 */
export function turnsNeeded(
  left: readonly number[],
  facts: readonly TurnFacts[],
  request: Pick<Unread, "range" | "hints" | "strategies"> & { readonly keeps: boolean },
): readonly number[] {
  if (left.length === 0) return [];
  const unread = knownOf(left, facts);
  const needed = new Set([...turnsNamed(unread, request), ...turnsProtected(request.range, facts)]);
  if (!request.keeps) return [...needed];
  for (const turn of left) if (!holdsMessage(turn, unread)) needed.add(turn);
  const stays = new Set(left.filter((turn) => !needed.has(turn)));
  return [...needed, ...[...stays].filter((turn) => !stays.has(turn - 1))];
}

/** Those that may call a tool whose calls are named one by one, as a profile does. */
function turnsNamed(
  { messages, calls }: UnreadTurns,
  { hints = {}, strategies }: Pick<Unread, "hints" | "strategies">,
): readonly number[] {
  const named = strategies === undefined ? calls.filter(({ tool }) => hintFor(tool, hints).response === "remove") : [];
  if (named.length === 0) return [];
  return [...messages.keys()].filter((turn) => named.some(({ from, to }) => from <= turn && turn <= to));
}

/** The newest turns that hold the messages and the tokens which a range leaves alone. */
function turnsProtected(
  { protectTokens = 0, protectedMessages = 0 }: RangeRequest,
  facts: readonly TurnFacts[],
): readonly number[] {
  const sizes = tokensByTurn(facts);
  const messages = facts.flatMap(({ stretch, messages }) => stretch?.messages ?? messages);
  let [tokens, left] = [protectTokens, protectedMessages];
  let first = sizes.length;
  while (first > 0 && (tokens > 0 || left > 0)) {
    first -= 1;
    tokens -= sizes[first] ?? 0;
    left -= messages[first] ?? 0;
  }
  return Array.from({ length: sizes.length - first }, (_, at) => first + at);
}

/**
 * Whether all that is kept by name is known to stand in turns at hand, for ids are unique in a conversation, and each turn that is not
 * is known to hold something that can be hidden: then no unread turn has anything to do with it.
 */
export function areKeptAtHand(
  keep: readonly string[],
  { turns, unread }: Pick<CompactionRequest, "turns" | "unread">,
): boolean {
  if (keep.length === 0 || unread === undefined) return true;
  const wanted = new Set(keep);
  for (const { events } of turns.values()) for (const { id } of events) wanted.delete(id);
  return wanted.size === 0 && [...unread.messages.keys()].every((turn) => holdsMessage(turn, unread));
}

/** Gives a draft the turns at hand that must be looked at for what it keeps, so that the unread ones are not. */
export function withKeptAtHand(
  draft: CompactionDraft,
  { turnCount, turns, unread }: Pick<CompactionRequest, "turnCount" | "turns" | "unread">,
): CompactionDraft {
  if (draft.keep === undefined || unread === undefined) return draft;
  const known = { has: (turn: number) => holdsMessage(turn, unread) };
  const found = findKeptTurns(draft, turns, { turnCount, known });
  return found === null ? draft : withKeptTurns(draft, found);
}

function holdsMessage(turn: number, { messages }: UnreadTurns): boolean {
  return (messages.get(turn) ?? 0) > 0;
}

/** Compactions that hide the turns which are not at hand, in place of all others: what comes of the rest is looked for. */
export function absentAsOmitted({
  turnCount,
  turns,
}: Pick<CompactionRequest, "turnCount" | "turns">): readonly Compaction[] {
  const absent = Array.from({ length: turnCount }, (_, turn) => turn).filter((turn) => !turns.has(turn));
  return joinRuns(absent.map((turn) => ({ from: turn, to: turn }))).map(({ from, to }) => ({
    type: "compaction",
    id: "",
    timestamp: "",
    from_turn: from,
    to_turn: to,
    turns: "omit",
  }));
}

/**
 * Lists some unread turns (0-based, ascending) of which something can likely be taken out: they call tools, or stand in a stretch with
 * reasoning. Few where there are many.
 */
export function turnsLikely({ messages, calls }: UnreadTurns, facts: readonly TurnFacts[]): readonly number[] {
  const calling = calls.flatMap(({ from, to }) => [from, to]).filter((turn) => messages.has(turn));
  const thinking = facts.findLast(({ index, kinds }) => kinds.reasoning > 0 && messages.has(index));
  const stretch =
    thinking === undefined ? [] : Array.from({ length: countTurns(thinking) }, (_, at) => thinking.index + at);
  const likely = calling.length > 0 ? calling.sort((a, b) => a - b).slice(-MOST_LIKELY) : stretch;
  return [...new Set(likely.filter((turn) => messages.has(turn)))];
}

/** Turns that are read to see whether something can be taken out. */
const MOST_LIKELY = 16;

/** Names the tools that unread turns of a range call. */
export function toolsUnread({ from, to }: TurnRange, unread: UnreadTurns | undefined): readonly string[] {
  return (unread?.calls ?? []).filter((call) => call.from <= to && call.to >= from).map(({ tool }) => tool);
}

/** Counts the messages of the unread turns of a range. */
export function messagesUnread({ from, to }: TurnRange, unread: UnreadTurns | undefined): number {
  let count = 0;
  for (const [turn, messages] of unread?.messages ?? []) if (from <= turn && turn <= to) count += messages;
  return count;
}

// Where a compaction ends that leaves the newest messages of a view alone: at the end of a turn, so that at least so many
// stay. Only a turn that holds far more than was asked for (agents' turns are hours long) is cut inside.

/** Recent messages that are left alone when nobody says how many. */
export const KEEP_RECENT = 15;
/** A view of fewer messages is not worth a summary. */
export const LEAST_MESSAGES = 30;
/** Messages that whole turns may keep beyond what was asked for, before the oldest of them is cut. */
const MOST_EXTRA = 10;

/**
 * Finds where a compaction of a view may end so that at least `keep` (>= 0) of its messages stay after it. Null when no
 * message stands before them.
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
  /** Messages that stay when it stays whole, and those of the turns after it. */
  readonly kept: number;
  readonly keptAfter: number;
}

/** The newest turns that together hold the messages to keep; null when all of them hold too few. */
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

/** The end of the turns before a position of the view, which is above 0; null when no message is shown before it. */
function boundBefore(turns: readonly ProjectedTurn[], at: number): RangeBound | null {
  const { origin } = turns[at - 1] as ProjectedTurn;
  const stays = turns[at];
  // A summary may end inside the turn of which the rest stays.
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

/** The event of a turn, of more messages than stay (`keep`, above 0), before the oldest that stays; null inside a replacement. */
function boundInside(turn: ProjectedTurn, keep: number): RangeBound | null {
  if (turn.origin.kind !== "kept") return null;
  const first = messagesOf(turn).at(-keep) as Event;
  const last = turn.events[turn.events.indexOf(first) - 1] as Event;
  return { type: "event", turn: turn.origin.turn, event: last.id };
}

function messagesOf({ origin, events }: ProjectedTurn): readonly Event[] {
  return origin.kind === "summary" ? [] : events.filter((event) => isMessage(event));
}

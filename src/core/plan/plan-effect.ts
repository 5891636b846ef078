// What a planned compaction would change beyond those that are in force already, event by event. It is looked at twice:
// as the conversation is read now, where what a summary hides neither shows nor answers a call, and with summaries set
// aside, because a mechanical compaction inside a live summary shows only once the summary is reverted, yet it is not
// nothing.
import { type CallPolicy, type Compaction, isHiding } from "../compaction/compaction.ts";
import { stubAttachments } from "../event/attachment-stub.ts";
import { type Event, isMessage, type ToolCallRequest, traitsOf } from "../event/event.ts";
import { type CallPairs, pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";
import { type CoveredRange, planRanges } from "../projection/covered-range.ts";
import { localizeOverlays } from "../projection/local-overlay.ts";
import { hiddenEvents, type IsHidden } from "../projection/survey.ts";
import { dropLongTexts, truncateCall } from "../projection/tool-stub.ts";
import { type Disposition, findMechanicalWinner } from "../projection/winner.ts";
import { type EventRange, isInRange } from "../range/range-location.ts";
import type { UnreadTurns } from "./compaction-request.ts";
import { messagesUnread } from "./unread-turns.ts";

/** What a plan would do. */
export interface PlanEffect {
  /** Whether anything would be read differently, now or once a summary over it is reverted. */
  readonly changes: boolean;
  /** Events the projection would leave out, those already left out included. */
  readonly removed: number;
  /** Messages (requests and answers) in the range. */
  readonly messages: number;
}

/** The conversation a plan is made for. */
export interface EffectFacts {
  readonly turnCount: number;
  readonly turns: ReadonlyMap<number, Turn>;
  readonly compactions: readonly Compaction[];
  /** Which call each result answers, nothing hidden (`pairCalls`); absent = worked out. */
  readonly pairs?: CallPairs | undefined;
  /** Whether what would show only once a summary is reverted counts. */
  readonly beneath?: boolean;
  /** What is known of turns that are not at hand: only where what is beneath a summary does not count. */
  readonly unread?: UnreadTurns;
}

/** Works out what a draft would do to the events of its range; every turn of the range must have been read, or be known. */
export function effectOf(draft: Compaction, range: EventRange, facts: EffectFacts): PlanEffect {
  const bare = isHiding(draft) ? outcomesOfHiding(draft) : bareOutcomes(draft, facts);
  const effect = walk(range, facts, bare);
  if (isHiding(draft) || !facts.compactions.some(isHiding)) return effect;
  if (effect.changes && facts.beneath !== false) return effect;
  return { ...effect, changes: walk(range, facts, shownOutcomes(draft, facts)).changes };
}

/** Gives a function that tells whether an event is read as it was said: neither hidden nor changed by a live compaction. */
export function findUnchanged(facts: EffectFacts): (turn: Turn, event: Event, index: number) => boolean {
  const isHidden = hiddenEvents(facts);
  const outcome = outcomesOf(facts.compactions, facts, facts.pairs ?? pairCalls(facts.turns.values(), NOTHING_HIDDEN));
  return (turn, event, index) => !isHidden(turn.index, index) && outcome(turn, event, index) === "same";
}

function walk(range: EventRange, { turns, unread }: EffectFacts, outcomes: Outcomes): PlanEffect {
  let changes = false;
  let removed = 0;
  let messages = messagesUnread(range, unread);
  for (let position = range.from; position <= range.to; position++) {
    const turn = turns.get(position);
    for (let index = 0; turn !== undefined && index < turn.events.length; index++) {
      const event = turn.events[index];
      if (event === undefined || !isInRange(range, position, index)) continue;
      if (isMessage(event)) messages += 1;
      const outcome = outcomes.after(turn, event, index);
      if (outcome === "removed") removed += 1;
      changes ||= outcome !== outcomes.before(turn, event, index);
    }
  }
  return { changes, removed, messages };
}

type OutcomeOf = (turn: Turn, event: Event, index: number) => string;

/** What becomes of an event without a draft and with it. */
interface Outcomes {
  readonly before: OutcomeOf;
  readonly after: OutcomeOf;
}

const SAME: OutcomeOf = () => "same";
const NOTHING_HIDDEN: IsHidden = () => false;

function outcomesOfHiding({ keep }: Compaction): Outcomes {
  const kept = new Set(keep);
  const after: OutcomeOf = (_, event) => (traitsOf(event).providerVisible && !kept.has(event.id) ? "removed" : "same");
  return { before: SAME, after };
}

/** With summaries and the like set aside. */
function bareOutcomes(draft: Compaction, facts: EffectFacts): Outcomes {
  const mechanical = facts.compactions.filter((compaction) => !isHiding(compaction));
  const pairs = facts.pairs ?? pairCalls(facts.turns.values(), NOTHING_HIDDEN);
  const before = mechanical.length === 0 ? SAME : outcomesOf(mechanical, facts, pairs);
  return { before, after: outcomesOf([...mechanical, draft], facts, pairs) };
}

/** As the conversation is read now. */
function shownOutcomes(draft: Compaction, facts: EffectFacts): Outcomes {
  const { compactions, turns } = facts;
  const isHidden = hiddenEvents(facts);
  const pairs = facts.pairs ?? pairCalls(turns.values(), NOTHING_HIDDEN);
  const shown = (outcome: OutcomeOf): OutcomeOf => {
    return (turn, event, index) => (isHidden(turn.index, index) ? "same" : outcome(turn, event, index));
  };
  return {
    before: shown(outcomesOf(compactions, facts, pairs)),
    after: shown(outcomesOf([...compactions, draft], facts, pairs)),
  };
}

/** Gives a function that says in a word what the policies of compactions make of an event; turns are asked for in their order. */
function outcomesOf(compactions: readonly Compaction[], { turnCount }: EffectFacts, pairs: CallPairs): OutcomeOf {
  const ranges = planRanges(turnCount, compactions);
  let range: CoveredRange | undefined;
  let turn: Turn | undefined;
  let locals: ReturnType<typeof localizeOverlays> = [];
  return (at, event, index) => {
    if (at !== turn) {
      turn = at;
      if (range === undefined || range.to < at.index) {
        range = ranges.find(({ from, to }) => from <= at.index && at.index <= to);
      }
      locals = range === undefined ? [] : localizeOverlays(range, at);
    }
    const winner = findMechanicalWinner(locals, event, index, pairs);
    return winner === null ? "same" : outcomeOf(event, winner);
  };
}

function outcomeOf(event: Event, disposition: Disposition): string {
  const { action } = disposition;
  if (action === "keep" || action === "hide") return "same";
  if (action === "omit") return "removed";
  switch (event.type) {
    case "chat_request":
      return stubAttachments(event) === event ? "same" : "stripped";
    case "tool_call_request":
      return requestOutcome(event, action);
    case "tool_call_response": {
      if (action === "strip") return `stripped${styleOf(disposition)}`;
      if ("drop" in action) return "same";
      const { max_chars, head } = action.truncate;
      const isShort = typeof event.content === "string" && event.content.length <= max_chars;
      return isShort ? "same" : `truncated ${max_chars} ${head}`;
    }
    default: // reasoning: no other kind has a winner
      return "removed";
  }
}

function requestOutcome(event: ToolCallRequest, action: Exclude<CallPolicy, "keep" | "omit">): string {
  if (action === "strip") return isEmptyObject(event.arguments) ? "same" : "stripped";
  if ("drop" in action) {
    const { max_chars } = action.drop;
    return dropLongTexts(event, max_chars) === event ? "same" : `dropped ${max_chars}`;
  }
  const { max_chars, head } = action.truncate;
  return truncateCall(event, action.truncate) === event ? "same" : `truncated ${max_chars} ${head}`;
}

function styleOf({ compaction: { stubs }, headOf }: Disposition): string {
  const styles = [
    stubs?.pointers === true && "pointer",
    headOf !== undefined && "head",
    stubs?.first_line === true && "line",
  ];
  return styles.map((style) => (style === false ? "" : ` ${style}`)).join("");
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

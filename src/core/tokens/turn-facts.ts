// What counting a conversation needs to know of a turn. It is small, and follows from the turn alone: a turn that nothing shows is
// counted by it without being read.
import { type Event, traitsOf } from "../event/event.ts";
import { previousTurn, type Turn } from "../event/turn.ts";
import { type EstimateKind, estimateEvent, estimateKind } from "./token-estimate.ts";
import { listAnswers, type Usage } from "./usage.ts";

/** An answer, or the part of one that stands in a turn. Tokens are whole numbers of one counter. */
export interface AnswerFacts {
  /** Id that its events share, in other turns too; null of one that is a single event. */
  readonly message: string | null;
  /** Tokens of the turn's events before it. */
  readonly before: number;
  /** Tokens of the turn's events up to its end. */
  readonly through: number;
  /** Null where none is recorded. */
  readonly usage: Usage | null;
  /** As the agent wrote it. */
  readonly model?: string;
  /** When it began; empty when its event does not say. */
  readonly time: string;
}

/** The facts of one turn. */
export interface TurnFacts {
  /** Turn position, 0-based. */
  readonly index: number;
  /** Events of the kinds that are counted. */
  readonly events: number;
  /** Tokens of all its events, whole. */
  readonly tokens: number;
  /** The same by kind. */
  readonly kinds: Readonly<Record<EstimateKind, number>>;
  readonly answers: readonly AnswerFacts[];
  /** The model that answered last; null when no answer names one. */
  readonly model: string | null;
  /** Object id of the turn file that it was said after, as it says. */
  readonly previous: string | null;
}

/** Works the facts of a turn out. */
export function turnFacts({ index, events }: Turn): TurnFacts {
  const kinds = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0 };
  /** Tokens of all events before each position; one longer than the events. */
  const sums = [0];
  let tokens = 0;
  let counted = 0;
  for (const event of events) {
    const own = estimateEvent(event);
    const kind = estimateKind(event);
    if (kind !== null) kinds[kind] += own;
    tokens += own;
    sums.push(tokens);
    if (traitsOf(event).counted) counted += 1;
  }
  return {
    index,
    events: counted,
    tokens,
    kinds,
    answers: listAnswers(events).map(({ position, end, ...answer }) => ({
      ...answer,
      before: sums[position] ?? 0,
      through: sums[end] ?? 0,
      time: events[position]?.timestamp ?? "",
    })),
    model: modelOf(events),
    previous: previousTurn(events),
  };
}

/** The model that answers in these events, as the newest of them names it; null when none does. */
function modelOf(events: readonly Event[]): string | null {
  const model = events.findLast(({ type, metadata }) => type === "chat_response" && metadata?.model !== undefined);
  return typeof model?.metadata?.model === "string" ? model.metadata.model : null;
}

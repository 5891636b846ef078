// What counting a conversation needs to know of a turn. It is small, and follows from the turn alone: a turn that nothing shows is
// counted by it without being read.
import { type Event, isMessage, traitsOf } from "../event/event.ts";
import { previousTurn, type Turn } from "../event/turn.ts";
import { toolsDefinedIn } from "../tools/defined-tools.ts";
import { type EstimateKind, estimateEvent, estimateKind } from "./token-estimate.ts";
import { listAnswers, type Usage, type UsageRow } from "./usage.ts";

/** An answer, or the part of one that stands in a turn. Tokens are whole numbers of one counter. */
export interface AnswerFacts {
  /** Id that its events share, in other turns too; null of one that is a single event. */
  readonly message: string | null;
  /** Tokens of the turn's events before it, of a stretch's. */
  readonly before: number;
  /** Tokens of these events up to its end. */
  readonly through: number;
  /** Null where none is recorded. */
  readonly usage: Usage | null;
  /** As the agent wrote it. */
  readonly model?: string;
  /** When it began; empty when its event does not say. */
  readonly time: string;
  /** In a stretch, where else it may stand: before it (`back`), after it (`on`), nowhere; absent = on both sides, as that of a turn may. */
  readonly reach?: "back" | "on" | "none";
  /** In a stretch, which of its turns it begins in, 0-based; absent = the first. */
  readonly turn?: number;
}

/** What is known besides of turns that follow each other, taken together (`joinFacts`). */
export interface Stretch {
  /** Tokens of each turn. */
  readonly sizes: readonly number[];
  /** Messages of each turn. */
  readonly messages: readonly number[];
  /** The tools that are called, each with the first and the last of its turns that calls it, 0-based. */
  readonly calls: readonly (readonly [tool: string, first: number, last: number])[];
  /** Whether one of them was said after another turn than the one before it. */
  readonly isSpliced: boolean;
  /** The models that answered, each once, by when each did last. */
  readonly answered: readonly string[];
  /** Requests that were counted and are not among `answers`, oldest first; they stand before the answers that reach neither back nor both ways. */
  readonly inner: {
    /** Tokens of the stretch's events before each answer. */
    readonly before: readonly number[];
    /** Which of the turns each begins in, 0-based. */
    readonly turns: readonly number[];
    /** What was counted of each. */
    readonly usage: readonly UsageRow[];
    /** Models one after the other, each with how many requests it answered in a row. */
    readonly models: readonly (readonly [model: string | null, count: number])[];
  };
}

/** The facts of one turn, or of a stretch of turns. */
export interface TurnFacts {
  /** Position of the turn, of a stretch's first one, 0-based. */
  readonly index: number;
  /** Absent = it is one turn. */
  readonly stretch?: Stretch;
  /** Events of the kinds that are counted. */
  readonly events: number;
  /** Requests of the user and answers among them. */
  readonly messages: number;
  /** Names of the tools that are called, each once. */
  readonly tools: readonly string[];
  /** Names of the tools that config deltas among its events define, each once; absent = none. */
  readonly defines?: readonly string[];
  /** Tokens of all its events, whole. */
  readonly tokens: number;
  /** The same by kind. */
  readonly kinds: Readonly<Record<EstimateKind, number>>;
  readonly answers: readonly AnswerFacts[];
  /** The model that answered last; null when no answer names one. */
  readonly model: string | null;
  /** Object id of the turn file that it, or the first of a stretch, was said after, as it says. */
  readonly previous: string | null;
}

/** How many turns the facts are of. */
export function countTurns({ stretch }: Pick<TurnFacts, "stretch">): number {
  return stretch?.sizes.length ?? 1;
}

/** Tokens of each turn, in order. */
export function tokensByTurn(facts: readonly TurnFacts[]): readonly number[] {
  return facts.flatMap(({ stretch, tokens }) => stretch?.sizes ?? tokens);
}

/** Works the facts of a turn out. */
export function turnFacts({ index, events }: Turn): TurnFacts {
  const kinds = { requests: 0, messages: 0, reasoning: 0, tool_calls: 0, tool_results: 0, harness: 0 };
  /** Tokens of all events before each position; one longer than the events. */
  const sums = [0];
  let tokens = 0;
  let [counted, messages] = [0, 0];
  const tools = new Set<string>();
  const defines = toolsDefinedIn(events);
  for (const event of events) {
    const own = estimateEvent(event);
    const kind = estimateKind(event);
    if (kind !== null) kinds[kind] += own;
    tokens += own;
    sums.push(tokens);
    if (traitsOf(event).counted) counted += 1;
    if (isMessage(event)) messages += 1;
    if (event.type === "tool_call_request") tools.add(event.name);
  }
  return {
    index,
    events: counted,
    messages,
    tools: [...tools],
    ...(defines.length === 0 ? {} : { defines }),
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

// What a plan has lines for: the parts of the view, in its order, and, when asked for, the calls in them. Each has a place, by
// which it is written, and the stretch of the conversation that it stands for.
import type { Compaction } from "../compaction/compaction.ts";
import type { Pin } from "../compaction/pin.ts";
import { plainText, wordsOfContent } from "../event/content.ts";
import { type Event, type ToolCallRequest, traitsOf } from "../event/event.ts";
import { pairCalls } from "../event/tool-pairing.ts";
import type { Turn } from "../event/turn.ts";
import { commandsRun, filesNamed } from "../loss/call-traces.ts";
import type { ProjectedTurn, View } from "../projection/view.ts";
import { type CutRange, formatTurnRange, type TurnRange } from "../range/turn-range.ts";
import { forLine } from "../safe-text.ts";
import type { EditVerb } from "./edit-verb.ts";

/** One line's subject. */
export interface EditItem {
  /** As a plan writes it: `5`, `0..12`, `5:EVENT`; unique in its plan. */
  readonly place: string;
  readonly kind: "turn" | "summary" | "call";
  /** Raw turns and events that it stands for. */
  readonly range: CutRange;
  /** Of a call: the id of its request. */
  readonly call?: string;
  /** Of a summary: the compaction that it is of. */
  readonly compaction?: string;
  /** How it stands: that line changes nothing. */
  readonly verb: Extract<EditVerb, "keep" | "pin">;
  /** Tokens of it in the view, not rounded. */
  readonly tokens: number;
  /** Of its first event; "" when that says none. */
  readonly time: string;
  /** Its first words, on one line. */
  readonly words: string;
}

/** What items are made from. */
export interface ItemFacts {
  /** Without its index, which no line is about. */
  readonly view: View;
  readonly turns: ReadonlyMap<number, Turn>;
  /** Those in force. */
  readonly compactions: readonly Compaction[];
  readonly pins: readonly Pin[];
  /** Tokens of an event, not rounded. */
  readonly count: (event: Event) => number;
  /** Whether calls have lines of their own. */
  readonly calls: boolean;
}

/** Longest words of an item, characters. */
const WORDS = 120;
/** Least characters of an event's id in a place. */
const PREFIX = 8;

/** Lists what a plan of a view has lines for, in order. */
export function itemsOf(facts: ItemFacts): readonly EditItem[] {
  const taken = new Set<string>();
  return facts.view.turns.flatMap((projected) => {
    const item = itemOf(projected, facts);
    const place = freePlace(item.place, item.range, taken);
    taken.add(place);
    return [{ ...item, place }, ...(facts.calls ? callsOf(projected, facts) : [])];
  });
}

function itemOf(projected: ProjectedTurn, { compactions, pins, count, turns }: ItemFacts): EditItem {
  const { origin, events } = projected;
  const common = {
    tokens: events.reduce((sum, event) => sum + count(event), 0),
    time: events[0]?.timestamp ?? "",
  };
  if (origin.kind !== "kept") {
    const compaction = compactions.find(({ id }) => id === origin.compaction);
    const range = summaryRange(origin, compaction ?? {}, turns);
    const text = compaction?.summary?.summary;
    const words = `[${origin.kind}] ${text === undefined ? wordsOf(events.findLast(isVisible)) : forLine(text, WORDS)}`;
    const place = formatTurnRange({ from: origin.from, to: origin.to });
    return { place, kind: "summary", range, compaction: origin.compaction, verb: "keep", ...common, words };
  }
  const { turn } = origin;
  const isPinned = pins.some((pin) => pin.turn === turn && pin.event === undefined);
  return {
    place: String(turn),
    kind: "turn",
    range: origin.part === true ? partRange(turn, events, turns) : { from: turn, to: turn },
    verb: isPinned ? "pin" : "keep",
    ...common,
    words: wordsOf(events.find(isAsked) ?? events.find(isVisible)),
  };
}

/** The turns that a summary stands for, cut where it is; as in a projection, an end that is not there is none. */
function summaryRange(
  { from, to }: TurnRange,
  { from_event, to_event }: Pick<Compaction, "from_event" | "to_event">,
  turns: ReadonlyMap<number, Turn>,
): CutRange {
  const isThere = (turn: number, event: string): boolean =>
    turns.get(turn)?.events.some(({ id }) => id === event) !== false;
  const isFrom = from_event !== undefined && isThere(from, from_event);
  return {
    from: from_event === undefined || isFrom ? from : Math.min(from + 1, to),
    ...(isFrom ? { fromEvent: from_event } : {}),
    to,
    ...(to_event !== undefined && isThere(to, to_event) ? { toEvent: to_event } : {}),
  };
}

/** What is shown of a turn, from its first event to its last; ends that are the turn's own are not named. */
function partRange(turn: number, events: readonly Event[], turns: ReadonlyMap<number, Turn>): CutRange {
  const raw = turns.get(turn)?.events.filter(isVisible) ?? [];
  const shown = events.filter(isVisible);
  const [first, last] = [shown[0]?.id, shown.at(-1)?.id];
  return {
    from: turn,
    ...(first === undefined || first === raw[0]?.id ? {} : { fromEvent: first }),
    to: turn,
    ...(last === undefined || last === raw.at(-1)?.id ? {} : { toEvent: last }),
  };
}

/** The calls that are shown of a turn, each with its result. */
function callsOf({ origin, events }: ProjectedTurn, { turns, pins, count }: ItemFacts): readonly EditItem[] {
  if (origin.kind !== "kept") return [];
  const { turn } = origin;
  const ids = (turns.get(turn)?.events ?? events).map(({ id }) => id);
  const pairs = pairCalls([{ index: turn, events }], () => false);
  const answers = new Map([...pairs].map(([answer, call]) => [call, answer] as const));
  const calls = events.filter((event) => event.type === "tool_call_request");
  return calls.map((call, at): EditItem => {
    const answer = answers.get(call);
    return {
      place: `${turn}:${shortId(call.id, ids, at)}`,
      kind: "call",
      range: { from: turn, fromEvent: call.id, to: turn, toEvent: answer?.id ?? call.id },
      call: call.id,
      verb: pins.some((pin) => pin.turn === turn && pin.event === call.id) ? "pin" : "keep",
      tokens: count(call) + (answer === undefined ? 0 : count(answer)),
      time: call.timestamp,
      words: callWords(call),
    };
  });
}

/** The start of an id that no other has; where ids cannot stand in a plan, the number of the call, from 0. */
function shortId(id: string, all: readonly string[], at: number): string {
  if (!/^[\w.:-]+$/.test(id)) return `#${at}`;
  const others = all.filter((other) => other !== id && other.startsWith(id.slice(0, PREFIX)));
  let length = PREFIX;
  while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) length += 1;
  return id.slice(0, length);
}

/** A turn that stands in several lines is written with the event at which the later ones begin. */
function freePlace(place: string, { fromEvent }: CutRange, taken: ReadonlySet<string>): string {
  if (!taken.has(place)) return place;
  if (fromEvent !== undefined && /^[\w.:-]+$/.test(fromEvent)) {
    for (let length = PREFIX; length < fromEvent.length + PREFIX; length++) {
      const named = `${place}@${fromEvent.slice(0, length)}`;
      if (!taken.has(named)) return named;
    }
  }
  let number = 2;
  while (taken.has(`${place}@${number}`)) number += 1;
  return `${place}@${number}`;
}

function isVisible(event: Event): boolean {
  return traitsOf(event).providerVisible;
}

function isAsked(event: Event): boolean {
  return event.type === "chat_request" && (event.role ?? "user") === "user";
}

function callWords({ name, arguments: args }: ToolCallRequest): string {
  const [subject = ""] = [...commandsRun(args), ...filesNamed(args)];
  return forLine(`${name} ${subject}`, WORDS);
}

function wordsOf(event: Event | undefined): string {
  switch (event?.type) {
    case "chat_request":
      return forLine(wordsOfContent(event.content), WORDS);
    case "chat_response":
      return forLine(
        event.message === undefined ? plainText(event.reasoning ?? "") : wordsOfContent(event.message),
        WORDS,
      );
    case "tool_call_request":
      return callWords(event);
    case "tool_call_response":
      return forLine(wordsOfContent(event.content), WORDS);
    default:
      return "";
  }
}

// What the lines of an exported session are named after. A format derives the ids that it writes from these names, so that an
// import knows the lines of an export again without making the export again: it derives the ids, and looks for them.
import { type Event, traitsOf, type View } from "../core/conversation/event.ts";
import { type CallPairs, pairCalls } from "../core/conversation/tool-pairing.ts";

/** A source of lines, and what a line of that name shows. */
export interface LineSource {
  /** Id of an event, of a compaction (the lines of its summary), or `boundaryName`; "" = what stands before all others. */
  readonly name: string;
  /** Event or compaction that it shows; "" = none. */
  readonly shows: string;
  /** The turn of the conversation that it belongs to, 0-based; absent = to none. */
  readonly turn?: number;
  /** The message that an event is a part of, a result of its call's: a format may write all of it as one line, named after the first. */
  readonly message?: string;
}

/**
 * Names the line of a source: the `n`-th, 0-based. A line that shows nothing by itself, such as a result that hardening made
 * up, is a further line of the source before it.
 */
export function lineName(source: string, n: number): string {
  return n === 0 && source !== "" ? source : `${source}#${n}`;
}

/** Names the line by which an agent marks where its own compacted history begins. */
export function boundaryName(compaction: string): string {
  return `${compaction}.boundary`;
}

/** Lists everything that an export of a view may name lines after, in the order of the view. */
export function* listLineSources({ turns }: View): Generator<LineSource> {
  const calls = pairCalls(
    turns.map(({ events }, index) => ({ index, events })),
    () => false,
  );
  yield { name: "", shows: "" };
  for (const { origin, events } of turns) {
    const turn = origin.kind === "kept" ? origin.turn : origin.to;
    if (origin.kind !== "kept" && origin.kind !== "index") {
      yield { name: boundaryName(origin.compaction), shows: origin.compaction, turn };
      yield { name: origin.compaction, shows: origin.compaction, turn };
    }
    for (const event of events) {
      const message = messageOf(event, calls);
      const source = { name: event.id, shows: event.id, turn };
      if (traitsOf(event).providerVisible) yield message === undefined ? source : { ...source, message };
    }
  }
}

function messageOf(event: Event, calls: CallPairs): string | undefined {
  const said = event.type === "tool_call_response" ? calls.get(event) : event;
  return said?.metadata?.message_id;
}

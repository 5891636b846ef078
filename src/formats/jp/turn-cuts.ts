// Entries cut into turns. A turn runs from a `turn_start` to before the next one; what is said before the first is a turn as well,
// without a start of its own; what is not said belongs to the turn that it stands in.

import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { isTalk } from "./entry-kind.ts";
import { eventOfEntry, type Model, modelOfDelta, type StreamReading } from "./events.ts";
import type { StreamEntry } from "./stream.ts";

/** What marks the start of a turn that jp's stream does not have. */
export const IMPLIED = "implied";

/** An entry that is no event, and the event that it stands behind; absent = before all of its turn. */
export interface PlacedEntry {
  readonly entry: StreamEntry;
  readonly after?: string;
}

/** One turn, its entries in the order of the stream. */
export interface StreamTurn {
  /** Its `turn_start`; null = the stream has none. */
  readonly start: StreamEntry | null;
  readonly entries: readonly StreamEntry[];
  readonly overlays: readonly PlacedEntry[];
  readonly model: Model | undefined;
}

/** Cuts the entries of a stream. Settings and compactions alone are no turn. */
export function cutStream(entries: readonly StreamEntry[]): readonly StreamTurn[] {
  const first = entries.findIndex(({ kind }) => isTalk(kind));
  if (first < 0) return entries.some(({ kind }) => kind === "unknown") ? [createTurn(null, entries)] : [];
  const starts = entries.flatMap(({ kind }, at) => (at === first || kind === "turn_start" ? [at] : []));
  const leading = entries.slice(0, first);
  let model = modelAfter(leading, undefined);
  return starts.map((at, turn) => {
    const own = entries.slice(at, starts[turn + 1]);
    const start = own[0]?.kind === "turn_start" ? own[0] : null;
    const rest = start === null ? own : own.slice(1);
    const cut = createTurn(start, turn === 0 ? [...leading, ...rest] : rest, model);
    model = modelAfter(own, model);
    return cut;
  });
}

function createTurn(start: StreamEntry | null, all: readonly StreamEntry[], model?: Model): StreamTurn {
  const entries = all.filter(({ kind }) => kind !== "compaction");
  const overlays = all.flatMap((entry, at): PlacedEntry[] => {
    if (entry.kind !== "compaction") return [];
    const before = all.slice(0, at).findLast(({ kind }) => kind !== "compaction") ?? start;
    return [{ entry, ...(before !== null && { after: before.id }) }];
  });
  return { start, entries, overlays, model };
}

/** The model that answers after some entries. */
function modelAfter(entries: readonly StreamEntry[], before: Model | undefined): Model | undefined {
  return entries.reduce(
    (model, { kind, raw }) => (kind === "config_delta" ? (modelOfDelta(raw) ?? model) : model),
    before,
  );
}

/** Gives the time at which a turn begins. */
export function timeOfTurn({ start, entries }: StreamTurn): string {
  return (start ?? entries[0])?.timestamp ?? "";
}

/** Reads the events of a turn, its `turn_start` first. */
export function readStreamTurn(turn: StreamTurn, decode: StreamReading["decode"]): readonly Event[] {
  let { model } = turn;
  let message: string | undefined;
  const events = turn.entries.map((entry) => {
    if (entry.kind === "config_delta") model = modelOfDelta(entry.raw) ?? model;
    const isAnswer = entry.kind === "chat_response" || entry.kind === "tool_call_request";
    if (isAnswer) message ??= entry.id;
    else if (isTalk(entry.kind)) message = undefined;
    return eventOfEntry(entry, {
      decode,
      ...defined({ model, message }),
    });
  });
  return [startOf(turn, decode), ...events];
}

function startOf(turn: StreamTurn, decode: StreamReading["decode"]): Event {
  if (turn.start !== null) return eventOfEntry(turn.start, { decode });
  const id = `${turn.entries[0]?.id ?? "empty"}.turn`;
  return { type: "turn_start", id, timestamp: timeOfTurn(turn), metadata: { origin: IMPLIED } };
}

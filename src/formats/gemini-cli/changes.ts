// What the agent did to its list beside adding to it, as compactions: what stood there is replaced by what its new list says in
// that place, and what it still says at the end stays.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import { addMilliseconds } from "../timestamp.ts";
import { readPieceEvent } from "./events.ts";
import type { RecordPlace, SessionRecords } from "./records.ts";
import { eventId, lastEventId, type TurnEntry } from "./turn-entry.ts";
import type { SessionTurn } from "./turns.ts";

export interface Change {
  /** What its compaction and the events of its list are named after. */
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The first entry that it covers; null = from the beginning. */
  readonly from: TurnEntry | null;
  /** The last one. */
  readonly last: TurnEntry;
  /** Those among them that stay. */
  readonly keep: readonly TurnEntry[];
  /** What is said instead, in order. */
  readonly pieces: readonly { readonly message: string; readonly name: string; readonly place: RecordPlace }[];
  /** Why something is not sent any more, where the agent did not say that. */
  readonly reason?: string;
}

/** The changes that are left once everything from an entry on was taken off; `last` = the last entry that is left. */
export function cutChanges(changes: readonly Change[], order: number, last: TurnEntry | undefined): Change[] {
  return changes.flatMap((change) => {
    if (change.last.order < order) return [change];
    const isGone = last === undefined || (change.from !== null && change.from.order > last.order);
    return isGone ? [] : [{ ...change, last, keep: change.keep.filter((entry) => entry.order < order) }];
  });
}

/** Makes the compactions, oldest first, with rising timestamps. */
export function toCompactions(
  changes: readonly Change[],
  { turns, records }: { readonly turns: readonly SessionTurn[]; readonly records: SessionRecords },
): readonly Compaction[] {
  if (changes.length === 0) return [];
  const turnOf = new Map(turns.flatMap(({ index, entries }) => entries.map((entry) => [entry, index] as const)));
  const compactions: Compaction[] = [];
  for (const change of changes) {
    const { id, timestamp, from, last, keep, reason } = change;
    const after = compactions.at(-1)?.timestamp;
    const isLater = after === undefined || compareTimestamps(timestamp, after) > 0;
    const replacement = replacementOf(change, records);
    const kept = keep.flatMap(({ base, names }) => names.filter(isSentName).map((name) => eventId(base, name)));
    compactions.push({
      type: "compaction",
      id: deriveName(`${id}.list`),
      timestamp: isLater ? timestamp : addMilliseconds(after, 1),
      from_turn: from === null ? 0 : (turnOf.get(from) ?? 0),
      to_turn: turnOf.get(last) ?? 0,
      ...(from !== null && { from_event: eventId(from.base, from.names[0] ?? "") }),
      to_event: lastEventId(last),
      ...(kept.length > 0 && { keep: kept }),
      ...(replacement.length > 0 ? { replacement } : { turns: "omit" as const }),
      ...defined({ reason }),
      source: "import",
      metadata: { line: id },
    });
  }
  return compactions;
}

function isSentName(name: string): boolean {
  return name !== "usage";
}

/** Events of one message share the id of the first. */
function replacementOf({ id, timestamp, pieces }: Change, records: SessionRecords): readonly Event[] {
  let answer = { message: "", id: "" };
  return pieces.flatMap(({ message, name, place }, at) => {
    const own = `${id}.${at}`;
    if (answer.message !== message) answer = { message, id: own };
    return readPieceEvent(records.at(place), name, { id: own, timestamp, messageId: answer.id }) ?? [];
  });
}

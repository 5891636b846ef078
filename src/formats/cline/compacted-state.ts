// What Cline sends since it compacted a session: a list of messages in a file beside the session's, which keeps them all. What
// that list says otherwise becomes a compaction; what it says as the session does stays, and what follows it is said as ever.
import { type Compaction, compareTimestamps } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { deriveName } from "../derived-name.ts";
import { readTimestamp } from "../timestamp.ts";
import type { ClineDocument } from "./document.ts";
import { type ClineMessage, eventsOf } from "./messages.ts";

/** Messages of a session and, of those, the ones that stand otherwise in what is sent. */
export interface CompactedState {
  /** Those of the session, with those that only the state has: they were said since. */
  readonly messages: readonly ClineMessage[];
  /** What is not sent as it was said, never empty; null = everything is. */
  readonly change: StateChange | null;
}

interface StateChange {
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The last message that the session had when it was compacted. */
  readonly newest: ClineMessage;
  /** Messages of the session in a row, never empty. */
  readonly covered: readonly ClineMessage[];
  /** What is sent in their place. */
  readonly shown: readonly ClineMessage[];
}

/** Compares a session with what is sent of it. */
export function compareState(
  session: readonly ClineMessage[],
  state: readonly ClineMessage[],
  { updatedAt }: Pick<ClineDocument, "updatedAt">,
): CompactedState {
  const places = new Map(session.map(({ id }, at) => [id, at]));
  const isOld = (message: ClineMessage): boolean => places.has(message.id) || isMade(message);
  const old = state.slice(0, state.findLastIndex(isOld) + 1);
  const messages = [...session, ...state.slice(old.length)];
  const made = readTimestamp(updatedAt);
  const end = endOfSession(session, places, { last: old.at(-1), made });
  const before = session.slice(0, end + 1);
  const newest = before.at(-1);
  if (newest === undefined || old.length === 0) return { messages, change: null };
  const [first, rest] = commonEnds(before, old);
  const covered = before.slice(first, before.length - rest);
  const shown = old.slice(first, old.length - rest);
  if (covered.length > 0) return { messages, change: { timestamp: made ?? newest.timestamp, newest, covered, shown } };
  if (shown.length === 0) return { messages, change: null };
  // What was added stands beside something that stayed.
  const [from, to] = rest > 0 ? [first, first + 1] : [first - 1, first];
  const beside = before.slice(from, to);
  const both = old.slice(from, old.length - rest + (to - first));
  return { messages, change: { timestamp: made ?? newest.timestamp, newest, covered: beside, shown: both } };
}

/** Where the session ended when it was compacted: at the message that the state ends with, else by the time. */
function endOfSession(
  session: readonly ClineMessage[],
  places: ReadonlyMap<string, number>,
  { last, made }: { readonly last: ClineMessage | undefined; readonly made: string | undefined },
): number {
  const known = last === undefined ? undefined : places.get(last.id);
  if (known !== undefined || made === undefined) return known ?? session.length - 1;
  return session.findLastIndex(({ timestamp }) => compareTimestamps(timestamp, made) <= 0);
}

/** Cline marks what it wrote, and what it kept. */
function isMade({ about }: ClineMessage): boolean {
  return about["kind"] !== undefined || about["compaction"] !== undefined;
}

/** How many first, and then how many last messages say the same in both lists. */
function commonEnds(a: readonly ClineMessage[], b: readonly ClineMessage[]): readonly [first: number, last: number] {
  const [x, y] = [a.map(wordsOf), b.map(wordsOf)];
  const most = Math.min(a.length, b.length);
  let first = 0;
  while (first < most && x[first] === y[first]) first++;
  let last = 0;
  while (last < most - first && x.at(-1 - last) === y.at(-1 - last)) last++;
  return [first, last];
}

/** What a message says, without what was counted. */
function wordsOf({ said, isUsers }: ClineMessage): string {
  return JSON.stringify([
    isUsers,
    said.map(({ metadata, ...words }) => [words, metadata?.origin, metadata?.signature]),
  ]);
}

/** Makes the compaction; `turnOf` gives the turn of a message, `opens` whether it opens one. */
export function toCompaction(
  { timestamp, covered, shown }: StateChange,
  session: string,
  where: { readonly turnOf: (message: ClineMessage) => number; readonly opens: (message: ClineMessage) => boolean },
): Compaction {
  const [first, last] = [covered[0] as ClineMessage, covered.at(-1) as ClineMessage];
  const id = deriveName(`${session}.compacted.${last.id}.${JSON.stringify(shown.map(wordsOf))}`);
  const replacement = copiesOf(shown, id);
  const { kind, reason, messagesRemoved } = shown.find(isMade)?.about ?? {};
  return {
    type: "compaction",
    id,
    timestamp,
    from_turn: where.turnOf(first),
    to_turn: where.turnOf(last),
    ...(!where.opens(first) && { from_event: first.id }),
    to_event: eventsOf(last).at(-1)?.id ?? last.id,
    ...(replacement.length > 0 ? { replacement } : { turns: "omit" as const }),
    source: "import",
    metadata: {
      ...defined({ kind, reason, messagesRemoved }),
      line: first.id,
    },
  };
}

/** Events of their own: those of the session may stand beside them. What was counted is counted there. */
function copiesOf(messages: readonly ClineMessage[], id: string): readonly Event[] {
  let n = 0;
  return messages.flatMap((message) => {
    const answer = `${id}.${n}`;
    return eventsOf(message).map((event): Event => {
      const { usage: _, ...metadata } = event.metadata ?? {};
      const isAnswer = metadata.message_id !== undefined;
      const own = { ...metadata, ...(isAnswer && { message_id: answer }) };
      const { metadata: __, ...words } = event;
      return { ...words, id: `${id}.${n++}`, ...(Object.keys(own).length > 0 && { metadata: own }) } as Event;
    });
  });
}

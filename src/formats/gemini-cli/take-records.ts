// What each record does to the agent's list of messages: it adds a message, or more to one, replaces all of them, or goes back.
import { appendAll } from "../../core/lists.ts";
import { isRecord, stringOf } from "../json-line.ts";
import { type History, tell } from "./history.ts";
import type { RecordPlace } from "./records.ts";
import { commonStart, type ListedMessage, partsOfMessage, type SaidPart } from "./sent-parts.ts";
import { leave, settle, toSent } from "./settle.ts";

/** Takes in a message: a new one, or one that is there with more in it, or with other words. */
export function takeMessage(history: History, message: ListedMessage): void {
  const { sent, list } = history;
  const { start, end } = list.get(message.id) ?? { start: sent.length, end: sent.length };
  const { said, pieces } = partsOfMessage(message, sent, start);
  const held = end - start;
  const splits = held > 0 && said[held]?.name === said[held - 1]?.name;
  if (end === sent.length && !splits && commonStart(said, sent.slice(start)) === held) {
    appendAll(sent, toSent(said.slice(held), tell(history, message, pieces)));
    list.set(message.id, { start, end: sent.length });
    return;
  }
  settle(history, [...sent.slice(0, start), ...said, ...sent.slice(end)], { place: message.place });
  tell(
    history,
    message,
    pieces.filter(({ parts }) => parts.length === 0),
  );
  relist(history);
}

/** Takes in a list of messages that replaces the agent's. */
export function takeList(history: History, messages: readonly unknown[], place: RecordPlace): void {
  const said: SaidPart[] = [];
  const ends: [id: string, end: number][] = [];
  for (const [at, record] of messages.entries()) {
    const id = isRecord(record) ? stringOf(record, "id") : undefined;
    if (id === undefined || !isRecord(record)) continue;
    const message = { id, record, place: { ...place, at } };
    appendAll(said, partsOfMessage(message, said, said.length).said);
    ends.push([id, said.length]);
  }
  settle(history, said, { place });
  let start = 0;
  const list: History["list"] = new Map();
  for (const [id, end] of ends) {
    list.set(id, { start, end });
    start = end;
  }
  history.list = list;
}

/** Goes back to before a message; of one that is not there the agent sends nothing any more. */
export function goBack(history: History, id: string, place: RecordPlace): void {
  const { sent, list } = history;
  const start = list.get(id)?.start;
  if (start === undefined) {
    settle(history, [], { place, reason: "unknown-message" });
    list.clear();
    return;
  }
  const own = history.turns.turns.findLast(({ entries }) => entries.some(({ message }) => message === id));
  leave(history, sent.slice(0, start), { place, entry: own?.entries.find(({ message }) => message === id) });
  const ids = [...list.keys()];
  for (const gone of ids.slice(ids.indexOf(id))) list.delete(gone);
}

/** Finds the messages of the list again by the parts that are sent. */
function relist(history: History): void {
  const list: History["list"] = new Map([...history.list.keys()].map((id) => [id, { start: 0, end: 0 }]));
  for (const [at, { message }] of history.sent.entries()) {
    const known = list.get(message);
    list.set(message, known === undefined || known.end === 0 ? { start: at, end: at + 1 } : { ...known, end: at + 1 });
  }
  let end = 0;
  for (const [id, place] of list) {
    if (place.end === 0) list.set(id, { start: end, end });
    end = list.get(id)?.end ?? end;
  }
  history.list = list;
}

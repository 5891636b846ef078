// jpg's view in a running session of pi: as edits of its entries (`context_edit`), or as a summary and the entries after it.
import { type Event, type ProjectedTurn, textOfContent, traitsOf, type View } from "../../core/conversation/event.ts";
import type { LiveWriter } from "../agent-format.ts";
import type { LiveEdit, LiveEdits, LiveSummary, RunningSession } from "../live-writer.ts";
import type { RawLine } from "../session-source.ts";
import { blocksOf } from "./entries.ts";
import { blocksOfContent, compactedSummary } from "./events.ts";
import { type OwnEntry, type OwnPath, readOwnPath } from "./live-path.ts";
import { type LooseMessage, placeView, type ShownEntry, type ShownView } from "./live-view.ts";

export const PI_LIVE: LiveWriter = { edits: piEdits, summary: piSummary };

/** In place of a summary where nothing is summarised any more: pi shows no compaction without a text. */
const TAKEN_BACK = "Nothing is summarised here any more: the messages themselves follow.";

const NO_IDS = "The session has no ids yet: pi adds them when it opens the file.";
const FIXED = "pi cannot change a command that the user ran with `!`, nor the summary of a branch: it is sent whole.";
const MOVED = "A summary or the index is part of the message next to its place.";
const NOWHERE = "A summary or the index has no message to be part of, and is not sent.";

/** The context that edits start from: what pi sends from a place on. */
interface Start {
  readonly at: number;
  /** Edits of the path count from here on. */
  readonly position: number;
  readonly restart: LiveSummary | undefined;
  /** Messages that still need a place. */
  readonly loose: readonly LooseMessage[];
}

function piEdits(session: RunningSession, view: View): LiveEdits {
  const path = readOwnPath(session);
  if (path === null) return { edits: [], differences: [NO_IDS] };
  const shown = placeView(session, path, view);
  const start = startOf(path, shown, view);
  const placed = placeLoose(path, shown, start);
  const inForce = editsSince(start.position, path);
  const differences = new Set(placed.differences);
  const edits = path.entries.slice(start.at).flatMap((own): readonly LiveEdit[] => {
    const wanted = contentOf(own, shown.entries.get(own), placed);
    const replacement = replacementFor(own, wanted, inForce.get(own.entry.id));
    if (replacement === undefined) return [];
    if (own.canEdit) return [{ handle: own.entry.id, replacement }];
    differences.add(FIXED);
    return [];
  });
  return { edits, differences: [...differences], restart: start.restart };
}

/** Edits cannot show what pi's compaction hides, nor hide its summary: then a new one keeps all that is shown. */
function startOf({ compaction, entries }: OwnPath, shown: ShownView, view: View): Start {
  const loose = shown.loose.filter(({ isOwn }) => !isOwn);
  if (compaction === undefined) return { at: 0, position: 0, restart: undefined, loose };
  const from = firstShown(entries, shown);
  const { firstKept: at, position } = compaction;
  if (loose.length < shown.loose.length && from >= at) return { at, position, restart: undefined, loose };
  const kept = entries.slice(at).find((own) => shown.entries.has(own) || !own.canEdit);
  const first = kept && shown.entries.get(kept)?.events[0];
  if ((kept === undefined || first !== undefined) && textOf(view, first) === compaction.summary)
    return { at, position, restart: undefined, loose: loose.filter((message) => message.after >= at) };
  const start = entries[from] ?? entries.at(-1);
  const text = textOf(view, start && shown.entries.get(start)?.events[0]);
  return {
    at: start?.at ?? 0,
    position: start?.position ?? 0,
    restart: { text: text === "" ? TAKEN_BACK : text, firstKept: start?.entry.id ?? compaction.entry.id },
    loose: shown.loose.filter((message) => message.after >= 0),
  };
}

/** The newest edit of each entry, from a position of the path on. */
function editsSince(position: number, { edits }: OwnPath): ReadonlyMap<string, RawLine | null> {
  return new Map(
    edits.filter((edit) => edit.position >= position).map(({ target, replacement }) => [target, replacement]),
  );
}

/** Place of the first entry that the view shows; the number of entries if it shows none. */
function firstShown(entries: readonly OwnEntry[], shown: ShownView): number {
  const first = entries.findIndex((own) => shown.entries.has(own));
  return first < 0 ? entries.length : first;
}

/** How an entry is sent; undefined = not at all. */
type Content = { readonly isOriginal: boolean; readonly blocks: readonly RawLine[] } | undefined;

function contentOf(own: OwnEntry, shown: ShownEntry | undefined, placed: Placed): Content {
  const [instead, before, after] = [placed.instead.get(own), placed.before.get(own), placed.after.get(own)];
  if (shown === undefined) return instead === undefined ? undefined : { isOriginal: false, blocks: instead };
  if (shown.edited !== undefined) return { isOriginal: false, blocks: blocksOf(shown.edited["content"]) };
  const isWhole = before === undefined && after === undefined;
  if (isWhole && isUnchanged(own, shown)) return { isOriginal: true, blocks: blocksOf(own.content) };
  const blocks = [...(before ?? []), ...shownBlocks(own, shown), ...(after ?? [])];
  return blocks.length === 0 ? undefined : { isOriginal: false, blocks };
}

function isUnchanged(own: OwnEntry, { events }: ShownEntry): boolean {
  return events.length === own.events.length && events.every((event, at) => isSame(event, own.events[at]));
}

function isSame(event: Event, other: Event | undefined): boolean {
  return other !== undefined && (event === other || saidBy(event) === saidBy(other));
}

/** What a model is sent of an event. A call that jpg wrote may have another id in the session than in the conversation. */
function saidBy(event: Event): string {
  switch (event.type) {
    case "chat_request":
      return JSON.stringify(["request", event.content]);
    case "chat_response":
      return JSON.stringify(["response", event.message, event.reasoning, event.data]);
    case "tool_call_request":
      return JSON.stringify(["call", event.name, event.arguments]);
    case "tool_call_response":
      return JSON.stringify(["result", event.content, event.is_error]);
    default:
      return event.type;
  }
}

/** The blocks of the events that are shown: those that are unchanged as they were written. */
function shownBlocks(own: OwnEntry, { events }: ShownEntry): readonly RawLine[] {
  if (own.role !== "assistant") return events.flatMap((event) => requestBlocks(own, event));
  const blocks = blocksOf(own.content);
  const parts = new Map<string, number[]>();
  for (const [at, event] of [...own.events.entries()].reverse()) {
    for (const key of [event.id, partKey(event)]) {
      const places = parts.get(key) ?? [];
      places.push(at);
      parts.set(key, places);
    }
  }
  return events.flatMap((event): readonly RawLine[] => {
    const at = (parts.get(event.id) ?? parts.get(partKey(event)))?.pop() ?? -1;
    const block = blocks[at];
    return block !== undefined && isSame(event, own.events[at]) ? [block] : newBlocks(event, block);
  });
}

/** Finds the part of an answer that jpg wrote: its events have other ids than in the view, and calls may be shortened there. */
function partKey(event: Event): string {
  return event.type === "tool_call_request" ? JSON.stringify(["call", event.name]) : saidBy(event);
}

function requestBlocks(own: OwnEntry, event: Event): readonly RawLine[] {
  if (own.events.some((one) => isSame(event, one))) return blocksOf(own.content);
  return event.type === "chat_request" || event.type === "tool_call_response" ? blocksOfContent(event.content) : [];
}

/** Blocks of what differs; `block` = as it was written. */
function newBlocks(event: Event, block: RawLine = {}): readonly RawLine[] {
  if (event.type === "tool_call_request") {
    const given = event.arguments;
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given);
    const call = { type: "toolCall", id: event.call_id, name: event.name, ...block };
    return [{ ...call, arguments: isObject ? given : { input: given } }];
  }
  // Reasoning that was changed has no signature that a provider accepts.
  return event.type === "chat_response" && event.message !== undefined ? blocksOfContent(event.message) : [];
}

/** The edit that an entry needs; undefined = none. `now` = the edit in force, undefined = none. */
function replacementFor(own: OwnEntry, wanted: Content, now: RawLine | null | undefined): unknown {
  if (wanted === undefined) return now === null ? undefined : null;
  const is = now === undefined ? blocksOf(own.content) : now === null ? undefined : blocksOf(now["content"]);
  const isAsWritten = now === undefined && wanted.isOriginal;
  if (isAsWritten || (is !== undefined && JSON.stringify(is) === JSON.stringify(wanted.blocks))) return undefined;
  return { content: wanted.isOriginal ? own.content : wanted.blocks };
}

// Messages without an entry take the place of entries that are not shown.

interface Placed {
  /** In place of an entry. */
  readonly instead: Map<OwnEntry, readonly RawLine[]>;
  /** In front of an entry's own blocks. */
  readonly before: Map<OwnEntry, readonly RawLine[]>;
  readonly after: Map<OwnEntry, readonly RawLine[]>;
  readonly differences: string[];
}

/** No message moves. */
const AS_THEY_ARE: Placed = { instead: new Map(), before: new Map(), after: new Map(), differences: [] };

interface Placing extends Placed {
  readonly entries: readonly OwnEntry[];
  readonly start: number;
  /** Entries that are not shown, by role, in order; each is looked at once. */
  readonly free: Readonly<Record<LooseMessage["role"], OwnEntry[]>>;
  /** The newest one taken. */
  taken: OwnEntry | undefined;
}

function placeLoose({ entries }: OwnPath, shown: ShownView, { at: start, loose }: Start): Placed {
  const free = entries.filter((own) => own.at >= start && own.canEdit && !shown.entries.has(own)).reverse();
  const placing: Placing = {
    entries,
    start,
    free: {
      user: free.filter(({ role }) => role === "user"),
      assistant: free.filter(({ role }) => role === "assistant"),
    },
    instead: new Map(),
    before: new Map(),
    after: new Map(),
    differences: [],
    taken: undefined,
  };
  const firstUser = entries.find((own) => own.at >= start && own.role === "user" && shown.entries.has(own));
  for (const message of loose.filter(({ blocks }) => blocks.length > 0)) {
    if (!takeFree(message, placing)) joinNeighbour(message, placing, firstUser);
  }
  return placing;
}

/** The messages come in order, so an entry that is too early for one is too early for all that follow. */
function takeFree({ role, blocks, after, before }: LooseMessage, placing: Placing): boolean {
  const list = placing.free[role];
  const from = Math.max(after, placing.taken?.at ?? -1);
  while ((list.at(-1)?.at ?? Number.POSITIVE_INFINITY) <= from) list.pop();
  if ((list.at(-1)?.at ?? before) >= before) return false;
  const own = list.pop() as OwnEntry;
  placing.instead.set(own, blocks);
  placing.taken = own;
  return true;
}

function joinNeighbour(
  { blocks, after, before }: LooseMessage,
  placing: Placing,
  firstUser: OwnEntry | undefined,
): void {
  const { entries, taken, start } = placing;
  const [next, previous] = [entries[before], entries[after]];
  const join = (map: Map<OwnEntry, readonly RawLine[]>, own: OwnEntry): void => {
    map.set(own, [...(map.get(own) ?? []), ...blocks]);
  };
  if (taken !== undefined && taken.at > after) join(placing.instead, taken);
  else if (next?.canEdit === true && next.role === "user") join(placing.before, next);
  else if (previous?.canEdit === true && previous.role !== "assistant" && after >= start) join(placing.after, previous);
  else if (firstUser?.canEdit === true) join(placing.before, firstUser);
  else {
    placing.differences.push(NOWHERE);
    return;
  }
  placing.differences.push(MOVED);
}

// A view as a text and the entries that follow it.

function piSummary(session: RunningSession, view: View): LiveSummary | null {
  const path = readOwnPath(session);
  if (path === null) return null;
  const shown = placeView(session, path, view);
  const { entries, compaction } = path;
  const { firstKept = 0, position = 0 } = compaction ?? {};
  const inForce = editsSince(position, path);
  const isAsSent = (own: OwnEntry): boolean =>
    replacementFor(own, contentOf(own, shown.entries.get(own), AS_THEY_ARE), inForce.get(own.entry.id)) === undefined;
  const loose = shown.loose.reduce((place, { before }) => Math.max(place, before), 0);
  const changed = entries.findLastIndex((own) => !isAsSent(own));
  const from = Math.max(loose, changed + 1);
  const first = entries.slice(from).find((own) => shown.entries.has(own) && own.role !== "result");
  if (first === undefined) return null;
  const text = textOf(view, shown.entries.get(first)?.events[0]);
  if (text !== "") return { text, firstKept: first.entry.id };
  const isHidden = compaction !== undefined && !(shown.loose.some(({ isOwn }) => isOwn) && first.at >= firstKept);
  return isHidden ? { text: TAKEN_BACK, firstKept: first.entry.id } : null;
}

/** The text of all that a view shows before an event; undefined = all of it. */
function textOf({ turns }: View, until: Event | undefined): string {
  const texts: string[] = [];
  for (const turn of turns) {
    const end = until === undefined ? -1 : turn.events.indexOf(until);
    const events = end < 0 ? turn.events : turn.events.slice(0, end);
    texts.push(
      ...turnTexts(
        turn,
        events.filter((event) => traitsOf(event).providerVisible),
      ),
    );
    if (end >= 0) break;
  }
  return texts.join("\n\n");
}

/** A summary is only its text; other turns say who said what, as pi's own summarising does. */
function turnTexts({ origin }: ProjectedTurn, events: readonly Event[]): readonly string[] {
  if (origin.kind === "kept") return events.flatMap(saidInWords);
  const answered = events.some(({ type }) => type === "chat_response");
  return events.flatMap((event): readonly string[] => {
    if (event.type === "chat_response" && event.message !== undefined) return [textOfContent(event.message)];
    if (event.type !== "chat_request") return saidInWords(event);
    const text = textOfContent(event.content);
    return answered && origin.kind === "summary" ? [] : [compactedSummary(text) ?? text];
  });
}

function saidInWords(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
      return [`[User]: ${textOfContent(event.content)}`];
    case "chat_response":
      return event.message === undefined ? [] : [`[Assistant]: ${textOfContent(event.message)}`];
    case "tool_call_request":
      return [`[Assistant called ${event.name}]: ${JSON.stringify(event.arguments)}`];
    case "tool_call_response":
      return [`[Result]: ${textOfContent(event.content)}`];
    default:
      return [];
  }
}

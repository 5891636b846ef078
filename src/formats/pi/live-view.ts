// jpg's view over the entries of a running session of pi: which entry shows what, and which messages have no entry.
import { type Event, textOfContent, traitsOf, type View } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import { boundaryName, deriveName, lineName } from "../imported-session.ts";
import { readLiveMark } from "../live-mark.ts";
import type { RunningSession } from "../live-writer.ts";
import type { RawLine } from "../session-source.ts";
import { readPiOrigin } from "./entries.ts";
import { blocksOfContent } from "./events.ts";
import type { OwnEntry, OwnPath } from "./live-path.ts";

/** An entry as the view shows it. */
export interface ShownEntry {
  readonly own: OwnEntry;
  /** In the order of the view. */
  readonly events: Event[];
  /** An edit that somebody else made, if the view shows only what it says. */
  edited: RawLine | undefined;
}

/** A message without an entry, such as a summary. */
export interface LooseMessage {
  readonly role: "user" | "assistant";
  readonly blocks: RawLine[];
  /** Whether it is the summary of pi's newest compaction. */
  readonly isOwn: boolean;
  /** Places of the shown entries before and after it; -1 and the number of entries at the ends. */
  readonly after: number;
  before: number;
}

export interface ShownView {
  readonly entries: ReadonlyMap<OwnEntry, ShownEntry>;
  readonly loose: readonly LooseMessage[];
}

/** An event, and the compaction whose text it is. */
interface ViewEvent {
  readonly event: Event;
  readonly compaction: string | undefined;
  /** Position among the messages of that compaction, 0-based. */
  readonly n: number;
}

interface Walk {
  readonly path: OwnPath;
  /** Null = the session is pi's own. */
  readonly lineId: ((name: string) => string) | null;
  readonly entries: Map<OwnEntry, ShownEntry>;
  readonly loose: LooseMessage[];
  /** Entries that jpg wrote, by the id of the answer that they are. */
  readonly answers: Map<string, OwnEntry>;
  /** Place of the newest shown entry. */
  last: number;
  /** Number of loose messages that a shown entry follows. */
  settled: number;
  /** Message id of the newest loose answer; undefined = the newest message is none. */
  open: string | undefined;
}

/** Places the events of a view; each costs one look-up. */
export function placeView(session: RunningSession, path: OwnPath, view: View): ShownView {
  const walk: Walk = {
    path,
    lineId: readPiOrigin(session.source) === null ? null : session.lineId,
    entries: new Map(),
    loose: [],
    answers: new Map(),
    last: -1,
    settled: 0,
    open: undefined,
  };
  for (const item of eventsOfView(view)) {
    const isOwn = isOwnSummary(item, walk);
    const found = isOwn ? null : findEntry(item, walk);
    if (found !== null) addShown(found, item.event, walk);
    else addLoose(item.event, isOwn, walk);
  }
  return walk;
}

function* eventsOfView({ turns }: View): Generator<ViewEvent> {
  for (const { origin, events } of turns) {
    const compaction = origin.kind === "kept" ? undefined : origin.compaction;
    let n = 0;
    for (const event of events) if (traitsOf(event).providerVisible) yield { event, compaction, n: n++ };
  }
}

/** Whether an event is the text of the compaction that pi sends anyway. */
function isOwnSummary({ event, compaction }: ViewEvent, { path, lineId }: Walk): boolean {
  const own = path.compaction;
  if (own === undefined) return false;
  if (event.id === own.entry.eventId) return true;
  if (compaction === undefined) return false;
  if (deriveName(own.entry.eventId) === compaction || lineId?.(boundaryName(compaction)) === own.entry.id) return true;
  const mark = readLiveMark(own.mark);
  return mark?.kind === "compact" && mark.compaction === compaction;
}

type FoundEntry = Readonly<Pick<ShownEntry, "own" | "edited">>;

/** The entry that an event is of; null = none. An edit's event is of the entry that it edits. */
function findEntry(item: ViewEvent, { path, lineId, answers }: Walk): FoundEntry | null {
  const { event } = item;
  const own = path.byEvent.get(event.id);
  if (own !== undefined) return { own, edited: undefined };
  const edit = path.editsById.get(event.id.replace(/\..*$/, ""));
  const target = edit === undefined ? undefined : path.byId.get(edit.target);
  if (target !== undefined) return { own: target, edited: edit?.replacement ?? undefined };
  if (lineId === null) return null;
  const written = writtenNames(item).map((name) => path.byId.get(lineId(name)));
  const message = event.metadata?.message_id ?? "";
  const found = written.find((one) => one !== undefined) ?? (message === "" ? undefined : answers.get(message));
  if (found === undefined) return null;
  if (found.role === "assistant" && message !== "") answers.set(message, found);
  return { own: found, edited: undefined };
}

/** The names after which an export of the view may have written an event. */
function writtenNames({ event, compaction, n }: ViewEvent): readonly string[] {
  return compaction === undefined ? [event.id] : [lineName(compaction, n), event.id];
}

function addShown({ own, edited }: FoundEntry, event: Event, walk: Walk): void {
  const shown = walk.entries.get(own);
  if (shown === undefined) walk.entries.set(own, { own, events: [event], edited });
  else {
    shown.events.push(event);
    if (shown.edited !== edited) shown.edited = undefined;
  }
  for (const message of walk.loose.slice(walk.settled)) message.before = own.at;
  walk.settled = walk.loose.length;
  walk.last = own.at;
  walk.open = undefined;
}

function addLoose(event: Event, isOwn: boolean, walk: Walk): void {
  const role = event.type === "chat_request" ? "user" : "assistant";
  const answer = role === "assistant" ? (event.metadata?.message_id ?? event.id) : undefined;
  const newest = walk.loose.at(-1);
  const isOpen = answer !== undefined && answer === walk.open && newest !== undefined;
  const blocks = looseBlocks(event);
  walk.open = answer;
  if (isOpen) appendAll(newest.blocks, blocks);
  else walk.loose.push({ role, blocks: [...blocks], isOwn, after: walk.last, before: walk.path.entries.length });
}

/** What no entry can hold is said in words. */
function looseBlocks(event: Event): readonly RawLine[] {
  switch (event.type) {
    case "chat_request":
      return blocksOfContent(event.content);
    case "chat_response":
      if (event.message !== undefined) return blocksOfContent(event.message);
      return event.reasoning === undefined ? [text(JSON.stringify(event.data ?? null))] : [];
    case "tool_call_request":
      return [text(`[called ${event.name} ${JSON.stringify(event.arguments)}]`)];
    case "tool_call_response":
      return [text(textOfContent(event.content))];
    default:
      return [];
  }
}

function text(words: string): RawLine {
  return { type: "text", text: words };
}

// jpg's view in a running session of OpenCode: all changes to its parts, kept in a file that the plug-in reads for each request. The
// session itself stays as it is.
import {
  type Content,
  type ContentPart,
  type Event,
  isText,
  plainText,
  textOfContent,
  traitsOf,
  type View,
} from "../../core/conversation/event.ts";
import { userFolder } from "../../core/user-folders.ts";
import type { LiveWriter, Machine } from "../agent-format.ts";
import { boundaryName, deriveName, lineName } from "../imported-session.ts";
import type { LiveEdit, LiveEdits, RunningSession } from "../live-writer.ts";
import { type RawLine, recordOf, stringOf } from "../session-source.ts";
import { documentOrigin } from "./events.ts";
import { callState, type OwnMessage, type OwnMessages, type OwnPart, readOwnMessages } from "./live-parts.ts";
import { parseDocument } from "./store.ts";

export const OPENCODE_LIVE: LiveWriter = { edits: openCodeEdits, file: editsFile };

/** `~/.local/state/jpg/opencode/<session>.json`; the plug-in knows this place, too. */
function editsFile(machine: Machine, sessionId: string): string | null {
  const file = machine.join(userFolder("state", machine), "opencode", `${sessionId}.json`);
  return /^\w{1,128}$/.test(sessionId) ? file : null;
}

const HIDDEN =
  "OpenCode's own summary hides messages that the view shows: OpenCode does not send them again in this session; `jpg resume` does.";
const MOVED = "A summary or the index is part of the message next to its place.";
const NOWHERE = "A summary or the index has no message to be part of, and is not sent.";

/** A message without one of the session's own, such as a summary. */
interface LooseMessage {
  readonly role: "user" | "assistant";
  text: string;
  /** Places of the shown messages before and after it; -1 and the number of messages at the ends. */
  readonly after: number;
  before: number;
}

interface Walk {
  readonly own: OwnMessages;
  readonly find: EventFinder;
  /** The session's events that are shown, and how. */
  readonly shown: Map<Event, Event>;
  readonly loose: LooseMessage[];
  readonly differences: Set<string>;
  last: number;
  settled: number;
}

interface ViewEvent {
  readonly event: Event;
  readonly compaction: string | undefined;
  /** Position among the messages of that compaction, 0-based. */
  readonly n: number;
}

function openCodeEdits(session: RunningSession, view: View): LiveEdits {
  const own = readOwnMessages(session.source);
  if (own === null) return { edits: [], differences: [] };
  const walk: Walk = {
    own,
    find: eventFinder(session, own),
    shown: new Map(),
    loose: [],
    differences: new Set(),
    last: -1,
    settled: 0,
  };
  for (const item of eventsOfView(view)) placeEvent(item, walk);
  const texts = placeLoose(walk);
  const edits = own.messages.flatMap((message) => message.parts.flatMap((part) => editOf(part, walk.shown, texts)));
  return { edits, differences: [...walk.differences] };
}

function* eventsOfView({ turns }: View): Generator<ViewEvent> {
  for (const { origin, events } of turns) {
    const compaction = origin.kind === "kept" ? undefined : origin.compaction;
    let n = 0;
    for (const event of events) if (traitsOf(event).providerVisible) yield { event, compaction, n: n++ };
  }
}

/** An event of the session, and its message. */
interface FoundEvent {
  readonly own: Event;
  readonly message: OwnMessage;
}

type EventFinder = (item: ViewEvent, shown: ReadonlyMap<Event, Event>) => FoundEvent | undefined;

/** Finds the session's own event of one in the view. */
function eventFinder({ source, lineId }: RunningSession, { messages }: OwnMessages): EventFinder {
  const document = parseDocument(source);
  const isWritten = document !== null && documentOrigin(document) !== null;
  const byEvent = new Map<string, FoundEvent>();
  for (const message of messages)
    for (const own of eventsIn(message)) if (!byEvent.has(own.id)) byEvent.set(own.id, { own, message });
  const byId = new Map(messages.map((own) => [own.message.id, own]));
  const answers = new Map<string, OwnMessage>();
  return (item, shown) => {
    const { event } = item;
    const found = byEvent.get(event.id);
    if (found !== undefined || !isWritten) return found;
    const answer = event.metadata?.message_id ?? "";
    const names = writtenNames(item).map((name) => byId.get(lineId(name)));
    const message = names.find((one) => one !== undefined) ?? answers.get(answer);
    if (message === undefined) return undefined;
    if (answer !== "") answers.set(answer, message);
    const own = eventsIn(message).find((one) => !shown.has(one) && isLike(one, event));
    return own === undefined ? undefined : { own, message };
  };
}

function writtenNames({ event, compaction, n }: ViewEvent): readonly string[] {
  return compaction === undefined ? [event.id] : [lineName(compaction, n), boundaryName(compaction), event.id];
}

function eventsIn({ parts }: OwnMessage): readonly Event[] {
  return parts.flatMap(({ said, result }) => (result === undefined ? [said] : [said, result]));
}

/** Whether an event of a message that jpg wrote may be that of the view: calls and results may be shortened there. */
function isLike(own: Event, event: Event): boolean {
  if (own.type !== event.type) return false;
  if (event.type === "tool_call_request") return own.type === event.type && own.name === event.name;
  return event.type === "tool_call_response" || sayingOf(own) === sayingOf(event);
}

function placeEvent(item: ViewEvent, walk: Walk): void {
  const { shown, own } = walk;
  if (item.compaction !== undefined && item.compaction === summaryId(own)) {
    // The question and the summary are sent first, as they are.
    for (const event of own.messages.slice(0, 2).flatMap(eventsIn)) shown.set(event, event);
    return;
  }
  const found = walk.find(item, shown);
  if (found === undefined) {
    addLoose(item, walk);
    return;
  }
  shown.set(found.own, item.event);
  for (const loose of walk.loose.slice(walk.settled)) loose.before = found.message.at;
  walk.settled = walk.loose.length;
  walk.last = Math.max(walk.last, found.message.at);
}

function summaryId({ summary }: OwnMessages): string | undefined {
  return summary === undefined ? undefined : deriveName(`${summary.id}.compaction`);
}

function addLoose({ event }: ViewEvent, { own, loose, last, differences }: Walk): void {
  if (own.hidden.has(event.id.replace(/\..*$/, ""))) {
    differences.add(HIDDEN);
    return;
  }
  const role = event.type === "chat_request" ? "user" : "assistant";
  loose.push({ role, text: wordsOf(event), after: last, before: own.messages.length });
}

function wordsOf(event: Event): string {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return textOfContent(event.content);
    case "chat_response":
      return textOfContent(event.message ?? "");
    case "tool_call_request":
      return `[called ${event.name} ${JSON.stringify(event.arguments)}]`;
    default:
      return "";
  }
}

// Messages of jpg's take the place of messages that are not shown.

interface Texts {
  /** In place of a part. */
  readonly instead: Map<OwnPart, string>;
  /** In front of a part's own text. */
  readonly before: Map<OwnPart, string>;
}

function placeLoose({ own: { messages }, shown, loose, differences }: Walk): Texts {
  const texts: Texts = { instead: new Map(), before: new Map() };
  const isHidden = ({ parts }: OwnMessage): boolean =>
    parts.every(({ said, result }) => !shown.has(said) && (result === undefined || !shown.has(result)));
  const free = messages.filter((message) => isHidden(message) && textPart(message) !== undefined).reverse();
  let taken: OwnMessage | undefined;
  for (const { role, text, after, before } of loose.filter((one) => one.text !== "")) {
    while ((free.at(-1)?.at ?? Number.POSITIVE_INFINITY) <= Math.max(after, taken?.at ?? -1)) free.pop();
    const at = free.findLastIndex((one) => one.message.role === role || one.at >= before);
    const found = free[at];
    if (found !== undefined && found.at < before) {
      free.length = at;
      taken = found;
      texts.instead.set(textPart(found) as OwnPart, text);
    } else if (
      joinText(text, {
        texts,
        taken: taken !== undefined && taken.at > after ? taken : undefined,
        next: messages[before],
      })
    )
      differences.add(MOVED);
    else differences.add(NOWHERE);
  }
  return texts;
}

function textPart({ parts }: OwnMessage): OwnPart | undefined {
  return parts.find(({ part }) => part["type"] === "text");
}

/** Puts a text with that of a message next to it; false if there is none. */
function joinText(
  text: string,
  {
    texts,
    taken,
    next,
  }: { readonly texts: Texts; readonly taken: OwnMessage | undefined; readonly next: OwnMessage | undefined },
): boolean {
  const own = taken === undefined ? undefined : textPart(taken);
  if (own !== undefined) {
    texts.instead.set(own, `${texts.instead.get(own) ?? ""}\n\n${text}`);
    return true;
  }
  const following = next?.message.role === "user" ? textPart(next) : undefined;
  if (following === undefined) return false;
  texts.before.set(following, `${texts.before.get(following) ?? ""}${text}\n\n`);
  return true;
}

// The change of a part: `text`, or fields of a call's `state`; null = left out.

function editOf(own: OwnPart, shown: Walk["shown"], { instead, before }: Texts): readonly LiveEdit[] {
  const handle = stringOf(own.part, "id") ?? "";
  if (handle === "") return [];
  const text = instead.get(own);
  if (text !== undefined) return [{ handle, replacement: { text } }];
  const said = shown.get(own.said);
  if (said === undefined) return [{ handle, replacement: null }];
  const change =
    own.part["type"] === "tool" ? callChange(own, said, shown) : textChange(own, said, before.get(own) ?? "");
  return change === undefined ? [] : [{ handle, replacement: change }];
}

/** Undefined = nothing differs. */
function textChange({ part, said, piece }: OwnPart, event: Event, before: string): unknown {
  if (sayingOf(said) === sayingOf(event))
    return before === "" ? undefined : { text: before + (stringOf(part, "text") ?? "") };
  const [was, is] = [piecesOf(said), piecesOf(event)];
  // What is shortened keeps its place among the pieces; of anything else, the first holds all.
  const now = was.length === is.length ? is[piece] : piece === 0 ? allText(is) : undefined;
  if (now === undefined) return null;
  if (JSON.stringify(now) === JSON.stringify(was[piece]) && before === "") return undefined;
  const text = now.type === "text" ? plainText(now.text) : textOfContent([now]);
  return before + text === "" ? null : { text: before + text };
}

function allText(pieces: readonly ContentPart[]): ContentPart {
  return { type: "text", text: textOfContent(pieces) };
}

function piecesOf(event: Event): readonly ContentPart[] {
  if (event.type === "chat_request") return partsOfContent(event.content);
  if (event.type !== "chat_response") return [];
  return partsOfContent(event.message ?? event.reasoning ?? "");
}

function partsOfContent(content: Content): readonly ContentPart[] {
  return isText(content) ? [{ type: "text", text: plainText(content) }] : content;
}

function callChange({ part, said, result, cleared }: OwnPart, event: Event, shown: Walk["shown"]): unknown {
  const state: Record<string, unknown> = {};
  if (said.type === "tool_call_request" && event.type === "tool_call_request") {
    const isSame = JSON.stringify(said.arguments) === JSON.stringify(event.arguments);
    if (!isSame) state["input"] = event.arguments;
  }
  const now = result === undefined ? undefined : shown.get(result);
  if (result !== undefined && now === undefined) return null;
  if (now?.type === "tool_call_response" && result?.type === "tool_call_response") {
    const was = cleared ?? result.content;
    if (JSON.stringify(now.content) !== JSON.stringify(was)) Object.assign(state, outputOf(part, now.content));
  }
  return Object.keys(state).length === 0 ? undefined : { state };
}

/** A result as it is to be sent; one that OpenCode cleared no longer counts as such. */
function outputOf(part: RawLine, content: Content): RawLine {
  const { status, attachments, time } = callState(part);
  const text = textOfContent(content);
  if (status === "error") return { error: text };
  const { compacted: _, ...times } = recordOf({ time }, "time") ?? {};
  const files = Array.isArray(attachments) && !isText(content) ? attachments : [];
  return { output: text, attachments: files, time: times };
}

/** What a model is sent of an event, but for ids. */
function sayingOf(event: Event): string {
  switch (event.type) {
    case "chat_request":
      return JSON.stringify([event.content]);
    case "chat_response":
      return JSON.stringify([event.message, event.reasoning]);
    case "tool_call_request":
      return JSON.stringify([event.name, event.arguments]);
    case "tool_call_response":
      return JSON.stringify([event.content, event.is_error]);
    default:
      return "";
  }
}

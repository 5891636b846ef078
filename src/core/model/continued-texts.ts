// Texts that one agent sent as one, and whose pieces are events of their own because different parties wrote them, or because the answer
// came in pieces. A model is sent them joined.
import type { ChatRequest, ChatResponse, Event, EventMetadata, View } from "../conversation/event.ts";

/** `metadata.continues` = the event's text follows that of the event before it without a break. */
function continuesText({ metadata }: Event): boolean {
  return metadata?.["continues"] === true;
}

/** Joins the pieces of each text; a view without such pieces is returned unchanged. */
export function joinContinued(view: View): View {
  if (!view.turns.some(({ events }) => events.some(continuesText))) return view;
  return { turns: view.turns.map((turn) => ({ ...turn, events: joinEvents(turn.events) })) };
}

function joinEvents(events: readonly Event[]): readonly Event[] {
  const joined: Event[] = [];
  for (const event of events) {
    const at = continuesText(event) ? joined.findLastIndex(isText) : -1;
    const whole = at < 0 ? null : joinTwo(joined[at] as Event, event);
    if (whole === null) joined.push(event);
    else joined[at] = whole;
  }
  return joined;
}

/** Notes and reasoning between two pieces are no break. */
function isText(event: Event): boolean {
  return event.type !== "note" && !(event.type === "chat_response" && event.reasoning !== undefined);
}

/** Null if the second is not a piece of the same text. */
function joinTwo(first: Event, second: Event): Event | null {
  if (first.type === "chat_request" && second.type === "chat_request") return joinRequests(first, second);
  return first.type === "chat_response" && second.type === "chat_response" ? joinAnswers(first, second) : null;
}

/** Pieces of a request are events of one line. */
function joinRequests(first: ChatRequest, second: ChatRequest): ChatRequest | null {
  const [before, after] = [first.content, second.content];
  if (typeof before !== "string" || typeof after !== "string" || lineOf(first) !== lineOf(second)) return null;
  const typed = [first, second].find(({ metadata }) => metadata?.origin !== "harness");
  const { continues: _, ...metadata }: EventMetadata = { ...(typed ?? first).metadata };
  const words = typed?.metadata?.["typed"] ?? typed?.content;
  return {
    ...first,
    content: before + after,
    metadata: typed === undefined ? metadata : { ...metadata, typed: words },
  };
}

function lineOf({ id }: Event): string {
  return id.split(".", 1)[0] ?? "";
}

function joinAnswers(first: ChatResponse, second: ChatResponse): ChatResponse | null {
  const [before, after] = [first.message, second.message];
  if (typeof before !== "string" || typeof after !== "string") return null;
  const isSame = first.metadata?.message_id !== undefined && first.metadata.message_id === second.metadata?.message_id;
  return isSame ? { ...first, message: before + after } : null;
}

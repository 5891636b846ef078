// The messages of a view for agents whose files hold an answer whole: requests, and answers whose results are written with their calls.
import type { ChatRequest, ChatResponse, Event, ToolCallRequest, View } from "../core/conversation/event.ts";

export type AnswerEvent = ChatResponse | ToolCallRequest;

/** `compaction` = the one whose summary the message is; absent = it is none. */
export type ViewMessage = (
  | { readonly type: "request"; readonly event: ChatRequest }
  | { readonly type: "answer"; readonly first: AnswerEvent; readonly events: readonly AnswerEvent[] }
) & { readonly compaction: string | undefined };

export type MessageOf<Type extends ViewMessage["type"]> = Extract<ViewMessage, { readonly type: Type }>;

/** Lists the messages of a view, in order. `joins` = whether an answer, never empty, takes one more event; a result always ends it. */
export function* viewMessages(
  { turns }: View,
  joins: (answer: readonly AnswerEvent[], event: AnswerEvent) => boolean,
): Generator<ViewMessage> {
  for (const { origin, events } of turns)
    yield* messagesOfTurn(events, origin.kind === "summary" ? origin.compaction : undefined, joins);
}

function* messagesOfTurn(
  events: readonly Event[],
  compaction: string | undefined,
  joins: (answer: readonly AnswerEvent[], event: AnswerEvent) => boolean,
): Generator<ViewMessage> {
  let open: AnswerEvent[] = [];
  for (const event of events) {
    const isPart = isAnswerEvent(event);
    if (!isPart && event.type !== "chat_request" && event.type !== "tool_call_response") continue; // what no model is sent
    if (!isPart || (open.length > 0 && !joins(open, event))) {
      yield* answerOf(open, compaction);
      open = [];
    }
    if (isPart) open.push(event);
    else if (event.type === "chat_request") yield { type: "request", event, compaction };
  }
  yield* answerOf(open, compaction);
}

function isAnswerEvent(event: Event): event is AnswerEvent {
  return event.type === "chat_response" || event.type === "tool_call_request";
}

function* answerOf(events: readonly AnswerEvent[], compaction: string | undefined): Generator<ViewMessage> {
  const [first] = events;
  if (first !== undefined) yield { type: "answer", first, events, compaction };
}

// Makes the events of a turn that is being talked: random ids, times that never go back.
import type {
  ChatRequest,
  ChatResponse,
  Content,
  EventMetadata,
  ToolCallRequest,
  ToolCallResponse,
  TurnStart,
} from "../../core/conversation/event.ts";
import { type Runtime, randomId } from "../workspace/runtime.ts";

/** Characters of an event's id: 60 bits, for ids must be unique within a conversation of any length. */
const ID_LENGTH = 12;

/** What every event has. */
interface Stamp {
  readonly id: string;
  readonly timestamp: string;
}

/** Makes events of one turn. */
export interface LiveEvents {
  /** A random id, for events and messages. */
  newId(): string;
  turnStart(): TurnStart;
  request(content: Content): ChatRequest;
  /** A text of the model, empty so far. */
  response(kind: "message" | "reasoning", metadata: EventMetadata): ChatResponse;
  call(call: Pick<ToolCallRequest, "call_id" | "name" | "arguments">, metadata: EventMetadata): ToolCallRequest;
  result(result: Pick<ToolCallResponse, "call_id" | "content" | "is_error">): ToolCallResponse;
}

/** Creates the maker of a turn's events. */
export function createLiveEvents(runtime: Runtime): LiveEvents {
  let latest = 0;
  const now = (): string => {
    latest = Math.max(latest, runtime.now().getTime());
    return new Date(latest).toISOString();
  };
  const newId = (): string => randomId(runtime, ID_LENGTH);
  const stamp = (): Stamp => ({ id: newId(), timestamp: now() });
  return {
    newId,
    turnStart: () => ({ type: "turn_start", ...stamp() }),
    request: (content) => ({ type: "chat_request", ...stamp(), content }),
    response: (kind, metadata) => ({ type: "chat_response", ...stamp(), [kind]: "", metadata }),
    call: (call, metadata) => ({ type: "tool_call_request", ...stamp(), ...call, metadata }),
    result: (result) => ({ type: "tool_call_response", ...stamp(), ...result }),
  };
}

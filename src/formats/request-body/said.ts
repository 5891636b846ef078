// What a request to a model holds, as events without what no request says of them: their ids and times.

import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type {
  ChatRequest,
  ChatResponse,
  Content,
  ToolCallRequest,
  ToolCallResponse,
} from "../../core/conversation/event.ts";

type Unnamed<Kind> = Kind extends unknown ? Omit<Kind, "id" | "timestamp"> : never;

/** An event that has neither id nor time yet. */
export type SaidEvent = Unnamed<ChatRequest | ChatResponse | ToolCallRequest | ToolCallResponse>;

/** One message of the list, or one item of it. */
export interface SaidMessage {
  readonly said: readonly SaidEvent[];
  /** Whether it is what a person said: it begins a turn where the one before was answered. */
  readonly isUsers: boolean;
}

/** A request, read. */
export interface ReadBody {
  /** The system prompt that stands beside the list; null where none does. */
  readonly prompt: Content | null;
  /** As many as the list has; one that holds nothing says nothing. */
  readonly messages: readonly SaidMessage[];
  readonly tools: readonly ToolDefinition[];
}

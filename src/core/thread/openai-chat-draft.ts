// An assistant message of Chat Completions while it is put together: what it says, then its calls, then their results.
import type { ToolCallRequest } from "../event/event.ts";
import { type ItemOrigin, joinOrigins, type ProviderObject, type ThreadItem } from "./openai-thread.ts";

/** A call as it will stand in the message. */
export interface DraftCall {
  readonly request: ToolCallRequest;
  readonly origin: ItemOrigin;
  readonly toolCall: ProviderObject;
}

/** A reasoning text that goes with the message. */
export interface DraftReasoning {
  readonly event: string;
  readonly origin: ItemOrigin;
  readonly text: string;
}

export interface ChatDraft {
  readonly messageId: string | undefined;
  readonly reasoning: readonly DraftReasoning[];
  /** What the message says; `null` while it says nothing. */
  readonly said: { readonly text: string; readonly origin: ItemOrigin } | null;
  readonly calls: readonly DraftCall[];
}

/** Creates the draft of a message of which nothing is known but its provider's id, if that. */
export function createDraft(messageId: string | undefined): ChatDraft {
  return { messageId, reasoning: [], said: null, calls: [] };
}

/** Whether something of a message with that id may be joined to the draft: a text only to a draft that has none. */
export function takes(draft: ChatDraft, what: "reasoning" | "text" | "call", messageId: string | undefined): boolean {
  const isSame = messageId === draft.messageId || messageId === undefined || draft.messageId === undefined;
  if (!isSame) return false;
  return what === "call" || (draft.calls.length === 0 && draft.said === null);
}

/** The finished message; `null` for one that holds only reasoning, which the API does not take (C5). */
export function toAssistantMessage({ reasoning, said, calls }: ChatDraft): ThreadItem | null {
  if (said === null && calls.length === 0) return null;
  const thoughts = reasoning.map(({ text }) => text).join("\n");
  const origins = [...reasoning, ...(said === null ? [] : [said]), ...calls].map(({ origin }) => origin);
  const item = {
    role: "assistant",
    // The API takes null as well, some compatible servers do not.
    content: said?.text ?? "",
    ...(thoughts !== "" && { reasoning_content: thoughts }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ toolCall }) => toolCall) }),
  };
  return { ...joinOrigins(origins), item };
}

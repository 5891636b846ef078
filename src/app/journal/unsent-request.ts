// A request that no model answered leaves no turn behind, so that asking again does not double it. Its text is kept beside
// the store, like git's COMMIT_EDITMSG, for whoever does not have it any more.

import { type Content, type Event, textOfContent } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { ConversationStore } from "../../store/store.ts";

/** Keeps what of a request is text, attached texts too. Gives the file; null when there is none, or it cannot be written. */
export async function keepUnsent(store: ConversationStore, content: Content): Promise<string | null> {
  const text = textOfContent(content);
  // Where it cannot be kept, that is not worth another error beside the one that is being reported.
  return text.trim() === "" ? null : await store.keepText("unsent", text);
}

/** What was asked in a turn; empty when its events hold no request. */
export function requestOf(events: readonly Event[]): Content {
  return events.find((event) => event.type === "chat_request")?.content ?? "";
}

/** What to type to send a kept text again; `isNew` = it was to begin a conversation, which there is not. */
export function unsentHints(path: string | null, isNew: boolean): readonly string[] {
  if (path === null) return [];
  const state = isNew ? "No conversation was started" : "The conversation is unchanged";
  return [
    `${state}; what you wrote is in ${path}: \`jpg query${isNew ? " --new" : ""} - < '${path}'\` sends it again.`,
  ];
}

/** An error with more hints and data; anything that is no JpgError stays as it is. */
export function withHints(
  error: unknown,
  hints: readonly string[],
  data: Readonly<Record<string, unknown>> = {},
): unknown {
  if (!(error instanceof JpgError)) return error;
  const { kind, code, message, cause } = error;
  return new JpgError(kind, code, message, {
    hints: [...error.hints, ...hints],
    data: { ...error.data, ...data },
    cause,
  });
}

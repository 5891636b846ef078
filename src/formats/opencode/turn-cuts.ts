// Where turns begin: at what the user typed, unless the agent was still at work then.
import type { Message } from "./messages.ts";

/** One turn, before its events are read. */
export interface MessageTurn {
  /** The message that opens it. */
  readonly opener: Message;
  /** Its messages, in order. */
  readonly messages: readonly Message[];
}

/** Whether the agent sends something of a message where it stands. */
export function isSentMessage({ kind }: Message): boolean {
  return kind !== "failed" && kind !== "empty";
}

/** Cuts messages into turns; a session in which nothing was ever sent has none. */
export function cutMessages(messages: readonly Message[]): readonly MessageTurn[] {
  const turns: { opener: Message; readonly messages: Message[]; hasContent: boolean }[] = [];
  const head: Message[] = [];
  for (const message of messages) {
    const current = turns.at(-1);
    const hasContent = isSentMessage(message) && message.kind !== "harness";
    if (current === undefined) {
      head.push(message);
      if (isSentMessage(message)) turns.push({ opener: message, messages: head, hasContent });
    } else if (message.kind === "prompt" && current.hasContent) {
      turns.push({ opener: message, messages: [message], hasContent });
    } else {
      current.messages.push(message);
      current.hasContent ||= hasContent;
    }
  }
  return turns;
}

// What the user took back and may still bring again: OpenCode keeps it until it goes on, and sends none of it.
import { deriveName } from "../derived-name.ts";
import type { AbandonedBranch } from "../imported-session.ts";
import type { Message } from "./messages.ts";
import { isSentMessage, type MessageTurn } from "./turn-cuts.ts";
import { type MessageReading, readMessageTurn } from "./turn-reader.ts";

/** Makes a branch of it; null when nothing was asked or answered in it. */
export function createLeftBranch(active: MessageReading, left: MessageReading): AbandonedBranch | null {
  const first = sentMessages(left)[sentMessages(active).length];
  if (first === undefined) return null;
  const differs = left.turns.findIndex((turn, at) => !isSameTurn(turn, active.turns[at]));
  return {
    name: `left-${deriveName(first.id).slice(0, 8)}`,
    commonTurns: differs < 0 ? left.turns.length : differs,
    turnCount: left.turns.length,
    readTurn: (turn) => readMessageTurn(left, turn),
  };
}

function sentMessages({ turns }: MessageReading): readonly Message[] {
  return turns.flatMap(({ messages }) => messages).filter(isSentMessage);
}

/** A message of which some parts were taken back is another one. */
function isSameTurn({ messages }: MessageTurn, other: MessageTurn | undefined): boolean {
  const others = other?.messages ?? [];
  return messages.length === others.length && messages.every((message, at) => message === others[at]);
}

// A stretch of a conversation from what was said, one word for each kind of event, for tests of what was needed of it later.
import type { Event, Turn } from "../../src/core/conversation/event.ts";

/** Something said. A call comes with its result; `failed` marks one that ended in an error. */
export type Said =
  | { readonly user: string }
  | { readonly harness: string }
  | { readonly agent: string }
  | { readonly thought: string }
  | { readonly call: string; readonly args: unknown; readonly result: string; readonly failed?: true };

/** The events, with ids `<prefix>0`, `<prefix>1` … in order. */
export function saidEvents(said: readonly Said[], prefix = "e"): readonly Event[] {
  const events: Event[] = [];
  const next = () => {
    const at = events.length;
    return { id: `${prefix}${at}`, timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString() };
  };
  for (const one of said) {
    if ("user" in one) events.push({ type: "chat_request", ...next(), content: one.user });
    else if ("harness" in one)
      events.push({
        type: "chat_request",
        ...next(),
        role: "system",
        content: one.harness,
        metadata: { origin: "harness" },
      });
    else if ("agent" in one) events.push({ type: "chat_response", ...next(), message: one.agent });
    else if ("thought" in one) events.push({ type: "chat_response", ...next(), reasoning: one.thought });
    else {
      const { call: name, args, result: content, failed = false } = one;
      const call_id = `call-${prefix}${events.length}`;
      events.push({ type: "tool_call_request", ...next(), call_id, name, arguments: args });
      events.push({ type: "tool_call_response", ...next(), call_id, content, is_error: failed });
    }
  }
  return events;
}

/** Turns of them, a new one for each list. */
export function saidTurns(...turns: readonly (readonly Said[])[]): readonly Turn[] {
  return turns.map((said, index) => ({
    index,
    events: [
      { type: "turn_start", id: `s${index}`, timestamp: "2026-01-01T00:00:00Z" },
      ...saidEvents(said, `t${index}.`),
    ],
  }));
}

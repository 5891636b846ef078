// Tool calls in the order they are listed here, each answered, for tests of what is known of tools.

import type { ToolCall } from "../../src/core/compact/tool-call.ts";
import type { Content } from "../../src/core/conversation/event.ts";

/** One call: name and arguments, and its result; null = unanswered. */
export interface CallNote {
  readonly name: string;
  readonly args: unknown;
  readonly result?: Content | null;
  readonly failed?: boolean;
}

/** Creates calls with the ids `c0`, `c1` … of their requests, one turn each. */
export function createCalls(notes: readonly CallNote[]): ToolCall[] {
  return notes.map(({ name, args, result = "done", failed = false }, turn): ToolCall => {
    const base = { timestamp: "2026-01-01T00:00:00Z", call_id: `call${turn}` };
    const request = { type: "tool_call_request", id: `c${turn}`, ...base, name, arguments: args } as const;
    if (result === null) return { request, response: null, turn, index: 1, responseIndex: null };
    const response = {
      type: "tool_call_response",
      id: `r${turn}`,
      ...base,
      content: result,
      is_error: failed,
    } as const;
    return { request, response, turn, index: 1, responseIndex: 2 };
  });
}

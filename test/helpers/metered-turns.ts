// A conversation with usage made up from a known factor and overhead: what calibration has to find again.
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { estimateEvent } from "../../src/core/conversation/token-estimate.ts";

export interface Metering {
  readonly factor: number;
  readonly overhead: number;
  /** Characters of each turn's request. */
  readonly lengths: readonly number[];
  /** Turn before which the agent forgot everything, without a trace. */
  readonly forgetsAt?: number;
  readonly model?: string;
}

/** One turn a length: a request of it, an answer of 40 characters with the usage of its request. */
export function meteredTurns({ factor, overhead, lengths, forgetsAt, model = "claude-x" }: Metering): Turn[] {
  let sent = 0;
  return lengths.map((length, index) => {
    if (index === forgetsAt) sent = 0;
    const at = { timestamp: `2026-01-01T00:00:${String(index).padStart(2, "0")}Z` };
    const request: Event = { type: "chat_request", id: `q${index}`, ...at, content: "x".repeat(length) };
    sent += estimateEvent(request);
    const usage = { input_tokens: Math.round(overhead + factor * sent), output_tokens: Math.round(factor * 10) };
    const metadata = { model, message_id: `m${index}`, usage };
    const answer: Event = { type: "chat_response", id: `a${index}`, ...at, message: "y".repeat(40), metadata };
    sent += estimateEvent(answer);
    return { index, events: [{ type: "turn_start", id: `t${index}`, ...at }, request, answer] };
  });
}

// The views that others make by a plain rule, to judge jpg's by.
import { type Event, isReasoning } from "../../src/core/conversation/event.ts";
import { estimateEvent } from "../../src/core/conversation/token-estimate.ts";
import { createCurve, factsByEvent, type ReadCurve } from "./curve.ts";
import type { NeededFact } from "./needed-facts.ts";

/** Tokens of an event. */
export type CountTokens = (event: Event) => number;

/** The text that replaces a masked result. */
const MASKED = "[Old tool result content cleared]";

/** The newest events that fit into so many tokens. */
export function keepLast(past: readonly Event[], tokens: number, count: CountTokens): readonly Event[] {
  let left = tokens;
  const first = past.findLastIndex((event) => {
    left -= count(event);
    return left < 0;
  });
  return past.slice(first + 1);
}

/** All results but the newest masked; those that are no longer than the mask stay. */
export function maskResults(past: readonly Event[], newest: number): readonly Event[] {
  const results = past.filter(({ type }) => type === "tool_call_response");
  const masked = new Set(newest === 0 ? results : results.slice(0, -newest));
  return past.map((event) => (masked.has(event) ? maskOf(event) : event));
}

/** What people and the agent said to each other: no calls, no results, no reasoning. */
export function textOnly(past: readonly Event[]): readonly Event[] {
  return past.filter(
    (event) => event.type === "chat_request" || (event.type === "chat_response" && !isReasoning(event)),
  );
}

/**
 * How many facts masking shows at any size, by masking fewer results or more: what a row has to be above to be better than the
 * plain rule. Where the view without any result is still too large, its oldest events go.
 */
export function maskingCurve(facts: readonly NeededFact[], past: readonly Event[], count: CountTokens): ReadCurve {
  const held = factsByEvent(facts, past);
  const newestFirst = [...past.entries()].reverse();
  const frame = newestFirst.map(([at, event]) => {
    const mask = maskOf(event);
    return { tokens: count(mask), facts: mask === event ? (held[at] as readonly number[]) : [] };
  });
  const results = newestFirst
    .filter(([, event]) => maskOf(event) !== event)
    .map(([at, event]) => ({
      tokens: count(event) - count(maskOf(event)),
      facts: held[at] as readonly number[],
    }));
  return createCurve([...frame, ...results]);
}

const masks = new WeakMap<Event, Event>();

/** The same object each time; the event itself where masking would not make it shorter. */
function maskOf(event: Event): Event {
  if (event.type !== "tool_call_response") return event;
  const known = masks.get(event);
  if (known !== undefined) return known;
  const masked = { ...event, content: MASKED };
  const mask = estimateEvent(masked) < estimateEvent(event) ? masked : event;
  masks.set(event, mask);
  return mask;
}

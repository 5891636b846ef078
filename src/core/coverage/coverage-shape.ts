// Whether an event in the view looks the way the rules want it: the same, stripped, or no longer than it was.

import type { Content, Event } from "../event/event.ts";
import type { Expectation } from "./coverage-rules.ts";

/** Whether `copy`, an event in the view, is what an expectation allows `event` to become. */
export function looksAsExpected(event: Event, copy: Event, expectation: Expectation): boolean {
  switch (expectation) {
    case "gone":
      return false;
    case "unchanged":
      return isSame(copy, event);
    case "stripped":
      return isStripped(event, copy);
    case "truncated":
      return isSame(withoutBulk(copy), withoutBulk(event)) && sizeOf(copy) <= sizeOf(event);
  }
}

function isStripped(event: Event, copy: Event): boolean {
  if (!isSame(withoutBulk(copy), withoutBulk(event))) return false;
  if (copy.type === "tool_call_request") return isSame(copy.arguments, {});
  if (copy.type === "tool_call_response") return hasStatus(copy.content, copy.is_error);
  return !hasAttachments(copy);
}

function hasStatus(content: Content, isError: boolean): boolean {
  const status = isError ? "error" : "success";
  return typeof content === "string" && new RegExp(`^\\[compacted\\] .*: ${status}( · |\\n|$)`, "s").test(content);
}

function hasAttachments(event: Event): boolean {
  if (event.type !== "chat_request" || !Array.isArray(event.content)) return false;
  return event.content.some(({ type }) => type === "image" || type === "document" || type === "attachment");
}

/** The event without what shortening may touch. */
function withoutBulk(event: Event): unknown {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return { ...event, content: null };
    case "tool_call_request":
      return { ...event, arguments: null };
    default:
      return event;
  }
}

function sizeOf(event: Event): number {
  return JSON.stringify(event).length;
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

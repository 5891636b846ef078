// What an event may look like in a view, by what the rules want of it.
import { describe, expect, it } from "vitest";
import { type Expectation, looksAsExpected } from "../../../src/core/conversation/coverage.ts";
import type { Event } from "../../../src/core/conversation/event.ts";

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const request = { type: "chat_request", ...base, content: "look at this" } as const;
const call = { type: "tool_call_request", ...base, call_id: "c", name: "read", arguments: { path: "a" } } as const;
const result = {
  type: "tool_call_response",
  ...base,
  call_id: "c",
  content: "line ".repeat(30),
  is_error: false,
} as const;
const answer = { type: "chat_response", ...base, message: "done" } as const;
const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;

/** The event with other fields. */
const like = (event: Event, changes: object): Event => ({ ...event, ...changes }) as Event;

describe("how an event looks in a view", () => {
  it.each<[string, Expectation, Event, Event, boolean]>([
    ["what is gone looks like nothing", "gone", answer, answer, false],
    ["what is unchanged is the same", "unchanged", answer, answer, true],
    ["a copy is the same", "unchanged", answer, { ...answer }, true],
    ["another text is not the same", "unchanged", answer, like(answer, { message: "did" }), false],

    ["a stripped call has no arguments", "stripped", call, like(call, { arguments: {} }), true],
    ["a call with arguments is not stripped", "stripped", call, call, false],
    ["a stripped call keeps its name", "stripped", call, like(call, { arguments: {}, name: "write" }), false],

    [
      "a stripped result says how it went",
      "stripped",
      result,
      like(result, { content: "[compacted] read: success" }),
      true,
    ],
    ["with a pointer", "stripped", result, like(result, { content: "[compacted] read: success · e" }), true],
    ["with a first line", "stripped", result, like(result, { content: "[compacted] read: success\nline" }), true],
    ["of a tool of any name", "stripped", result, like(result, { content: "[compacted] re\nad\u2028: success" }), true],
    ["a result as it was is not stripped", "stripped", result, result, false],
    [
      "one that begins otherwise is not stripped",
      "stripped",
      result,
      like(result, { content: "x [compacted] read: success" }),
      false,
    ],
    [
      "one that goes on is not stripped",
      "stripped",
      result,
      like(result, { content: "[compacted] read: successful" }),
      false,
    ],
    [
      "one that says the wrong thing is not stripped",
      "stripped",
      result,
      like(result, { content: "[compacted] read: error" }),
      false,
    ],
    [
      "parts are no stub",
      "stripped",
      result,
      like(result, { content: [{ type: "text", text: "[compacted] read: success" }] }),
      false,
    ],
    [
      "the stub of a failure says so",
      "stripped",
      like(result, { is_error: true }),
      like(result, { is_error: true, content: "[compacted] read: error" }),
      true,
    ],
    [
      "the stub of a failure does not say that it went well",
      "stripped",
      like(result, { is_error: true }),
      like(result, { is_error: true, content: "[compacted] read: success" }),
      false,
    ],
    [
      "a stripped result stays a failure",
      "stripped",
      like(result, { is_error: true }),
      like(result, { content: "[compacted] read: success" }),
      false,
    ],

    ["a stripped request may be as it was", "stripped", request, request, true],
    [
      "a stripped request holds texts",
      "stripped",
      request,
      like(request, { content: [{ type: "text", text: "a" }] }),
      true,
    ],
    ["no image", "stripped", request, like(request, { content: [{ type: "text", text: "a" }, image] }), false],
    ["no document", "stripped", request, like(request, { content: [{ type: "document" }] }), false],
    ["no attachment", "stripped", request, like(request, { content: [{ type: "attachment", name: "a" }] }), false],
    ["a stripped request keeps its role", "stripped", request, like(request, { role: "system" }), false],
    ["an answer cannot be stripped of its text", "stripped", answer, like(answer, { message: "" }), false],
    ["an answer has nothing to strip", "stripped", answer, answer, true],

    ["a truncated result is shorter", "truncated", result, like(result, { content: "line …" }), true],
    ["as long", "truncated", result, result, true],
    ["not longer", "truncated", result, like(result, { content: `${result.content}!` }), false],
    ["and of the same call", "truncated", result, like(result, { content: "line", call_id: "d" }), false],
    ["truncated arguments are shorter", "truncated", call, like(call, { arguments: {} }), true],
    ["truncated arguments are not longer", "truncated", call, like(call, { arguments: { path: "ab" } }), false],
    ["an answer is never truncated", "truncated", answer, like(answer, { message: "do" }), false],
  ])("%s", (_what, expectation, event, copy, expected) => {
    expect(looksAsExpected(event, copy, expectation)).toBe(expected);
  });
});

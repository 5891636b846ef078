// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, textBytes } from "../../../src/core/conversation/event.ts";
import { anyText } from "../../helpers/any-text.ts";

const base = { id: "a", timestamp: "t" };

describe("textBytes", () => {
  it("counts as UTF-8 does, for any text", () => {
    fc.assert(
      fc.property(anyText(), (text) => {
        const event: Event = { type: "chat_request", ...base, content: text };
        expect(textBytes(event)).toBe(new TextEncoder().encode(text).length);
      }),
    );
  });

  it.each<[object, number]>([
    [{ type: "chat_response", reasoning: "four" }, 4],
    [{ type: "chat_response", data: { a: [12, true] } }, 6],
    [{ type: "tool_call_request", call_id: "c", name: "read", arguments: { path: "x.ts" } }, 8],
    [{ type: "tool_call_response", call_id: "c", content: [{ type: "text", text: "hi" }], is_error: false }, 6],
    [{ type: "note", kind: "k" }, 0],
  ])("of %j are %d", (event, bytes) => {
    expect(textBytes({ ...base, ...event } as Event)).toBe(bytes);
  });
});

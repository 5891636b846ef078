import { describe, expect, it } from "vitest";
import type { CallPolicy, StubStyle } from "../../../src/core/conversation/compaction.ts";
import type { ShorteningContext } from "../../../src/core/conversation/contents/content-type.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { shortenEvent } from "../../../src/core/conversation/shorten-event.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";

const common = { timestamp: "2026-01-01T00:00:00Z", call_id: "1" } as const;
const LONG = "0123456789".repeat(20);
const CUT = "01\n[compacted: 195 characters left out]\n789";
const call: Event = {
  type: "tool_call_request",
  id: "c",
  ...common,
  name: "put",
  arguments: { path: "a", body: LONG },
};
const result: Event = { type: "tool_call_response", id: "r", ...common, content: `${LONG}`, is_error: false };
const reasoning: Event = { type: "chat_response", id: "t", timestamp: common.timestamp, reasoning: "think" };
const request: Event = {
  type: "chat_request",
  id: "u",
  timestamp: common.timestamp,
  content: [{ type: "attachment", name: "a.txt" }],
};
const note: Event = { type: "note", id: "n", timestamp: common.timestamp, kind: "progress", data: {} };
const EVENTS = [call, result, reasoning, request, note];
const TRUNCATE = { truncate: { max_chars: 5 } } as const;
const DROP = { drop: { max_chars: 5 } } as const;

function shorten(event: Event, action: CallPolicy | "hide", stubs?: StubStyle, context: ShorteningContext = {}) {
  const compaction = makeCompaction("c", [0, 0], stubs === undefined ? {} : { stubs });
  return shortenEvent(event, { action, compaction }, context);
}

describe("an event that is decided about", () => {
  it.each(EVENTS)("is itself when it is kept, and nothing when it is hidden or left out: $type", (event) => {
    expect(shorten(event, "keep")).toBe(event);
    expect(shorten(event, "hide")).toBeNull();
    expect(shorten(event, "omit")).toBeNull();
  });

  it("loses what is stripped of its kind", () => {
    expect(shorten(call, "strip")).toEqual({ ...call, arguments: {} });
    expect(shorten(result, "strip")).toEqual({ ...result, content: "[compacted] unknown: success" });
    expect(shorten(reasoning, "strip")).toBeNull();
    expect(shorten(request, "strip")).toEqual({
      ...request,
      content: [{ type: "text", text: "[compacted] attachment: a.txt" }],
    });
    expect(shorten(note, "strip")).toBe(note);
  });

  it("is cut where a text of a call is too long", () => {
    expect(shorten(call, TRUNCATE)).toEqual({ ...call, arguments: { path: "a", body: CUT } });
    expect(shorten(result, TRUNCATE)).toEqual({ ...result, content: CUT });
  });

  it("loses long arguments, while a result stays when they are to go", () => {
    expect(shorten(call, DROP)).toEqual({ ...call, arguments: { path: "a" } });
    expect(shorten(result, DROP)).toBe(result);
  });
});

describe("the stub of a result", () => {
  const stub = (stubs: StubStyle | undefined, context: ShorteningContext) => {
    const event = shorten({ ...result, content: "line one\nline two" } as Event, "strip", stubs, context);
    return event?.type === "tool_call_response" ? event.content : null;
  };
  const plain = "[compacted] put: success";

  it.each<[StubStyle | undefined, ShorteningContext, string]>([
    [undefined, {}, plain],
    [{}, { pointers: false, firstLine: false }, plain],
    [{ pointers: true }, {}, `${plain} · r`],
    [{ first_line: true }, {}, `${plain}\nline one`],
    [undefined, { pointers: true }, `${plain} · r`],
    [undefined, { firstLine: true }, `${plain}\nline one`],
    [{ pointers: true }, { firstLine: true }, `${plain} · r\nline one`],
    [{ pointers: true }, { pointers: false }, `${plain} · r`],
  ])("is written as the compaction says, and as is asked of all: %j, %j", (stubs, context, text) => {
    expect(stub(stubs, { ...context, tool: "put" })).toBe(text);
  });

  it("replaces a text that was not loaded and should be cut", () => {
    const attached = { ...result, content: [{ type: "text", text: { $attachment: "a" } }] } as unknown as Event;
    expect(shorten(attached, TRUNCATE, undefined, { tool: "put" })).toMatchObject({ content: plain });
  });
});

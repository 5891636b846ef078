// The calls of turns with their results, and where both stand.
import { describe, expect, it } from "vitest";
import { listPairedCalls, listToolCalls, type ToolCall } from "../../../src/core/compact/tool-call.ts";
import { NO_PAIRS } from "../../../src/core/conversation/tool-pairing.ts";
import { parseConversation } from "../../helpers/notation.ts";

/** A call as ids and places. */
function placed({ request, response, ...place }: ToolCall) {
  return { request: request.id, response: response?.id ?? null, ...place };
}

describe("listToolCalls", () => {
  it("pairs each call with its result and says where both stand", () => {
    expect(listToolCalls(parseConversation("U T T A t N t | ^ U T")).map(placed)).toEqual([
      { request: "e0.2", response: "e0.5", turn: 0, index: 2, responseIndex: 5 },
      { request: "e0.3", response: "e0.7", turn: 0, index: 3, responseIndex: 7 },
      { request: "e1.2", response: null, turn: 1, index: 1, responseIndex: null },
    ]);
  });

  it("names the turn of a result that came in a later one", () => {
    const [asked, , answered] = parseConversation("U T | U | ^ U");
    const result = { type: "tool_call_response", id: "r", timestamp: "2026-01-01T02:00:00Z", call_id: "c1" } as const;
    const events = [...answered!.events, { ...result, content: "late", is_error: false }];
    const turns = [asked!, { ...answered!, events }];
    const place = { request: "e0.2", turn: 0, index: 2 };
    expect(listToolCalls(turns).map(placed)).toEqual([{ ...place, response: "r", responseIndex: 1, responseTurn: 2 }]);
  });

  it("leaves out results that answer no call", () => {
    expect(listToolCalls(parseConversation("U t A"))).toEqual([]);
    expect(listToolCalls(parseConversation("U t T")).map(placed)).toEqual([
      { request: "e0.3", response: null, turn: 0, index: 3, responseIndex: null },
    ]);
  });
});

describe("listPairedCalls", () => {
  it("goes by the pairs that it is given", () => {
    expect(listPairedCalls(parseConversation("U T t"), NO_PAIRS).map(placed)).toEqual([
      { request: "e0.2", response: null, turn: 0, index: 2, responseIndex: null },
    ]);
  });
});

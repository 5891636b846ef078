// Which call a result answers.

import { describe, expect, it } from "vitest";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { pairCalls } from "../../../src/core/conversation/tool-pairing.ts";
import { parseConversation } from "../../helpers/notation.ts";

/** Pairs as `result -> call`, by event id; every call and result is given one call id. */
function pairs(notation: string, isHidden: (turn: number, index: number) => boolean = () => false): readonly string[] {
  const turns = parseConversation(notation).map(
    ({ index, events }): Turn => ({ index, events: events.map(withOneCallId) }),
  );
  return [...pairCalls(turns, isHidden)].map(([response, request]) => `${response.id} -> ${request.id}`);
}

function withOneCallId(event: Event): Event {
  return "call_id" in event ? { ...event, call_id: "same" } : event;
}

describe("pairCalls", () => {
  it("pairs calls of one id per turn, in the order of the results", () => {
    expect(pairs("U T t | U T T t t")).toEqual(["e0.3 -> e0.2", "e1.4 -> e1.2", "e1.5 -> e1.3"]);
  });

  it("lets a result without a call in its turn answer the nearest unanswered one before", () => {
    expect(pairs("U T | U T T t | U t t t")).toEqual(["e1.4 -> e1.2", "e2.2 -> e1.3", "e2.3 -> e0.2"]);
  });

  it("does not take a call after the result", () => {
    expect(pairs("U t T")).toEqual([]);
  });

  it("pairs hidden events inside their turn only", () => {
    expect(pairs("U T t", () => true)).toEqual(["e0.3 -> e0.2"]);
    expect(pairs("U T | U t | U t", (turn) => turn === 1)).toEqual(["e2.2 -> e0.2"]);
    expect(pairs("U T | U t", (turn) => turn === 0)).toEqual([]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { firstSafeStart, lastSafeCut, unfinishedLoop } from "../../src/core/safe-cut.ts";
import { parseConversation } from "../helpers/notation.ts";

/** Events of one turn; the turn_start is position 0. Words after a letter's `/` are message ids: `A/m1 T/m1`. */
function turnOf(notation: string): readonly Event[] {
  const words = notation.split(" ");
  const events = parseConversation(words.map((word) => word.split("/")[0]).join(" "))[0]?.events ?? [];
  return events.map((event, index) => {
    const id = words[index - 1]?.split("/")[1];
    return id === undefined ? event : { ...event, metadata: { message_id: id } };
  });
}

describe("lastSafeCut", () => {
  it.each([
    ["U R T t A", 2, 2, "between reasoning and a call of no known message"],
    ["U R T t A", 3, 2, "never between a call and its result"],
    ["U R T t A", 4, 4, "after the result"],
    ["U T T t t A", 4, 1, "never among parallel calls and their results"],
    ["U A/m T/m t A", 2, 1, "never inside one assistant message"],
    ["U A/m T/m t A", 3, 1, "nor between its last part and the result"],
    ["U T t T t", 99, 5, "the end of the turn"],
    ["U T", 2, 2, "after a call that was never answered"],
  ])("of %s at %d is %d: %s", (notation, index, cut) => {
    expect(lastSafeCut(turnOf(notation), index)).toBe(cut);
  });

  it("gives -1 before the first event", () => {
    expect(lastSafeCut(turnOf("U A"), -1)).toBe(-1);
    expect(lastSafeCut([], 3)).toBe(-1);
  });

  it("leaves no result without its call on the other side, and is its own answer", () => {
    const words = fc.array(fc.constantFrom("U", "A", "R", "T", "t", "A/m", "T/m", "N"), { maxLength: 12 });
    fc.assert(
      fc.property(words, fc.nat(12), (list, index) => {
        const events = turnOf(list.join(" "));
        const cut = lastSafeCut(events, index);
        expect(cut).toBeLessThanOrEqual(index);
        expect(lastSafeCut(events, cut)).toBe(cut);
        const before = events.slice(0, cut + 1);
        const open = before.filter(({ type }) => type === "tool_call_request").length;
        const answered = before.filter(({ type }) => type === "tool_call_response").length;
        const later = events.slice(cut + 1).filter(({ type }) => type === "tool_call_response");
        if (open > answered) expect(later).toEqual([]);
      }),
    );
  });
});

describe("firstSafeStart", () => {
  it.each([
    ["U R T t A", 0, 0],
    ["U R T t A", 4, 5],
    ["U R T t A", 5, 5],
    ["U A/m T/m t A", 3, 5],
    ["U T t", 99, 4],
  ])("of %s at %d is %d", (notation, index, start) => {
    expect(firstSafeStart(turnOf(notation), index)).toBe(start);
  });
});

describe("unfinishedLoop", () => {
  it.each<[string, number | null, string]>([
    ["U R T t A", null, "ends in an assistant's message"],
    ["U R T t", 1, "ends in a result"],
    ["U", 1, "has no answer yet"],
    ["U A R", 1, "ends in reasoning"],
    ["U T t A Q T", 5, "was asked again while the agent worked"],
    ["U A S", null, "ends in what the harness said after the answer"],
    ["U S", 1, "was only reminded by the harness"],
    ["U A N X", null, "ends in what no model sees"],
    ["S T t", 0, "has no request of the user"],
    ["N", null, "has nothing that a model sees"],
    ["U D", null, "ends in structured data"],
  ])("of %s is %s: the turn %s", (notation, start) => {
    expect(unfinishedLoop(turnOf(notation))).toBe(start);
  });
});

// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/core/conversation/event.ts";
import {
  firstSafeStart,
  lastSafeCut,
  listSafeCuts,
  unfinishedLoop,
} from "../../../src/core/conversation/tool-pairing.ts";
import { parseConversation } from "../../helpers/notation.ts";

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

/** Gives events the call ids listed, by position. */
function withCallIds(events: readonly Event[], ids: Readonly<Record<number, string>>): readonly Event[] {
  return events.map((event, at) => (ids[at] === undefined ? event : ({ ...event, call_id: ids[at] } as Event)));
}

describe("listSafeCuts", () => {
  it.each([
    ["U R T t A", [0, 1, 2, 4, 5]],
    ["U T t T t", [0, 1, 3, 5]],
    ["U T T t t A", [0, 1, 5, 6]],
    ["U A/m R/m T/m t A", [0, 1, 5, 6]],
    ["U A/m A/n R/m A/n A", [0, 1, 5, 6]],
    ["U t T t A", [0, 1, 2, 4, 5]],
  ])("of %s are %j", (notation, cuts) => {
    expect(listSafeCuts(turnOf(notation))).toEqual(cuts);
  });

  it("pair calls that share an id in their order, and leave events alone that share one with a call", () => {
    const twice = withCallIds(turnOf("U T T A t A t A"), { 2: "a", 3: "a", 5: "a", 7: "a" });
    expect(listSafeCuts(twice)).toEqual([0, 1, 7, 8]);
    const late = withCallIds(turnOf("U T t A T A"), { 2: "a", 3: "a", 5: "a" });
    expect(listSafeCuts(late)).toEqual([0, 1, 3, 4, 5, 6]);
    const odd = withCallIds(turnOf("U T A N t"), { 2: "a", 3: "a", 5: "a" });
    expect(listSafeCuts(odd)).toEqual([0, 1, 5]);
    expect(listSafeCuts([])).toEqual([]);
  });
});

describe("firstSafeStart", () => {
  it.each([
    ["U R T t A", -1, 0],
    ["U R T t A", 0, 0],
    ["U R T t A", 1, 1],
    ["T t", 1, 1],
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

  it("does not begin at what was said in another role than the user's", () => {
    const [start, ask, call, mind] = turnOf("U T U");
    if (!start || !ask || !call || !mind) throw new Error("four events were made");
    const as = (role: string) => unfinishedLoop([start, ask, call, { ...mind, role } as Event]);
    expect(["user", "system", "developer"].map(as)).toEqual([3, 1, 1]);
  });
});

// Which pins are in force, and which events they protect.
import { describe, expect, it } from "vitest";
import { isSamePin, pinnedEvents, pinsInForce } from "../../../src/core/conversation/marks.ts";
import { parseConversation } from "../../helpers/notation.ts";

describe("pinsInForce", () => {
  it("lets the latest word count for each turn and each event", () => {
    const records = [
      { pin: { turn: 1 } },
      { pin: { turn: 1, event: "e1.2" } },
      { unpin: { turn: 1 } },
      { pin: { turn: 3 } },
      { unpin: { turn: 3 } },
      { pin: { turn: 3 } },
    ];
    expect(pinsInForce(records)).toEqual([{ turn: 1, event: "e1.2" }, { turn: 3 }]);
  });

  it("passes over records that speak of something else or are damaged", () => {
    const records = [{}, { pin: true }, { pin: { turn: -1 } }, { pin: { turn: 1.5 } }, { pin: { turn: 0, event: 3 } }];
    expect(pinsInForce([...records, { pin: null }, { unpin: null }, { pin: "1" }])).toEqual([]);
  });

  it("takes the first turn for a turn like any other", () => {
    expect(pinsInForce([{ pin: { turn: 0 } }])).toEqual([{ turn: 0 }]);
  });

  it("takes two pins of one turn, or of one event, for one", () => {
    const event = { turn: 2, event: "e2.1" };
    expect(pinsInForce([{ pin: { turn: 2 } }, { pin: event }, { pin: { turn: 2 } }, { pin: event }])).toHaveLength(2);
  });
});

describe("isSamePin", () => {
  it.each([
    [{ turn: 1 }, { turn: 1 }, true],
    [{ turn: 1 }, { turn: 2 }, false],
    [{ turn: 1 }, { turn: 1, event: "a" }, false],
    [{ turn: 1, event: "a" }, { turn: 1, event: "a" }, true],
    [{ turn: 1, event: "a" }, { turn: 1, event: "b" }, false],
    [{ turn: 1, event: "a" }, { turn: 2, event: "a" }, false],
  ])("of %j and %j is %s", (a, b, expected) => {
    expect(isSamePin(a, b)).toBe(expected);
  });
});

describe("pinnedEvents", () => {
  const turns = parseConversation("U A | U R T N T t t A | U A");

  it("protects what a model is sent of a pinned turn, and nothing else", () => {
    expect(pinnedEvents([{ turn: 1 }], turns)).toEqual(["e1.1", "e1.2", "e1.3", "e1.6", "e1.5", "e1.7", "e1.8"]);
    expect(pinnedEvents([{ turn: 9 }], turns)).toEqual([]);
    expect(pinnedEvents([], turns)).toEqual([]);
  });

  it("protects one event of a turn without the rest of it", () => {
    expect(pinnedEvents([{ turn: 1, event: "e1.2" }], turns)).toEqual(["e1.2"]);
    expect(pinnedEvents([{ turn: 0, event: "e1.2" }], turns)).toEqual([]);
  });

  it("finds the partner of a call whose result comes in a later turn", () => {
    const late = parseConversation("U T A | U t A").map(({ index, events }) => ({
      index,
      events: events.map((event) => (event.type === "tool_call_response" ? { ...event, call_id: "c1" } : event)),
    }));
    expect(pinnedEvents([{ turn: 0, event: "e0.2" }], late)).toEqual(["e0.2", "e1.2"]);
  });

  it("brings the result along with its call, and the call with its result", () => {
    expect(pinnedEvents([{ turn: 1, event: "e1.3" }], turns)).toEqual(["e1.3", "e1.6"]);
    expect(pinnedEvents([{ turn: 1, event: "e1.7" }], turns)).toEqual(["e1.7", "e1.5"]);
  });

  it("protects nothing by an event that no model is sent", () => {
    expect(pinnedEvents([{ turn: 1, event: "e1.4" }], turns)).toEqual([]);
  });
});

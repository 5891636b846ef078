// Which pins are in force, and which events they protect.

import { describe, expect, it } from "vitest";
import {
  type CommentRecord,
  commentsInForce,
  isSamePin,
  marksInForce,
  parseComment,
  parseLabel,
  parseTitle,
  pinnedEvents,
  pinsInForce,
  shownTitle,
  titleOfRequest,
} from "../../../src/core/conversation/marks.ts";
import { JpgError } from "../../../src/core/errors.ts";
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

  it("skips records of other kinds and damaged ones", () => {
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

const at = (id: string, fields: Partial<CommentRecord>): CommentRecord => ({
  id,
  timestamp: "2026-01-01T00:00:00.000Z",
  ...fields,
});

describe("commentsInForce", () => {
  it("gives each comment for itself, those taken back left out, whichever record is older", () => {
    const records = [
      at("r", { uncomment: "b" }),
      at("a", { comment: { turn: 2, text: "first" } }),
      at("b", { comment: { turn: 2, text: "taken back" } }),
      at("c", { comment: { turn: 0, event: "e1", text: "second\nline" } }),
    ];
    expect(commentsInForce(records).map(({ id, turn, event, text }) => [id, turn, event, text])).toEqual([
      ["a", 2, undefined, "first"],
      ["c", 0, "e1", "second\nline"],
    ]);
  });

  it.each([
    ["no object", "words"],
    ["no turn", { text: "x" }],
    ["a turn that is none", { turn: -1, text: "x" }],
    ["half a turn", { turn: 0.5, text: "x" }],
    ["an event that is no text", { turn: 0, event: 3, text: "x" }],
    ["nothing said", { turn: 0, text: " " }],
    ["a text that is none", { turn: 0, text: ["x"] }],
  ])("passes over what is damaged: %s", (_, comment) => {
    expect(commentsInForce([at("a", { comment })])).toEqual([]);
  });
});

describe("parseComment", () => {
  it("keeps lines and trims ends", () => {
    expect(parseComment(" one\r\n  two \n")).toBe("one\n  two");
  });

  it("takes 1 to 10,000 characters", () => {
    expect(parseComment("🦊".repeat(10_000))).toHaveLength(20_000);
    for (const text of ["", " \n", "x".repeat(10_001)]) expect(() => parseComment(text)).toThrow(JpgError);
  });
});

describe("parseTitle", () => {
  it("makes one clean line", () => {
    expect(parseTitle("  Fix\tthe\n\u001b[31mparser\u202e ")).toBe("Fix the parser");
  });

  it("takes 200 characters and no more, and names the limit", () => {
    expect(parseTitle("🎉".repeat(200))).toBe("🎉".repeat(200));
    expect(() => parseTitle("x".repeat(102_400))).toThrow(
      expect.objectContaining({
        code: "long_title",
        message: "A title has at most 200 characters; this one has 102400.",
      }),
    );
  });

  it("refuses a title of which nothing is left", () => {
    for (const text of ["", " \n", "\u001b[2J\u202e"])
      expect(() => parseTitle(text)).toThrow(expect.objectContaining({ code: "empty_title" }));
  });
});

describe("titles that others wrote", () => {
  it("are cut, between characters", () => {
    expect(shownTitle("🎉".repeat(300))).toBe(`${"🎉".repeat(199)}…`);
    expect(titleOfRequest(`${"🎉".repeat(79)} and more`)).toBe(`${"🎉".repeat(79)}…`);
    expect(titleOfRequest("x".repeat(80))).toBe("x".repeat(80));
    expect(titleOfRequest("\u0000")).toBe("");
  });
});

describe("marks of a conversation", () => {
  it("are those of the latest record that has them", () => {
    expect(marksInForce([])).toEqual({ archived: false, labels: [] });
    const records = [{ archived: true }, { labels: ["a"] }, {}, { labels: ["c", "b", "c"] }];
    expect(marksInForce(records)).toEqual({ archived: true, labels: ["b", "c"] });
    expect(marksInForce([...records, { archived: false }, { labels: [] }])).toEqual({ archived: false, labels: [] });
  });

  it("of a damaged or foreign record do not count, and steer no terminal", () => {
    const damaged = [
      { archived: true, labels: ["x"] },
      { archived: "no", labels: "y" },
    ];
    expect(marksInForce(damaged)).toEqual({ archived: true, labels: ["x"] });
    expect(marksInForce([{ labels: [7, " ", "\u001b[31mred\n", "\u202eno"] }]).labels).toEqual(["no", "red"]);
    expect(marksInForce([{ labels: Array.from({ length: 99 }, (_, n) => `l${n}`) }]).labels).toHaveLength(50);
  });
});

describe("a label", () => {
  it("is one line of 1 to 50 characters without a comma", () => {
    expect(parseLabel("  to  review ")).toBe("to review");
    expect(parseLabel("Büro".normalize("NFD"))).toBe("Büro");
    for (const text of ["", " \n", "a,b", "x".repeat(51)]) expect(() => parseLabel(text)).toThrow(JpgError);
  });
});

// @module-tag law
// The notation itself: what is parsed is printed back, and ids and calls come out as its comment says.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseConversation, printConversation } from "./notation.ts";

const letters = fc.constantFrom("U", "Q", "S", "A", "R", "D", "T", "T:grep", "t", "t!", "N", "X");
const notation = fc
  .array(fc.array(letters, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 })
  .map((turns) => turns.map((turn) => turn.join(" ")).join(" | "));

describe("the conversation notation", () => {
  it("prints back what it parsed", () => {
    fc.assert(fc.property(notation, (text) => printConversation(parseConversation(text)) === text));
  });

  it("numbers events by turn and place and answers calls in order", () => {
    const [, turn] = parseConversation("U A | U T T:grep t t!");
    expect(turn?.events.map(({ id }) => id)).toEqual(["e1.0", "e1.1", "e1.2", "e1.3", "e1.4", "e1.5"]);
    expect(turn?.events.slice(2)).toMatchObject([
      { call_id: "c1", name: "tool" },
      { call_id: "c2", name: "grep" },
      { call_id: "c1", is_error: false },
      { call_id: "c2", is_error: true },
    ]);
  });

  it("leaves out the turn_start of a first turn marked with ^", () => {
    const text = "^ U A | U";
    expect(parseConversation(text)[0]?.events.map(({ type }) => type)).toEqual(["chat_request", "chat_response"]);
    expect(printConversation(parseConversation(text))).toBe(text);
  });

  it("says which letter it does not know", () => {
    expect(() => parseConversation("U Z")).toThrow('"Z" is no event letter');
  });
});

import { describe, expect, it } from "vitest";
import { groupTurns } from "../../../src/core/compact/event-ledger.ts";
import { answer, request } from "../../helpers/sample-view.ts";

describe("groupTurns", () => {
  it("puts events back into their turns, in order, and makes none of turns without events", () => {
    const [a, b, c] = [request("a", "1"), answer("b", "2"), request("c", "3")];
    expect(
      groupTurns([
        { turn: 4, event: a },
        { turn: 4, event: b },
        { turn: 7, event: c },
      ]),
    ).toEqual([
      { index: 4, events: [a, b] },
      { index: 7, events: [c] },
    ]);
    expect(groupTurns([])).toEqual([]);
  });
});

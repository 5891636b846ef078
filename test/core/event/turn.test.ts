import { describe, expect, it } from "vitest";
import { type Event, splitTurns, traitsOf } from "../../../src/core/conversation/event.ts";

const timestamp = "2026-01-02T03:04:05Z";
const start = (id: string): Event => ({ type: "turn_start", id, timestamp });
const ask = (id: string): Event => ({ type: "chat_request", id, timestamp, content: id });
const note = (id: string): Event => ({ type: "note", id, timestamp, kind: "progress" });
const split = (...events: Event[]): string[][] =>
  splitTurns(events, (event) => traitsOf(event).providerVisible).map((turn) => turn.events.map((event) => event.id));

describe("splitTurns", () => {
  it("opens a turn at each turn_start", () => {
    expect(split(start("s0"), ask("a"), start("s1"), ask("b"))).toEqual([
      ["s0", "a"],
      ["s1", "b"],
    ]);
  });

  it("makes turn 0 of what a model is sent before the first turn_start", () => {
    expect(split(note("n"), ask("a"), start("s1"), ask("b"))).toEqual([
      ["n", "a"],
      ["s1", "b"],
    ]);
  });

  it("gives notes before the first turn_start to the first turn, after its start", () => {
    expect(split(note("n"), note("m"), start("s0"), ask("a"))).toEqual([["s0", "n", "m", "a"]]);
  });

  it("keeps a stream without any turn_start as one turn, and an empty one as none", () => {
    expect(split(note("n"))).toEqual([["n"]]);
    expect(split()).toEqual([]);
  });

  it("opens no turn at a second request inside a turn", () => {
    expect(split(start("s0"), ask("a"), ask("b"))).toEqual([["s0", "a", "b"]]);
  });
});

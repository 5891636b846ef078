// Bounds of an agent's own compaction that fall on what jpg wrote into the session: no event of the conversation, so they go to one.
import { describe, expect, it } from "vitest";
import { type ExportedPositions, placeCompactions } from "../../../src/app/import/continued-session.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";

const TIME = "2026-05-01T00:00:00.000Z";

/** A session of three turns `r0 a0 r1 a1 r2 a2`, exported with a summary of turn 0 and an index after the request of turn 1. */
function positions(): ExportedPositions {
  const summary: Compaction = {
    type: "compaction",
    id: "sum1",
    timestamp: TIME,
    from_turn: 0,
    to_turn: 0,
    to_event: "a0",
    summary: { summary: "what came before" },
  };
  const strip: Compaction = {
    type: "compaction",
    id: "strip1",
    timestamp: TIME,
    from_turn: 1,
    to_turn: 1,
    to_event: "r1",
    reasoning: "strip",
  };
  const shown = ["sum1", "r1", "strip1.index", "strip1.notice", "a1", "r2", "a2"];
  return {
    lines: new Map(shown.map((id) => [`line-${id.replace(".", "-")}`, id])),
    held: new Map(),
    turnOf: new Map(shown.map((id) => [id, id === "sum1" ? 0 : id.endsWith("2") ? 2 : 1])),
    inForce: new Map([summary, strip].map((compaction) => [compaction.id, compaction])),
    stored: ["r2", "a2"].map((id) => ({ type: "chat_request", id, timestamp: TIME, content: id })),
    last: 2,
    base: 3,
  };
}

/** Where a compaction lands that the agent made between two lines. */
function placed(bounds: Pick<Compaction, "from_event" | "to_event">, at = positions()) {
  const made: Compaction = { type: "compaction", id: "own", timestamp: TIME, from_turn: 0, to_turn: 2, ...bounds };
  const [{ from_turn, from_event, to_turn, to_event } = made] = placeCompactions([made], at);
  return [from_turn, from_event, to_turn, to_event];
}

describe("a bound of an agent's own compaction", () => {
  it("stays where it is an event of the conversation", () => {
    expect(placed({ from_event: "line-r1", to_event: "line-a1" })).toEqual([1, "r1", 1, "a1"]);
  });

  it.each(["line-strip1-index", "line-strip1-notice"])("goes to the end of what %s covers", (line) => {
    expect(placed({ to_event: line })).toEqual([0, undefined, 1, "r1"]);
  });

  it.each(["line-strip1-index", "line-strip1-notice"])("begins after %s with what was said", (line) => {
    expect(placed({ from_event: line, to_event: "line-a2" })).toEqual([1, "a1", 2, "a2"]);
  });

  it("goes to the ends of a summary", () => {
    expect(placed({ to_event: "line-sum1" })).toEqual([0, undefined, 0, "a0"]);
    expect(placed({ from_event: "line-sum1", to_event: "line-r1" })).toEqual([0, undefined, 1, "r1"]);
  });

  it("goes to the ends of a replacement, whose events are no events of the conversation either", () => {
    const at = positions();
    const said = (id: string) => ({ type: "chat_request", id, timestamp: TIME, content: id }) as const;
    const { summary: _, ...rest } = at.inForce.get("sum1") as Compaction;
    // The ids of its events are its own, or come from its position in the list.
    const replacing = { ...rest, replacement: [said("own1"), { ...said("own2"), id: "" }] };
    const shown = ["own1", "sum1.1", "r1", "a1", "r2", "a2"];
    const replaced: ExportedPositions = {
      ...at,
      lines: new Map(shown.map((id) => [`line-${id.replace(".", "-")}`, id])),
      turnOf: new Map([...at.turnOf, ["own1", 0], ["sum1.1", 0]]),
      inForce: new Map([["sum1", replacing]]),
    };
    for (const line of ["line-own1", "line-sum1-1"]) {
      expect(placed({ to_event: line }, replaced)).toEqual([0, undefined, 0, "a0"]);
      expect(placed({ from_event: line, to_event: "line-r1" }, replaced)).toEqual([0, undefined, 1, "r1"]);
    }
  });

  it("never reaches past what was exported", () => {
    const at = positions();
    const whole: Compaction = { ...(at.inForce.get("strip1") as Compaction), to_turn: 2 };
    delete (whole as { to_event?: string }).to_event;
    expect(placed({ to_event: "line-strip1-index" }, { ...at, inForce: new Map([["strip1", whole]]) })).toEqual([
      0,
      undefined,
      2,
      "a2",
    ]);
  });
});

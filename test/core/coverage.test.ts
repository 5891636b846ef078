// The coverage check finds each way in which a view can be wrong.
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/compaction.ts";
import { checkCoverage } from "../../src/core/coverage.ts";
import type { Event } from "../../src/core/event.ts";
import { projectTurns } from "../../src/core/projection.ts";
import type { ProjectedTurn, View } from "../../src/core/view.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../helpers/make-compaction.ts";
import { parseConversation } from "../helpers/notation.ts";

const turns = parseConversation("U A | U R T t A | U A");
const compactions: readonly Compaction[] = [
  makeCompaction("s", [0, 0], summaryOf("S")),
  makeCompaction("m", [1, 2], { ...STRIP_TOOLS, reasoning: "strip" }),
];
const good = projectTurns(turns, compactions);

function check(view: View, dropped?: ReadonlySet<string>): readonly string[] {
  const violations = checkCoverage(turns, compactions, view, dropped === undefined ? {} : { dropped });
  return violations.map(({ rule, id }) => `${rule} ${id}`);
}

function change(edit: (turn: ProjectedTurn, at: number) => ProjectedTurn[]): View {
  return { turns: good.turns.flatMap(edit) };
}

function editEvents(edit: (event: Event) => readonly Event[]): View {
  return change((turn) => [{ ...turn, events: turn.events.flatMap(edit) }]);
}

describe("checkCoverage", () => {
  it("finds nothing wrong with a projection", () => {
    expect(check(good)).toEqual([]);
  });

  it("finds an event that is missing, unless a hardening rule dropped it", () => {
    const view = editEvents((event) => (event.id === "e1.5" ? [] : [event]));
    expect(check(view)).toEqual(["event_missing e1.5"]);
    expect(check(view, new Set(["e1.5"]))).toEqual([]);
  });

  it("finds an event that is shown twice", () => {
    expect(check(editEvents((event) => (event.id === "e1.5" ? [event, event] : [event])))).toEqual([
      "event_repeated e1.5",
    ]);
  });

  it("finds hidden and removed events that are shown, in words", () => {
    const view = change((turn, at) =>
      at === 0 ? [turn, { origin: { kind: "kept", turn: 0 }, events: turns[0]?.events ?? [] }] : [turn],
    );
    expect(check(view)).toEqual(["event_not_hidden e0.1", "event_not_hidden e0.2"]);
    const [first] = checkCoverage(turns, compactions, view);
    expect(first?.message).toBe("e0.1 is shown, although compaction s hides it");
    const thinking = turns[1]?.events[2] as Event;
    expect(check(editEvents((event) => (event.id === "e1.1" ? [event, thinking] : [event])))).toEqual([
      "event_not_hidden e1.2",
    ]);
  });

  it("finds events that were changed without cause or not as the winner says", () => {
    const edited = editEvents((event) => [event.id === "e2.2" ? ({ ...event, message: "other" } as Event) : event]);
    expect(check(edited)).toEqual(["event_not_as_expected e2.2"]);
    const raw = turns[1]?.events[4] as Event;
    expect(check(editEvents((event) => [event.id === "e1.4" ? raw : event]))).toEqual(["event_not_as_expected e1.4"]);
    const renamed = editEvents((event) => [event.id === "e1.3" ? ({ ...event, name: "other" } as Event) : event]);
    expect(check(renamed)).toEqual(["event_not_as_expected e1.3"]);
  });

  it("finds events that are made up or out of order", () => {
    const made = { type: "chat_response", id: "made", timestamp: "", message: "up" } as const;
    expect(check(editEvents((event) => (event.id === "e2.2" ? [event, made] : [event])))).toEqual([
      "event_unknown made",
    ]);
    expect(check({ turns: good.turns.toReversed() })).toEqual(["order_broken e1.1"]);
  });

  it("finds a summary that is missing, repeated or stands for nothing", () => {
    expect(check({ turns: good.turns.slice(1) })).toEqual(["replacement_missing s"]);
    expect(check(change((turn, at) => (at === 0 ? [turn, turn] : [turn])))).toEqual(["replacement_repeated s"]);
    const unfounded = [...compactions, makeCompaction("z", [0, 0], summaryOf("Z"), 2)];
    expect(checkCoverage(turns, unfounded, good).map(({ rule, id }) => `${rule} ${id}`)).toEqual([
      "replacement_unfounded s",
      "replacement_missing z",
    ]);
  });
});

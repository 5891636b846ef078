// How the events of one turn are laid out when something is hidden or injected inside it: ids and origins, part by part.
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { project, projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

/** Each projected turn as its kind (`+` = a part) and the ids of its events. */
function layout(conversation: string, ...compactions: Compaction[]): readonly string[] {
  return projectTurns(parseConversation(conversation), compactions).turns.map(({ origin, events }) => {
    const part = origin.kind === "kept" && origin.part === true ? "+" : "";
    return `${origin.kind}${part} ${events.map(({ id }) => id).join(" ")}`;
  });
}

const cut = (from_event: string, to_event: string, more: Partial<Compaction> = summaryOf("S")): Compaction =>
  makeCompaction("s", [0, 0], { from_event, to_event, ...more });

describe("a turn with something hidden in it", () => {
  it.each<[string, string, Compaction, readonly string[]]>([
    [
      "shows notes behind the summary in the part before it",
      "U A N",
      cut("e0.2", "e0.2"),
      ["kept+ e0.0 e0.1 e0.3", "summary s.turn s.request s.response"],
    ],
    [
      "shows notes before the summary in the part behind it",
      "N U A",
      cut("e0.2", "e0.2"),
      ["summary s.turn s.request", "kept+ e0.0 e0.1 e0.3"],
    ],
    ["leaves notes out that no part can take", "U A N", cut("e0.1", "e0.2"), ["summary s.turn s.request s.response"]],
    [
      "has two parts where an omission leaves something on both sides",
      "U A T t A",
      cut("e0.2", "e0.4", { turns: "omit" }),
      ["kept+ e0.0 e0.1", "kept+ e0.5.turn e0.5"],
    ],
    ["is whole when only a note is omitted", "U N A", cut("e0.2", "e0.2", { turns: "omit" }), ["kept e0.0 e0.1 e0.3"]],
    [
      "names a part after its first event, though that is shortened away",
      "U A R A",
      cut("e0.2", "e0.2", { ...summaryOf("S"), reasoning: "strip" }),
      ["kept+ e0.0 e0.1", "summary s.turn s.request", "kept+ e0.3.turn e0.3 e0.4"],
    ],
    [
      "has a start of its own when the raw one is missing",
      "^ U A A",
      cut("e0.2", "e0.2"),
      ["kept+ e0.1", "summary s.turn s.request", "kept+ e0.3.turn e0.3"],
    ],
  ])("%s", (_what, conversation, compaction, expected) => {
    expect(layout(conversation, compaction)).toEqual(expected);
  });

  it("names a part after an event that a policy leaves out of it", () => {
    const strip = makeCompaction("m", [0, 0], { reasoning: "strip" }, 2);
    expect(layout("U A R A", cut("e0.2", "e0.2"), strip)).toEqual([
      "kept+ e0.0 e0.1",
      "summary s.turn s.request",
      "kept+ e0.3.turn e0.4",
    ]);
  });

  it("gives a start of its own the time of the event it is named after", () => {
    const turns = parseConversation("U A A");
    const [, summary, rest] = projectTurns(turns, [cut("e0.2", "e0.2")]).turns;
    expect(summary?.events[0]).toEqual({ type: "turn_start", id: "s.turn", timestamp: "2026-01-01T00:00:00.000Z" });
    expect(rest?.events[0]).toEqual({ type: "turn_start", id: "e0.3.turn", timestamp: "2026-01-01T00:00:03.000Z" });
  });
});

describe("a turn with nothing hidden in it", () => {
  it("is left out when it has no events", () => {
    const [first, , last] = parseConversation("U A | U | U A");
    const view = projectTurns([first!, { index: 1, events: [] }, last!], [makeCompaction("m", [0, 2], STRIP_TOOLS)]);
    expect(view.turns.map(({ origin }) => origin)).toEqual([
      { kind: "kept", turn: 0 },
      { kind: "kept", turn: 2 },
    ]);
  });

  it("has a start unless it is the first and says something", () => {
    expect(layout("^ U A")).toEqual(["kept e0.1 e0.2"]);
    expect(layout("^ N")).toEqual(["kept e0.1.turn e0.1"]);
    expect(layout("^ U A | ^ U A")).toEqual(["kept e0.1 e0.2", "kept e1.1.turn e1.1 e1.2"]);
  });

  it("keeps its start when policies leave nothing else", () => {
    expect(layout("R", makeCompaction("m", [0, 0], { reasoning: "strip" }))).toEqual(["kept e0.0"]);
    expect(layout("^ R", makeCompaction("m", [0, 0], { reasoning: "strip" }))).toEqual(["kept e0.1.turn"]);
  });
});

describe("a summary", () => {
  it("has the time of the turn that it stands in the place of, or none when that was not read", () => {
    const turns = parseConversation("U A | U A | U A");
    const compactions = [makeCompaction("s", [1, 1], summaryOf("S"))];
    expect(projectTurns(turns, compactions).turns[1]?.events[0]?.timestamp).toBe("2026-01-01T01:00:00.000Z");
    const read = new Map([0, 2].map((turn) => [turn, turns[turn]!]));
    expect(project({ turnCount: 3, turns: read, compactions }).turns[1]?.events[0]?.timestamp).toBe("");
  });

  it("goes to a turn that says nothing as to one that was not read: by who decides over its first event", () => {
    expect(layout("N | U A", makeCompaction("s", [0, 0], summaryOf("S")))).toEqual([
      "summary s.turn s.request s.response",
      "kept e1.0 e1.1 e1.2",
    ]);
    expect(layout("N | U A", makeCompaction("s", [0, 0], { from_event: "e0.1", ...summaryOf("S") }))).toEqual([
      "kept e1.0 e1.1 e1.2",
    ]);
    expect(layout("N | U A", makeCompaction("s", [0, 0], { to_event: "e0.0", ...summaryOf("S") }))).toEqual([
      "summary s.turn s.request s.response",
      "kept e1.0 e1.1 e1.2",
    ]);
  });

  it("is told apart as a request only when the turn it ends in says more", () => {
    const ends = (conversation: string, to_event: string): readonly string[] =>
      layout(conversation, makeCompaction("s", [0, 1], { to_event, ...summaryOf("S") }));
    expect(ends("U A | U A A", "e1.2")).toEqual(["summary s.turn s.request", "kept+ e1.0 e1.3"]);
    expect(ends("U A | U A N", "e1.2")).toEqual(["summary s.turn s.request s.response"]);
    expect(ends("U A | U A | U A", "e1.2")).toEqual(["summary s.turn s.request s.response", "kept e2.0 e2.1 e2.2"]);
    const omitted = makeCompaction("o", [1, 1], { from_event: "e1.3", turns: "omit" }, 2);
    const summary = makeCompaction("s", [0, 1], { to_event: "e1.2", ...summaryOf("S") });
    expect(layout("U A | U A A", omitted, summary)).toEqual(["summary s.turn s.request s.response"]);
  });

  it("that lacks a turn says which", () => {
    const ask = () =>
      project({ turnCount: 3, turns: new Map(), compactions: [makeCompaction("s", [0, 0], summaryOf("S"))] });
    expect(ask).toThrowError(
      expect.objectContaining({
        kind: "internal",
        code: "turn_not_read",
        message: "cannot project turn 1: it is not wholly hidden, but its events were not handed in",
        data: { turn: 1 },
      }),
    );
  });
});

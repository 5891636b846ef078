// The coverage check finds each way in which a view can be wrong.

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Expectation } from "../../../src/core/conversation/contents/content-type.ts";
import { checkCoverage, looksAsExpected } from "../../../src/core/conversation/coverage.ts";
import type { Event, ProjectedTurn, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

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

const messagesOf = (view: View): readonly string[] =>
  checkCoverage(turns, compactions, view).map(({ message }) => message);

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

  it("finds what is wrong around hidden turns that were not read", () => {
    const read = (view: View): readonly string[] =>
      checkCoverage(turns.slice(1), compactions, view, { turnCount: 3 }).map(({ rule, id }) => `${rule} ${id}`);
    expect(read(good)).toEqual([]);
    const shown: ProjectedTurn = { origin: { kind: "kept", turn: 0 }, events: turns[0]?.events ?? [] };
    expect(read(change((turn, at) => (at === 0 ? [turn, shown] : [turn])))).toEqual([
      "event_unknown e0.1",
      "event_unknown e0.2",
    ]);
    expect(read(change((turn, at) => (at === 0 ? [] : [turn])))).toEqual(["replacement_missing s"]);
    expect(read(change((turn, at) => (at === 0 ? [turn, turn] : [turn])))).toEqual(["replacement_repeated s"]);
    expect(read(editEvents((event) => (event.id === "e1.5" ? [] : [event])))).toEqual(["event_missing e1.5"]);
  });

  it("finds events that are made up or out of order", () => {
    const made = { type: "chat_response", id: "made", timestamp: "", message: "up" } as const;
    expect(check(editEvents((event) => (event.id === "e2.2" ? [event, made] : [event])))).toEqual([
      "event_unknown made",
    ]);
    expect(check({ turns: good.turns.toReversed() })).toEqual(["order_broken e1.1"]);
  });

  it("says in words what is wrong", () => {
    const made = { type: "chat_response", id: "made", timestamp: "", message: "up" } as const;
    expect(messagesOf(editEvents((event) => (event.id === "e1.5" ? [] : [event])))).toEqual([
      "e1.5 is not shown, although nothing hides it",
    ]);
    expect(messagesOf(editEvents((event) => (event.id === "e1.5" ? [event, event, event] : [event])))).toEqual([
      "e1.5 is shown 3 times",
    ]);
    const thinking = turns[1]?.events[2] as Event;
    expect(messagesOf(editEvents((event) => (event.id === "e1.1" ? [event, thinking] : [event])))).toEqual([
      "e1.2 is shown, although a policy leaves it out",
    ]);
    const raw = turns[1]?.events[4] as Event;
    expect(messagesOf(editEvents((event) => [event.id === "e1.4" ? raw : event]))).toEqual([
      "e1.4 does not look as the winning compaction requires: stripped",
    ]);
    expect(messagesOf(editEvents((event) => (event.id === "e2.2" ? [event, made] : [event])))).toEqual([
      "made is shown as kept but is not an event of the conversation",
    ]);
    expect(messagesOf({ turns: good.turns.toReversed() })).toEqual(["e1.1 is shown after an event that follows it"]);
    expect(messagesOf({ turns: good.turns.slice(1) })).toEqual(["s hides events but is not in the view"]);
    expect(messagesOf(change((turn, at) => (at === 0 ? [turn, turn, turn] : [turn])))).toEqual([
      "s is in the view 3 times",
    ]);
    const newer = [...compactions, makeCompaction("z", [0, 0], summaryOf("Z"), 2)];
    expect(checkCoverage(turns, newer, good).map(({ message }) => message)).toEqual([
      "s is in the view but hides nothing",
      "z hides events but is not in the view",
    ]);
  });

  it("ignores the place of events that no model is sent", () => {
    const note = { type: "note", id: "n", timestamp: "", kind: "progress" } as const;
    expect(check(editEvents((event) => [event, note]))).toEqual([]);
    expect(check(editEvents((event) => (event.type === "turn_start" ? [] : [event])))).toEqual([]);
  });

  it("does not look into the turns of summaries for events of the conversation", () => {
    const [summary] = good.turns;
    const inside = { ...summary!, events: [...summary!.events, ...turns[2]!.events] };
    expect(check({ turns: [inside, ...good.turns.slice(1)] })).toEqual([]);
  });

  it("finds an omission or an empty list that is in the view", () => {
    for (const fields of [{ turns: "omit" }, { replacement: [] }] as const) {
      const hiding = makeCompaction("o", [0, 0], fields);
      const standing = { origin: { kind: "summary", from: 0, to: 0, compaction: "o" }, events: [] } as const;
      const view = projectTurns(turns, [hiding]);
      expect(checkCoverage(turns, [hiding], view)).toEqual([]);
      expect(checkCoverage(turns, [hiding], { turns: [standing, ...view.turns] })).toEqual([
        { rule: "replacement_unfounded", id: "o", message: "o is in the view but hides nothing" },
      ]);
    }
  });

  it("says nothing of a summary over turns that show a model nothing", () => {
    const silent = parseConversation("N | U A");
    const summary = makeCompaction("s", [0, 0], summaryOf("S"));
    const shown = projectTurns(silent, []);
    const standing = { origin: { kind: "summary", from: 0, to: 0, compaction: "s" }, events: [] } as const;
    expect(checkCoverage(silent, [summary], shown)).toEqual([]);
    expect(checkCoverage(silent, [summary], { turns: [standing, ...shown.turns] })).toEqual([]);
    const later = makeCompaction("s", [1, 1], { keep: ["e1.1", "e1.2"], ...summaryOf("S") });
    expect(checkCoverage(silent, [later], { turns: [standing, ...shown.turns] })).toMatchObject([
      { rule: "replacement_unfounded" },
    ]);
  });

  it("finds two events of which only the order is wrong", () => {
    const swapped = change((turn) => [{ ...turn, events: turn.events.toSorted((a, b) => (a.id < b.id ? 1 : -1)) }]);
    expect(new Set(check(swapped).map((line) => line.split(" ")[0]))).toEqual(new Set(["order_broken"]));
  });

  it("finds a summary that is missing, repeated or replaces nothing", () => {
    expect(check({ turns: good.turns.slice(1) })).toEqual(["replacement_missing s"]);
    expect(check(change((turn, at) => (at === 0 ? [turn, turn] : [turn])))).toEqual(["replacement_repeated s"]);
    const unfounded = [...compactions, makeCompaction("z", [0, 0], summaryOf("Z"), 2)];
    expect(checkCoverage(turns, unfounded, good).map(({ rule, id }) => `${rule} ${id}`)).toEqual([
      "replacement_unfounded s",
      "replacement_missing z",
    ]);
  });
});

// What an event may look like in a view, by what the rules want of it.

const base = { id: "e", timestamp: "2026-01-01T00:00:00Z" };
const request = { type: "chat_request", ...base, content: "look at this" } as const;
const call = { type: "tool_call_request", ...base, call_id: "c", name: "read", arguments: { path: "a" } } as const;
const result = {
  type: "tool_call_response",
  ...base,
  call_id: "c",
  content: "line ".repeat(30),
  is_error: false,
} as const;
const answer = { type: "chat_response", ...base, message: "done" } as const;
const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;

/** The event with other fields. */
const like = (event: Event, changes: object): Event => ({ ...event, ...changes }) as Event;

describe("how an event looks in a view", () => {
  it.each<[string, Expectation, Event, Event, boolean]>([
    ["what is gone looks like nothing", "gone", answer, answer, false],
    ["what is unchanged is the same", "unchanged", answer, answer, true],
    ["a copy is the same", "unchanged", answer, { ...answer }, true],
    ["another text is not the same", "unchanged", answer, like(answer, { message: "did" }), false],

    ["a stripped call has no arguments", "stripped", call, like(call, { arguments: {} }), true],
    ["a call with arguments is not stripped", "stripped", call, call, false],
    ["a stripped call keeps its name", "stripped", call, like(call, { arguments: {}, name: "write" }), false],

    [
      "a stripped result says how it went",
      "stripped",
      result,
      like(result, { content: "[compacted] read: success" }),
      true,
    ],
    ["with a pointer", "stripped", result, like(result, { content: "[compacted] read: success · e" }), true],
    ["with a first line", "stripped", result, like(result, { content: "[compacted] read: success\nline" }), true],
    ["of a tool of any name", "stripped", result, like(result, { content: "[compacted] re\nad\u2028: success" }), true],
    ["a result as it was is not stripped", "stripped", result, result, false],
    [
      "one that begins otherwise is not stripped",
      "stripped",
      result,
      like(result, { content: "x [compacted] read: success" }),
      false,
    ],
    [
      "one that goes on is not stripped",
      "stripped",
      result,
      like(result, { content: "[compacted] read: successful" }),
      false,
    ],
    [
      "one that says the wrong thing is not stripped",
      "stripped",
      result,
      like(result, { content: "[compacted] read: error" }),
      false,
    ],
    [
      "parts are no stub",
      "stripped",
      result,
      like(result, { content: [{ type: "text", text: "[compacted] read: success" }] }),
      false,
    ],
    [
      "the stub of a failure says so",
      "stripped",
      like(result, { is_error: true }),
      like(result, { is_error: true, content: "[compacted] read: error" }),
      true,
    ],
    [
      "the stub of a failure does not say that it went well",
      "stripped",
      like(result, { is_error: true }),
      like(result, { is_error: true, content: "[compacted] read: success" }),
      false,
    ],
    [
      "a stripped result stays a failure",
      "stripped",
      like(result, { is_error: true }),
      like(result, { content: "[compacted] read: success" }),
      false,
    ],

    ["a stripped request may be as it was", "stripped", request, request, true],
    [
      "a stripped request holds texts",
      "stripped",
      request,
      like(request, { content: [{ type: "text", text: "a" }] }),
      true,
    ],
    ["no image", "stripped", request, like(request, { content: [{ type: "text", text: "a" }, image] }), false],
    ["no document", "stripped", request, like(request, { content: [{ type: "document" }] }), false],
    ["no attachment", "stripped", request, like(request, { content: [{ type: "attachment", name: "a" }] }), false],
    ["a stripped request keeps its role", "stripped", request, like(request, { role: "system" }), false],
    ["an answer cannot be stripped of its text", "stripped", answer, like(answer, { message: "" }), false],
    ["an answer has nothing to strip", "stripped", answer, answer, true],

    ["a truncated result is shorter", "truncated", result, like(result, { content: "line …" }), true],
    ["as long", "truncated", result, result, true],
    ["not longer", "truncated", result, like(result, { content: `${result.content}!` }), false],
    ["and of the same call", "truncated", result, like(result, { content: "line", call_id: "d" }), false],
    ["truncated arguments are shorter", "truncated", call, like(call, { arguments: {} }), true],
    ["truncated arguments are not longer", "truncated", call, like(call, { arguments: { path: "ab" } }), false],
    ["an answer is never truncated", "truncated", answer, like(answer, { message: "do" }), false],
  ])("%s", (_what, expectation, event, copy, expected) => {
    expect(looksAsExpected(event, copy, expectation)).toBe(expected);
  });
});

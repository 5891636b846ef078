// What a view shows, case by case; conversations and views are one line each (test/helpers/notation.ts).

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { project, projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation, printView } from "../../helpers/notation.ts";

function view(conversation: string, ...compactions: Compaction[]): string {
  return printView(projectTurns(parseConversation(conversation), compactions));
}

const FOUR = "U A | U A | U A | U A";

describe("hiding", () => {
  it("puts one summary in the place of the turns it hides", () => {
    expect(view(FOUR, makeCompaction("s", [0, 2], summaryOf("S")))).toBe("<s> | U A");
  });

  it("leaves omitted turns out without a trace, notes and unknown events included", () => {
    expect(view("U A | U A N X | U A", makeCompaction("o", [1, 1], { turns: "omit" }))).toBe("U A | U A");
  });

  it("gives a turn to the newest of the summaries that cover it and injects each one once", () => {
    const outer = makeCompaction("outer", [0, 2], summaryOf("O"), 1);
    const inner = makeCompaction("inner", [1, 1], summaryOf("I"), 2);
    expect(view(FOUR, outer, inner)).toBe("<outer> | <inner> | U A");
  });

  it("does not inject a summary that wins nothing", () => {
    const old = makeCompaction("old", [1, 2], summaryOf("O"), 1);
    expect(view(FOUR, old, makeCompaction("new", [0, 2], summaryOf("N"), 2))).toBe("<new> | U A");
  });

  it("injects a partly overlapped summary at the first turn it still wins", () => {
    const left = makeCompaction("left", [0, 2], summaryOf("L"), 2);
    const right = makeCompaction("right", [1, 3], summaryOf("R"), 1);
    expect(view(FOUR, left, right)).toBe("<left> | <right>");
  });

  it("breaks ties of time by the larger id", () => {
    const a = makeCompaction("a", [0, 3], summaryOf("A"));
    expect(view(FOUR, makeCompaction("b", [0, 3], summaryOf("B")), a)).toBe("<b>");
  });

  it("beats mechanical policies, newer ones too", () => {
    const strip = makeCompaction("m", [0, 1], STRIP_TOOLS, 9);
    expect(view("U T t | U T t", strip, makeCompaction("s", [0, 0], summaryOf("S"), 1))).toBe("<s> | U T- t-");
  });

  it("clamps ranges past the end and ignores inverted ones and those wholly past it", () => {
    expect(view("U A | U A", makeCompaction("s", [1, 99], summaryOf("S")))).toBe("U A | <s>");
    expect(view("U A | U A", makeCompaction("s", [2, 9], summaryOf("S")))).toBe("U A | U A");
    expect(view("U A | U A", makeCompaction("s", [1, 0], summaryOf("S")))).toBe("U A | U A");
    expect(view("", makeCompaction("s", [0, 0], summaryOf("S")))).toBe("");
  });

  it("injects a replacement as one turn", () => {
    const replacement = [
      { type: "chat_request", content: "a" },
      { type: "chat_response", message: "b" },
    ];
    const fields = { replacement: replacement as unknown as readonly Event[] };
    expect(view(FOUR, makeCompaction("r", [0, 2], fields))).toBe("<r:U A> | U A");
  });
});

describe("ranges that end inside a turn", () => {
  it("shows the rest of the turn as a part of its own, after the summary as a request", () => {
    const cut = makeCompaction("s", [0, 1], { to_event: "e1.3", ...summaryOf("S") });
    expect(view("U A | U T t A", cut)).toBe("<s:request> | + A");
  });

  it("keeps the form of a summary when nothing of the turn follows", () => {
    const cut = makeCompaction("s", [0, 1], { to_event: "e1.2", ...summaryOf("S") });
    expect(view("U A | U A | U", cut)).toBe("<s> | U");
  });

  it("injects a summary that begins inside a turn between two parts of it", () => {
    const cut = makeCompaction("s", [0, 0], { from_event: "e0.3", to_event: "e0.4", ...summaryOf("S") });
    expect(view("U A T t A", cut)).toBe("+ U A | <s:request> | + A");
  });

  it("starts later parts with a turn_start of their own and the first one with the raw one", () => {
    const cut = makeCompaction("s", [0, 0], { from_event: "e0.2", to_event: "e0.2", ...summaryOf("S") });
    const { turns } = projectTurns(parseConversation("U A A"), [cut]);
    expect(turns.map(({ events }) => events[0]?.id)).toEqual(["e0.0", "s.turn", "e0.3.turn"]);
    expect(turns.map(({ origin }) => origin)).toEqual([
      { kind: "kept", turn: 0, part: true },
      { kind: "summary", from: 0, to: 0, compaction: "s" },
      { kind: "kept", turn: 0, part: true },
    ]);
  });

  it("takes a bound that the turn does not hold for one that was cut off after its end", () => {
    expect(view("U A | U A", makeCompaction("s", [0, 1], { to_event: "gone", ...summaryOf("S") }))).toBe("<s>");
    expect(view("U A | U A", makeCompaction("s", [0, 1], { from_event: "gone", ...summaryOf("S") }))).toBe("U A | <s>");
  });

  it("does not touch what is appended to the turn later", () => {
    const strip = makeCompaction("m", [0, 0], { to_event: "e0.3", ...STRIP_TOOLS });
    expect(view("U T t T t", strip)).toBe("U T- t- T t");
  });
});

describe("keep", () => {
  it("shows kept events after the summary they are kept from", () => {
    const kept = makeCompaction("s", [0, 1], { keep: ["e0.2", "e1.1"], ...summaryOf("S") });
    expect(view("U A | U A | U A", kept)).toBe("<s> | + A | + U | U A");
  });

  it("silences older compactions for the event and leaves newer ones their say", () => {
    const keeping = makeCompaction("k", [0, 0], { keep: ["e0.2", "e0.3"] }, 2);
    expect(view("U T t", keeping, makeCompaction("m", [0, 0], STRIP_TOOLS, 1))).toBe("U T t");
    expect(view("U T t", keeping, makeCompaction("m", [0, 0], STRIP_TOOLS, 3))).toBe("U T- t-");
    expect(view("U T t", keeping, makeCompaction("s", [0, 0], summaryOf("S"), 1))).toBe("<s> | + T t");
    expect(view("U T t", keeping, makeCompaction("s", [0, 0], summaryOf("S"), 3))).toBe("<s>");
  });

  it("does not inject a summary that keeps everything it covers", () => {
    const all = makeCompaction("s", [0, 0], { keep: ["e0.1", "e0.2"], ...summaryOf("S") });
    expect(view("U A", all)).toBe("U A");
  });
});

describe("mechanical policies", () => {
  it("compose by content type, the newest with an opinion winning each", () => {
    const older = makeCompaction("a", [0, 1], { reasoning: "strip", tool_calls: { policy: "omit" } }, 1);
    const newer = makeCompaction("b", [1, 1], STRIP_TOOLS, 2);
    expect(view("U R T t A | U R T t A", older, newer)).toBe("U A | U T- t- A");
  });

  it("let a strip of neither half win as keep", () => {
    const neither = { tool_calls: { policy: "strip", request: false, response: false } } as const;
    const older = makeCompaction("a", [0, 1], STRIP_TOOLS, 1);
    expect(view("U T t | U T t", older, makeCompaction("b", [1, 1], neither, 2))).toBe("U T- t- | U T t");
  });

  it("show a turn of which policies leave nothing, since nothing hides it", () => {
    expect(view("R | U", makeCompaction("m", [0, 0], { reasoning: "strip" }))).toBe(" | U");
  });

  it("write stubs as the options say", () => {
    const { turns } = projectTurns(parseConversation("U T:grep t!"), [makeCompaction("m", [0, 0], STRIP_TOOLS)], {
      pointers: true,
      firstLine: true,
    });
    expect(turns[0]?.events[3]).toMatchObject({
      content: "[compacted] grep: error · e0.3\nfirst line of e0.3",
      is_error: true,
      call_id: "c1",
    });
  });
});

describe("what is passed through", () => {
  it("hands untouched turns on by reference", () => {
    const turns = parseConversation(FOUR);
    const projected = projectTurns(turns, [makeCompaction("m", [0, 0], STRIP_TOOLS)]).turns;
    expect(projected[1]?.events).toBe(turns[1]?.events);
    expect(projected[0]?.events[1]).toBe(turns[0]?.events[1]);
  });

  it("keeps config deltas of a turn that is shown and drops those of one that is hidden", () => {
    const turns = parseConversation("U A | U A");
    const delta = { type: "config_delta", id: "d", timestamp: "2026-01-01T00:00:00Z", delta: {} } as const;
    const withDelta = turns.map((turn) => ({
      ...turn,
      events: [...turn.events.slice(0, 2), delta, ...turn.events.slice(2)],
    }));
    const cut = makeCompaction("s", [0, 1], { to_event: "d", ...summaryOf("S") });
    const [, part] = projectTurns(withDelta, [cut]).turns;
    expect(part?.events.map(({ id }) => id)).toEqual(["e1.0", "d", "e1.2"]);
  });

  it("adds a turn_start only where a turn without one is not first", () => {
    expect(projectTurns(parseConversation("^ U A"), []).turns[0]?.events[0]?.type).toBe("chat_request");
    const cut = makeCompaction("s", [0, 0], { to_event: "e0.1", ...summaryOf("S") });
    const [, rest] = projectTurns(parseConversation("^ U A"), [cut]).turns;
    expect(rest?.events.map(({ id }) => id)).toEqual(["e0.2.turn", "e0.2"]);
  });

  it("says which turn was not handed in", () => {
    expect(() => project({ turnCount: 1, turns: new Map(), compactions: [] })).toThrow("cannot project turn 0");
  });
});

describe("what a compaction says of its stubs", () => {
  const turns = parseConversation("U T t T t A");

  it("puts the event id and the first line into the stubs that it wins, not into others", () => {
    const styled = makeCompaction("b", [0, 0], {
      tool_calls: { policy: "selective", calls: [{ event: "e0.2", response: "strip" }] },
      stubs: { pointers: true, first_line: true },
    });
    const plain = makeCompaction("a", [0, 0], STRIP_TOOLS);
    const texts = projectTurns(turns, [plain, styled])
      .turns.flatMap((turn) => turn.events)
      .flatMap((event) => (event.type === "tool_call_response" ? [event.content] : []));
    expect(texts[0]).toMatch(/^\[compacted\] \S+: success · e0\.3\n/);
    expect(texts[1]).toMatch(/^\[compacted\] \S+: success$/);
  });

  it("puts the head of arguments into the stubs of calls whose arguments it strips, too", () => {
    const stubsOf = (fields: Partial<Compaction>): readonly unknown[] =>
      projectTurns(turns, [makeCompaction("b", [0, 0], { ...fields, stubs: { heads: true }, needs: ["heads"] })])
        .turns.flatMap((turn) => turn.events)
        .flatMap((event) => (event.type === "tool_call_response" ? [event.content] : []));
    const [first, second] = turns[0]!.events.filter((event) => event.type === "tool_call_request");
    const head = (call: typeof first): unknown =>
      `[compacted] ${call?.name}: success\n${JSON.stringify(call?.arguments)}`;
    expect(stubsOf(STRIP_TOOLS)).toEqual([head(first), head(second)]);
    const plain = `[compacted] ${first?.name}: success`;
    const results = { policy: "strip", request: false, response: true } as const;
    expect(stubsOf({ tool_calls: results })).toEqual([plain, plain]);
    const hints = { "*": { request: "keep" } } as const;
    expect(stubsOf({ ...STRIP_TOOLS, tool_overrides: hints })).toEqual([plain, plain]);
    const calls = [{ event: first?.id ?? "", request: "strip", response: "strip" }] as const;
    expect(stubsOf({ tool_calls: { policy: "selective", calls, else: results } })).toEqual([head(first), plain]);
    const asked = [{ event: first?.id ?? "", request: "strip" }] as const;
    expect(stubsOf({ tool_calls: { policy: "selective", calls: asked } })[0]).not.toContain("compacted");
  });
});

describe("a call and its result", () => {
  const SUMMARY = summaryOf("S");
  const OMIT: Partial<Compaction> = { tool_calls: { policy: "omit" } };

  it.each<[string, Partial<Compaction>, string]>([
    ["U R T A t A", { to_event: "e0.3", ...SUMMARY }, "<s:request> | + A A"],
    ["U R T T t t A", { to_event: "e0.5", ...SUMMARY }, "<s:request> | + A"],
    ["U T T t t A", { from_event: "e0.3", ...SUMMARY }, "+ U | <s>"],
    ["U T T t t A", { from_event: "e0.5", to_event: "e0.5", turns: "omit" }, "+ U T t | + A"],
    ["U T T t t A", { to_event: "e0.2", ...OMIT }, "U T t A"],
    ["U T t T t A", { from_event: "e0.3", to_event: "e0.3", ...OMIT }, "U T t A"],
    ["U T t T t A", { tool_calls: { policy: "selective", calls: [{ event: "e0.2", response: "omit" }] } }, "U T t A"],
  ])("of %s under %j are left out together", (conversation, fields, expected) => {
    expect(view(conversation, makeCompaction("s", [0, 0], fields))).toBe(expected);
  });

  it.each<[string, Partial<Compaction>, string]>([
    ["U T T t t A", { keep: ["e0.4"], ...SUMMARY }, "<s> | + T t"],
    ["U T T t t A", { keep: ["e0.3"], turns: "omit" }, "+ T t"],
    ["U T T t t A", { keep: ["e0.5"], ...OMIT }, "U T t A"],
    ["U T T t t A", { keep: ["e0.5"], ...STRIP_TOOLS }, "U T- T- t- t A"],
  ])("of %s under %j stay together", (conversation, fields, expected) => {
    expect(view(conversation, makeCompaction("s", [0, 0], fields))).toBe(expected);
  });

  it("are left out together in different turns, and a call that is not answered yet is by itself", () => {
    const late = (call_id: string): Event[] => [
      { type: "turn_start", id: "late", timestamp: "2026-01-01T09:00:00Z" },
      {
        type: "tool_call_response",
        id: "r",
        timestamp: "2026-01-01T09:00:01Z",
        call_id,
        content: "x",
        is_error: false,
      },
      { type: "chat_response", id: "a", timestamp: "2026-01-01T09:00:02Z", message: "done" },
    ];
    const asked = parseConversation("U A T | U A");
    const answered = [...asked, { index: 2, events: late("c1") }];
    const shown = (from: number, to: number, fields: Partial<Compaction>, turns = answered) =>
      printView(projectTurns(turns, [makeCompaction("s", [from, to], fields)]));
    expect(shown(0, 0, SUMMARY)).toBe("<s> | U A | + A");
    expect(shown(2, 2, SUMMARY)).toBe("+ U A | U A | <s>");
    expect(shown(0, 0, OMIT)).toBe("U A | U A | A");
    expect(shown(0, 2, { keep: ["r"], ...SUMMARY })).toBe("<s> | + T | + t");
    expect(shown(1, 1, SUMMARY, asked)).toBe("U A T | <s>");
    expect(shown(0, 0, { to_event: "e0.2", ...SUMMARY }, asked)).toBe("<s:request> | + T | U A");
  });

  it("are paired by count where an id repeats", () => {
    const twice = parseConversation("U T t T t A").map(({ index, events }) => ({
      index,
      events: events.map((event) => ("call_id" in event ? { ...event, call_id: "same" } : event)),
    }));
    const ids = (fields: Partial<Compaction>) =>
      projectTurns(twice, [makeCompaction("s", [0, 0], fields)]).turns.flatMap(({ events }) =>
        events.filter((event) => "call_id" in event).map(({ id }) => id),
      );
    expect(ids({ to_event: "e0.2", ...SUMMARY })).toEqual(["e0.4", "e0.5"]);
    expect(ids({ from_event: "e0.5", turns: "omit" })).toEqual(["e0.2", "e0.3"]);
    expect(ids({ keep: ["e0.5"], ...OMIT })).toEqual(["e0.4", "e0.5"]);
  });

  it("are never parted by a summary that begins between them", () => {
    const kept = { from_event: "e0.3", keep: ["e0.4"], ...SUMMARY };
    expect(view("U T T t t A", makeCompaction("s", [0, 0], kept))).toBe("+ U T t | <s>");
  });
});

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
  it("has the time of the turn that it replaces, or none when that was not read", () => {
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

  it("is injected as a request only when its last turn continues", () => {
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

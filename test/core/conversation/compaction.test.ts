// The texts, ids and times of injected turns.

import { describe, expect, it } from "vitest";
import {
  type CallPolicy,
  type Compaction,
  compareCompactions,
  compareTimestamps,
  createInjectedTurn,
  isHiding,
  isInjected,
  type SelectedCall,
  tokensSent,
} from "../../../src/core/conversation/compaction.ts";
import { describeNamedCalls } from "../../../src/core/conversation/contents/tool-calls.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

const site = { timestamp: "2026-01-01T00:00:00Z", from: 0, to: 2, endsInsideTurn: false };
const WRAPPED = (count: string): string =>
  `[CONVERSATION HISTORY SUMMARY${count}]\n\nS\n\n[END SUMMARY - Recent conversation continues below]`;

function inject(fields: Partial<Compaction>, endsInsideTurn = false): readonly Event[] {
  return createInjectedTurn(makeCompaction("k1", [0, 2], fields), { ...site, endsInsideTurn }).events;
}

describe("createInjectedTurn", () => {
  it("injects a pair by default, with ids and time of its own", () => {
    const { timestamp } = site;
    expect(createInjectedTurn(makeCompaction("k1", [0, 9], summaryOf("S")), site)).toEqual({
      origin: { kind: "summary", from: 0, to: 2, compaction: "k1" },
      events: [
        { type: "turn_start", id: "k1.turn", timestamp },
        {
          type: "chat_request",
          id: "k1.request",
          timestamp,
          content: "[Summary of previous conversation]",
          metadata: { origin: "summary" },
        },
        { type: "chat_response", id: "k1.response", timestamp, message: "S" },
      ],
    });
  });

  it("wraps a request, with the number of messages when it is known", () => {
    const fields = summaryOf("S", { inject: "request" });
    const { timestamp } = site;
    expect(inject(fields)).toEqual([
      { type: "turn_start", id: "k1.turn", timestamp },
      {
        type: "chat_request",
        id: "k1.request",
        timestamp,
        content: WRAPPED(""),
        metadata: { origin: "summary" },
      },
    ]);
    expect(inject({ ...fields, stats: { original_message_count: 7 } })[1]).toMatchObject({
      content: WRAPPED(" - 7 messages"),
    });
  });

  it("leaves the text of an imported summary as its agent wrote it", () => {
    expect(inject(summaryOf("S", { inject: "request", source: "imported" }))).toHaveLength(2);
    expect(inject(summaryOf("S", { inject: "request", source: "imported" }))[1]).toMatchObject({ content: "S" });
  });

  it("delimits a system message", () => {
    const system = summaryOf("S", { inject: "system" });
    expect(inject(system)).toHaveLength(2);
    expect(inject(system)[1]).toEqual({
      type: "chat_request",
      id: "k1.request",
      timestamp: site.timestamp,
      role: "system",
      content: WRAPPED(""),
      metadata: { origin: "summary" },
    });
    expect(inject({ ...summaryOf("S", { inject: "system", source: "imported" }) })[1]).toMatchObject({
      content: WRAPPED(""),
    });
    expect(inject({ ...system, stats: { original_message_count: 0 } })[1]).toMatchObject({
      content: WRAPPED(" - 0 messages"),
    });
  });

  it("injects as a request, whatever the form, when the turn continues after it", () => {
    expect(inject(summaryOf("S"), true)).toHaveLength(2);
    expect(inject(summaryOf("S", { inject: "system" }), true)[1]).not.toHaveProperty("role");
  });

  it("gives the events of a replacement ids and times where they lack them, and no second turn_start", () => {
    const own = { type: "chat_response", id: "r9", timestamp: "2026-01-02T00:00:00Z", message: "b" } as const;
    const replacement = [{ type: "turn_start" }, { type: "chat_request", content: "a" }, own] as unknown as Event[];
    const [start, request, response] = inject({ replacement });
    expect(start).toEqual({ type: "turn_start", id: "k1.turn", timestamp: site.timestamp });
    expect(request).toEqual({ type: "chat_request", id: "k1.1", timestamp: site.timestamp, content: "a" });
    expect(response).toBe(own);
  });

  it("gives an event of a replacement only what it lacks, and keeps the order of its keys", () => {
    const named = { content: "a", type: "chat_request", id: "r1" } as unknown as Event;
    const dated = { type: "chat_request", timestamp: "2026-01-02T00:00:00Z", content: "b" } as unknown as Event;
    const events = inject({ replacement: [named, dated] });
    expect(JSON.stringify(events.slice(1))).toBe(
      JSON.stringify([
        { type: "chat_request", id: "r1", timestamp: site.timestamp, content: "a" },
        { type: "chat_request", id: "k1.1", timestamp: "2026-01-02T00:00:00Z", content: "b" },
      ]),
    );
  });

  it("names the place and the kind of what it replaces", () => {
    const originOf = (fields: Partial<Compaction>) =>
      createInjectedTurn(makeCompaction("k1", [0, 2], fields), { ...site, from: 1, to: 3 }).origin;
    const place = { from: 1, to: 3, compaction: "k1" };
    expect(originOf(summaryOf("S"))).toEqual({ kind: "summary", ...place });
    expect(originOf({ replacement: [], ...summaryOf("S") })).toEqual({ kind: "replacement", ...place });
  });

  it("puts only the start of a turn in the place of an omission", () => {
    expect(inject({ turns: "omit" })).toEqual([{ type: "turn_start", id: "k1.turn", timestamp: site.timestamp }]);
  });
});

describe("isInjected", () => {
  it("holds for summaries and replacements with events, not for omissions", () => {
    const isOf = (fields: Partial<Compaction>): boolean => isInjected(makeCompaction("k", [0, 0], fields));
    expect(isOf(summaryOf("S"))).toBe(true);
    expect(isOf({ replacement: [] })).toBe(false);
    expect(isOf({ replacement: [], ...summaryOf("S") })).toBe(false);
    expect(isOf({ replacement: parseConversation("U")[0]!.events })).toBe(true);
    expect(isOf({ turns: "omit" })).toBe(false);
  });
});

describe("the order of compactions", () => {
  const ids = ["b", "a", "c", "B"];

  it("is by time first, whatever their ids", () => {
    const list = [makeCompaction("a", [0, 0], {}, 3), makeCompaction("b", [0, 0], {}, 1), makeCompaction("c", [0, 0])];
    expect(list.sort(compareCompactions).map(({ id }) => id)).toEqual(["b", "c", "a"]);
  });

  it("is by id among those of one time, by the codes of its characters", () => {
    const list = ids.map((id) => makeCompaction(id, [0, 0]));
    expect(list.sort(compareCompactions).map(({ id }) => id)).toEqual(["B", "a", "b", "c"]);
    for (const [x, a] of list.entries()) {
      for (const [y, b] of list.entries()) expect(compareCompactions(a, b)).toBe(Math.sign(x - y));
    }
  });
});

describe("compareTimestamps", () => {
  const times = [
    "2026-03-01T00:00:00Z",
    "2026-03-01T00:00:00.000000001Z",
    "2026-03-01T00:00:00.05Z",
    "2026-03-01T00:00:00.5Z",
    "2026-03-01T00:00:01Z",
    "2026-03-02T00:00:00Z",
  ];

  it("does not take the form for the time where texts are of one length", () => {
    const mixed: readonly (readonly [string, string])[] = [
      ["2026-03-01 00:00:00.25", "2026-03-01T00:00:00.5Z"],
      ["2026-03-01 00:00:02Z", "2026-03-01T00:00:03Z"],
      ["2026-03-01T00:00:00.1", "2026-03-01T00:00:01.Z"],
    ];
    for (const [a, b] of mixed) {
      expect(a.length, `${a} ${b}`).toBe(b.length);
      expect(compareTimestamps(a, b), `${a} ${b}`).toBe(-1);
      expect(compareTimestamps(b, a), `${b} ${a}`).toBe(1);
    }
  });

  it("orders instants, fractions of any number of digits among them", () => {
    for (const [x, a] of times.entries()) {
      for (const [y, b] of times.entries()) expect(compareTimestamps(a, b), `${a} ${b}`).toBe(Math.sign(x - y));
    }
  });

  it.each([
    "2026-03-01T00:00:00",
    "2026-03-01 00:00:00Z",
    "2026-03-01 00:00:00+00:00",
    "2026-03-01T00:00:00.000Z",
    "2026-03-01T00:00:00.0+00:00",
  ])("takes %s for the same instant", (written) => {
    expect(compareTimestamps(written, "2026-03-01T00:00:00Z")).toBe(0);
    expect(compareTimestamps("2026-03-01T00:00:00Z", written)).toBe(0);
  });
});

describe("a compaction", () => {
  it.each([
    ["a summary", summaryOf(""), true],
    ["a replacement", { replacement: [] }, true],
    ["an omission of turns", { turns: "omit" }, true],
    ["policies for calls", STRIP_TOOLS, false],
    ["nothing", {}, false],
  ] as const)("with %s hides whole events or does not", (_name, fields, hides) => {
    expect(isHiding(makeCompaction("c", [0, 0], fields))).toBe(hides);
  });

  it("counts everything that was sent for its summary", () => {
    expect(tokensSent({ calls: 7, input: 1, cache_read: 20, cache_write: 300, output: 4000 })).toBe(321);
  });
});

const TRUNCATE: CallPolicy = { truncate: { max_chars: 9 } };
const DROP: CallPolicy = { drop: { max_chars: 9 } };

describe("what becomes of named calls", () => {
  it.each<[CallPolicy | undefined, CallPolicy | undefined, readonly string[]]>([
    [undefined, undefined, []],
    ["keep", "keep", []],
    ["omit", "keep", ["1 call omitted"]],
    ["keep", "omit", ["1 call omitted"]],
    ["omit", "omit", ["1 call omitted"]],
    ["omit", "strip", ["1 call omitted"]],
    ["strip", "omit", ["1 call omitted"]],
    ["omit", TRUNCATE, ["1 call omitted"]],
    [DROP, "omit", ["1 call omitted"]],
    ["strip", "strip", ["1 call stripped"]],
    ["keep", "strip", ["1 result stripped"]],
    [undefined, "strip", ["1 result stripped"]],
    ["strip", "keep", ["1 call's arguments stripped"]],
    ["strip", undefined, ["1 call's arguments stripped"]],
    ["keep", TRUNCATE, ["1 result truncated"]],
    ["strip", TRUNCATE, ["1 result truncated", "1 call's arguments stripped"]],
    [TRUNCATE, "keep", ["1 call's arguments shortened"]],
    [DROP, "keep", ["1 call's arguments shortened"]],
    [DROP, "strip", ["1 result stripped", "1 call's arguments shortened"]],
    [DROP, TRUNCATE, ["1 result truncated", "1 call's arguments shortened"]],
    ["keep", DROP, []],
  ])("of one with arguments %j and result %j is %j", (request, response, words) => {
    const call: SelectedCall = {
      event: "e",
      ...(request === undefined ? {} : { request }),
      ...(response === undefined ? {} : { response }),
    };
    expect(describeNamedCalls([call])).toEqual(words);
  });

  it("is counted by kind, several in the plural", () => {
    const kinds: readonly Omit<SelectedCall, "event">[] = [
      { request: DROP },
      { request: "strip" },
      { response: TRUNCATE },
      { response: "strip" },
      { request: "strip", response: "strip" },
      { request: "omit" },
      {},
    ];
    const calls = [...kinds, ...kinds].map((kind, at) => ({ event: `e${at}`, ...kind }));
    expect(describeNamedCalls(calls)).toEqual([
      "2 calls omitted",
      "2 calls stripped",
      "2 results stripped",
      "2 results truncated",
      "2 calls' arguments stripped",
      "2 calls' arguments shortened",
    ]);
    expect(describeNamedCalls([])).toEqual([]);
  });
});

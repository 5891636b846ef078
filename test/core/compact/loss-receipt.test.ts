// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textsOf } from "../../../src/core/compact/hidden-content.ts";
import { lossReceipt, traceFacts } from "../../../src/core/compact/receipt.ts";
import {
  type Compaction,
  FACT_KINDS,
  type FactCounts,
  type LossReceipt,
} from "../../../src/core/conversation/compaction.ts";
import { type Event, splitTurns, type Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

let next = 0;
const base = (): { id: string; timestamp: string } => ({ id: `x${next++}`, timestamp: "2026-01-01T00:00:00Z" });
const start = (): Event => ({ type: "turn_start", ...base() });
const ask = (content: string): Event => ({ type: "chat_request", ...base(), content });
const say = (message: string): Event => ({ type: "chat_response", ...base(), message });

function call(name: string, args: unknown, content: string, is_error = false): Event[] {
  const call_id = `c${next}`;
  return [
    { type: "tool_call_request", ...base(), call_id, name, arguments: args },
    { type: "tool_call_response", ...base(), call_id, content, is_error },
  ];
}

const turns: readonly Turn[] = splitTurns(
  [
    start(),
    ask("Fix the parser."),
    ...call("Read", { file_path: "/home/me/src/parser.ts" }, "  1→export function parseBound() {}\nsee #42"),
    ...call("Bash", { command: "npm test" }, "Error: 512 of 513 failed at deadbeef12345678", true),
    ...call("Read", { file_path: "/a/x/index.ts" }, "ok"),
    ...call("Read", { file_path: "/a/y/index.ts" }, "ok"),
    start(),
    ask("And now?"),
    say("In parser.ts the call parseBound fails since deadbeef1. Run `npm test` again; index.ts is fine."),
  ],
  () => true,
);

function receipt(fields: Partial<Compaction>, range: readonly [number, number] = [0, 1]): LossReceipt {
  const compaction = makeCompaction("k", range, fields);
  const raw = turns.filter(({ index }) => range[0] <= index && index <= range[1]).flatMap(({ events }) => events);
  const views = { before: projectTurns(turns, []), after: projectTurns(turns, [compaction]) };
  return lossReceipt({ raw, ...views, summary: compaction.summary?.summary });
}

const none = { summary: 0, pointer: 0, hidden: 0, mentioned_later: 0 };

describe("lossReceipt", () => {
  it("reports what stripped calls take, and what later turns still mention", () => {
    const { facts, mentioned_later } = receipt(STRIP_TOOLS);
    expect(facts).toEqual({
      files: { total: 5, visible: 3, by_name: 1, summary: 0, pointer: 0, hidden: 2, mentioned_later: 1 },
      commands: { ...none, total: 1, visible: 0, hidden: 1, mentioned_later: 1 },
      numbers: { ...none, total: 2, visible: 0, hidden: 2 },
      shas: { ...none, total: 2, visible: 1, hidden: 1, mentioned_later: 1 },
      issues: { ...none, total: 1, visible: 0, hidden: 1 },
      errors: { ...none, total: 1, visible: 0, hidden: 1 },
      identifiers: { ...none, total: 1, visible: 1, mentioned_later: 1 },
      requests: { ...none, total: 2, visible: 2 },
    });
    expect(mentioned_later).toEqual([
      { kind: "files", text: "/home/me/src/parser.ts", turn: 1 },
      { kind: "commands", text: "npm test → failed", turn: 1 },
      { kind: "shas", text: "deadbeef12345678", turn: 1 },
      { kind: "identifiers", text: "parseBound", turn: 1 },
    ]);
  });

  it("counts what a stub names the event of as recoverable", () => {
    const { facts } = receipt({
      tool_calls: { policy: "strip", request: false, response: true },
      stubs: { pointers: true },
    });
    expect(facts.errors).toEqual({ ...none, total: 1, visible: 0, pointer: 1 });
    expect(facts.numbers).toEqual({ ...none, total: 2, visible: 0, pointer: 2 });
    expect(facts.commands).toEqual({ ...none, total: 1, visible: 1 });
  });

  it("finds facts in the summary, whose turn does not count as visible", () => {
    const text = "Ran npm test: 512 failed in parser.ts; /home/me/src/parser.ts is at fault.";
    const { facts } = receipt(summaryOf(text), [0, 0]);
    expect(facts.commands).toEqual({ ...none, total: 1, visible: 0, summary: 1, mentioned_later: 1 });
    expect(facts.numbers).toEqual({ ...none, total: 2, visible: 0, summary: 1, hidden: 1 });
    expect(facts.requests).toEqual({ ...none, total: 1, visible: 0, hidden: 1 });
  });

  it("counts what an older summary showed as lost when a newer one takes its place", () => {
    const older = makeCompaction("a", [0, 0], summaryOf("See `oldName` there."), 1);
    const newer = makeCompaction("b", [0, 1], summaryOf("Nothing."), 2);
    const before = projectTurns(turns, [older]);
    const after = projectTurns(turns, [older, newer]);
    const raw = turns.flatMap(({ events }) => events);
    const { facts } = lossReceipt({ raw, before, after, summary: "Nothing." });
    expect(facts.identifiers).toEqual({ ...none, total: 2, visible: 0, hidden: 2 });
    expect(facts.issues).toBeUndefined();
  });

  it("takes pins by id: visible while they are unchanged", () => {
    const events = turns[0]!.events;
    const pins = [events[1]!.id, events[3]!.id, "unknown"];
    const input = { raw: events, before: projectTurns(turns, []), pins };
    const after = projectTurns(turns, [makeCompaction("k", [0, 0], STRIP_TOOLS)]);
    expect(lossReceipt({ ...input, after }).facts.pins).toEqual({ ...none, total: 2, visible: 1, hidden: 1 });
    const stubs = { ...STRIP_TOOLS, stubs: { pointers: true } } as const;
    const pointed = projectTurns(turns, [makeCompaction("k", [0, 0], stubs)]);
    expect(lossReceipt({ ...input, after: pointed }).facts.pins).toMatchObject({ pointer: 1, hidden: 0 });
  });

  it("takes a pin for visible by what it says, for pointed at by its stub, and for summed up by its id", () => {
    const [, request, call] = turns[0]!.events as [Event, Event, Event];
    const input = { raw: turns[0]!.events, before: projectTurns(turns, []) };
    const kept = { kind: "kept", turn: 0 } as const;
    const pinsIn = (shown: readonly Event[], pins: readonly string[], summary?: string) =>
      lossReceipt({ ...input, after: { turns: [{ origin: kept, events: shown }] }, pins, summary }).facts.pins;
    expect(pinsIn([structuredClone(request)], [request.id])).toEqual({ ...none, total: 1, visible: 1 });
    expect(pinsIn([{ ...request, content: "gone" } as Event], [request.id])).toEqual({
      ...none,
      total: 1,
      visible: 0,
      hidden: 1,
    });
    expect(pinsIn([], [request.id, call.id], `see ${call.id}.`)).toEqual({
      ...none,
      total: 2,
      visible: 0,
      summary: 1,
      hidden: 1,
    });
    expect(pinsIn([], [])).toBeUndefined();
  });

  it("counts an older summary that stays, and a replacement, as visible", () => {
    const older = makeCompaction("a", [0, 0], summaryOf("See #42 there."), 1);
    const strip = makeCompaction("b", [1, 1], { reasoning: "strip" }, 2);
    const before = projectTurns(turns, [older]);
    const both = { raw: turns.flatMap(({ events }) => events), before };
    expect(lossReceipt({ ...both, after: projectTurns(turns, [older, strip]) }).facts.issues).toBeUndefined();
    const seen = { raw: turns[0]!.events, before: projectTurns(turns, []) };
    const origin = { kind: "replacement", from: 0, to: 0, compaction: "r" } as const;
    const told = { turns: [{ origin, events: [say("See #42 there.")] }] };
    expect(lossReceipt({ ...seen, after: told }).facts.issues).toEqual({ ...none, total: 1, visible: 1 });
    const summed = { turns: [{ ...told.turns[0]!, origin: { ...origin, kind: "summary" } as const }] };
    expect(lossReceipt({ ...seen, after: summed }).facts.issues).toEqual({
      ...none,
      total: 1,
      visible: 0,
      hidden: 1,
    });
    const kept = { ...told.turns[0]!, origin: { ...origin, kind: "summary" } as const };
    const again = { turns: [kept, { origin: { kind: "kept", turn: 1 } as const, events: [say("#42")] }] };
    expect(lossReceipt({ raw: again.turns[1]!.events, before: again, after: { turns: [kept] } }).facts.issues).toEqual({
      ...none,
      total: 1,
      visible: 1,
    });
  });

  it("dates what an older summary showed by the last turn that it replaced", () => {
    const [one, two, three] = [1, 2, 3].map((turn) => ({ kind: "kept", turn }) as const);
    const summary = { kind: "summary", from: 0, to: 2, compaction: "old" } as const;
    const before = { turns: [{ origin: summary, events: [say("See #42.")] }] };
    const later = (origin: typeof one) => ({ turns: [{ origin: origin!, events: [say("#42 again")] }] });
    const mentionedFrom = (origin: typeof one) =>
      lossReceipt({ raw: [], before, after: later(origin) }).mentioned_later;
    expect(mentionedFrom(one)).toEqual([]);
    expect(mentionedFrom(two)).toEqual([]);
    expect(mentionedFrom(three)).toEqual([{ kind: "issues", text: "#42", turn: 3 }]);
  });

  it("looks at covered events only", () => {
    const view = projectTurns(turns, []);
    const after = { turns: [] };
    expect(lossReceipt({ raw: [turns[1]!.events[1]!], before: view, after })).toEqual({
      facts: { requests: { ...none, total: 1, visible: 0, hidden: 1 } },
      mentioned_later: [],
    });
  });

  it.each([
    ["120 characters as they are", "a".repeat(113), "a".repeat(113)],
    ["120 of more characters", "a".repeat(114), `${"a".repeat(112)}…`],
    ["no blank before the cut", `${"a".repeat(111)} bb cc`, `${"a".repeat(111)}…`],
    ["no half of a character", `${"a".repeat(111)}😀bb`, `${"a".repeat(111)}…`],
    ["a character before the cut", `${"a".repeat(110)}😀bb`, `${"a".repeat(110)}😀…`],
  ])("lists a long fact with %s", (_, rest, shown) => {
    const line = `Error: ${rest}`;
    const some = splitTurns([start(), ...call("Bash", {}, line), start(), say(`It said: no.\n${line}`)], () => true);
    const after = projectTurns(some, [makeCompaction("k", [0, 0], STRIP_TOOLS)]);
    const result = lossReceipt({ raw: some[0]!.events, before: projectTurns(some, []), after });
    expect(result.mentioned_later).toEqual([{ kind: "errors", text: `Error: ${shown}`.slice(0, 120), turn: 1 }]);
  });

  it("lists five mentioned facts of a kind and twenty of all", () => {
    const six = (text: (n: number) => string): string => [1, 2, 3, 4, 5, 6].map(text).join(" ");
    const texts = [
      six((n) => `a${n}.ts`),
      six((n) => `${n}00`),
      six((n) => `abcdef0${n}`),
      six((n) => `#${n}`),
      six((n) => `some_name${n}`),
    ].join(" ");
    const some = splitTurns([start(), ...call("Bash", {}, texts), start(), say(texts)], () => true);
    const after = projectTurns(some, [makeCompaction("k", [0, 0], STRIP_TOOLS)]);
    const result = lossReceipt({ raw: some[0]!.events, before: projectTurns(some, []), after });
    const five = (text: (n: number) => string): readonly string[] => [1, 2, 3, 4, 5].map(text);
    expect(result.mentioned_later.map(({ text }) => text)).toEqual([
      ...five((n) => `a${n}.ts`),
      ...five((n) => `${n}00`),
      ...five((n) => `abcdef0${n}`),
      ...five((n) => `#${n}`),
    ]);
    expect(result.facts.identifiers).toMatchObject({ mentioned_later: 6 });
  });

  it("limits what one event contributes and what is listed", () => {
    const names = Array.from({ length: 3000 }, (_, at) => `some_name${at}`).join(" ");
    const many = splitTurns([start(), ...call("Bash", {}, names), start(), say(names)], () => true);
    const after = projectTurns(many, [makeCompaction("k", [0, 0], STRIP_TOOLS)]);
    const result = lossReceipt({ raw: many[0]!.events, before: projectTurns(many, []), after });
    expect(result.facts.identifiers).toEqual({ ...none, total: 1000, visible: 1000, mentioned_later: 1000 });
    expect(result.mentioned_later).toHaveLength(5);
  });
});

describe("lossReceipt, laws", () => {
  const RUNS = { numRuns: runs(100) };
  const all = (counts: LossReceipt["facts"]): readonly FactCounts[] => FACT_KINDS.flatMap((kind) => counts[kind] ?? []);

  it("loses nothing where nothing changes", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: some, compactions }) => {
        const view = projectTurns(some, compactions);
        const { facts, mentioned_later } = lossReceipt({ raw: eventsOf(some), before: view, after: view });
        for (const counts of all(facts))
          expect(counts).toEqual({ ...none, total: counts.total, visible: counts.total });
        expect(mentioned_later).toEqual([]);
      }),
      RUNS,
    );
  });

  it("adds up for every compaction", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: some, compactions: [one, ...rest] }) => {
        const before = projectTurns(some, rest);
        const after = one === undefined ? before : projectTurns(some, [...rest, one]);
        const input = { raw: eventsOf(some), before, after, summary: one?.summary?.summary, pins: ["e0.1", "e1.1"] };
        const { facts } = lossReceipt(input);
        for (const { total, visible, by_name = 0, summary, pointer, hidden, mentioned_later } of all(facts)) {
          expect(visible + summary + pointer + hidden).toBe(total);
          expect(by_name).toBeLessThanOrEqual(visible);
          expect(mentioned_later).toBeLessThanOrEqual(total);
        }
      }),
      RUNS,
    );
  });

  it("hides everything when nothing is left, and nothing when the summary is all the text", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: some }) => {
        const input = { raw: eventsOf(some), before: projectTurns(some, []), after: { turns: [] } };
        for (const counts of all(lossReceipt(input).facts)) {
          expect(counts).toEqual({ ...none, total: counts.total, visible: 0, hidden: counts.total });
        }
        const summary = input.raw.flatMap(textsOf).join("\n");
        for (const counts of all(lossReceipt({ ...input, summary }).facts)) {
          expect(counts).toEqual({ ...none, total: counts.total, visible: 0, summary: counts.total });
        }
      }),
      RUNS,
    );
  });

  function eventsOf(some: readonly Turn[]): readonly Event[] {
    return some.flatMap(({ events }) => events);
  }
});

describe("traceFacts", () => {
  const [range, compaction] = [[0, 0] as const, makeCompaction("k", [0, 0], STRIP_TOOLS)];
  const input = {
    raw: turns[0]?.events ?? [],
    before: projectTurns(turns, []),
    after: projectTurns(turns, [compaction]),
  };

  it("names of each fact the event that showed it first, which can be pinned", () => {
    const traced = traceFacts(input);
    const results = new Map(
      input.raw.flatMap((event) => (event.type === "tool_call_response" ? [[event.content, event]] : [])),
    );
    expect(traced).toContainEqual({
      kind: "errors",
      text: "Error: 512 of 513 failed at deadbeef12345678",
      turn: 0,
      event: results.get("Error: 512 of 513 failed at deadbeef12345678")?.id,
      fate: "hidden",
      mentionedIn: null,
      times: 1,
    });
    expect(traced).toContainEqual(
      expect.objectContaining({ kind: "files", text: "/home/me/src/parser.ts", fate: "by_name", mentionedIn: 1 }),
    );
  });

  it("lists what the receipt counts", () => {
    const counted = receipt(STRIP_TOOLS, range).facts;
    for (const kind of FACT_KINDS) {
      const own = traceFacts(input).filter((fact) => fact.kind === kind);
      expect(own.filter(({ fate }) => fate === "hidden")).toHaveLength(counted[kind]?.hidden ?? 0);
      expect(own).toHaveLength(counted[kind]?.total ?? 0);
    }
  });
});

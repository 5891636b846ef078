import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/compaction.ts";
import type { Event } from "../../../src/core/event.ts";
import { textsOf } from "../../../src/core/loss/event-texts.ts";
import { FACT_KINDS, type FactCounts, type LossReceipt } from "../../../src/core/loss/loss-receipt.ts";
import { lossReceipt } from "../../../src/core/loss/receipt.ts";
import { projectTurns } from "../../../src/core/projection.ts";
import { splitTurns, type Turn } from "../../../src/core/turn.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";

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
  it("tells what stripped calls take, and what later turns still mention", () => {
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

  it("takes pins by id: visible while they stand unchanged", () => {
    const events = turns[0]!.events;
    const pins = [events[1]!.id, events[3]!.id, "unknown"];
    const input = { raw: events, before: projectTurns(turns, []), pins };
    const after = projectTurns(turns, [makeCompaction("k", [0, 0], STRIP_TOOLS)]);
    expect(lossReceipt({ ...input, after }).facts.pins).toEqual({ ...none, total: 2, visible: 1, hidden: 1 });
    const stubs = { ...STRIP_TOOLS, stubs: { pointers: true } } as const;
    const pointed = projectTurns(turns, [makeCompaction("k", [0, 0], stubs)]);
    expect(lossReceipt({ ...input, after: pointed }).facts.pins).toMatchObject({ pointer: 1, hidden: 0 });
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
  const RUNS = { numRuns: 100 };
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

// @module-tag law
// What is exported to jp: jp, by its own rules, sends what the view says, and raw turns stand under overlays wherever it can.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { missingResult } from "../../../src/core/model/thread.ts";
import { lineName } from "../../../src/formats/imported-session.ts";
import { JP } from "../../../src/formats/jp/agent.ts";
import { type Entry, sentByJp } from "../../helpers/jp-rules.ts";
import { jpTurns, readJp, writeJp } from "../../helpers/jp-session.ts";
import { base64 } from "../../helpers/jp-steps.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { dateCompaction as dated, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const STRIP = { policy: "strip", request: true, response: true } as const;

function entriesOf(text: string): readonly Entry[] {
  return (JSON.parse(text) as readonly Entry[]).slice(1);
}

/** What jp sends, but for results that are made up: where they stand, and whether an overlay strips them, makes no difference. */
function sent(text: string): readonly unknown[] {
  return sentByJp(entriesOf(text)).filter((one) => {
    const [kind, , content, isError] = one as readonly unknown[];
    const isMadeUp = content === missingResult({}) || /^\[compacted\] .*: error$/.test(String(content));
    return kind !== "tool_call_response" || isError !== true || !isMadeUp;
  });
}

/** The view alone, its turns as if they had been said so. */
function writeShown(turns: readonly Turn[], compactions: readonly Compaction[]): string {
  return writeJp(projectTurns(turns, compactions).turns.map(({ events }, index) => ({ index, events })));
}

/** Ids that are a turn's own: which call a result with the id of another turn's seems to answer depends on what else is shown. */
function withOwnCalls({ index, events }: Turn): Turn {
  const own = events.map((event) => ("call_id" in event ? { ...event, call_id: `${event.call_id}-${index}` } : event));
  return { index, events: own };
}

describe("an export to jp", () => {
  it("is sent by jp as the view says, whatever compactions there are", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: drawn, compactions }) => {
        const turns = drawn.map(withOwnCalls);
        expect(sent(writeJp(turns, compactions))).toEqual(sent(writeShown(turns, compactions)));
      }),
      { numRuns: runs(1000) },
    );
  });

  it("keeps every turn as it was said where jp can say what the compactions do", () => {
    const turns = parseConversation("U R T t A | U R A | U T:grep t! A | U A");
    const compactions: readonly Compaction[] = [
      dated(
        { type: "compaction", from_turn: 0, to_turn: 3, to_event: "e3.2", reasoning: "strip", tool_calls: STRIP },
        "k1",
        1,
      ),
      dated({ type: "compaction", from_turn: 0, to_turn: 1, summary: { summary: "early" } }, "k2", 2),
    ];
    const entries = entriesOf(writeJp(turns, compactions));
    expect(entries.filter(({ type }) => type === "chat_response")).toHaveLength(6);
    expect(entries.filter(({ type }) => type === "compaction")).toEqual([
      {
        type: "compaction",
        timestamp: "2026-02-01 00:00:01.0",
        from_turn: 0,
        to_turn: 3,
        reasoning: "strip",
        tool_calls: STRIP,
      },
      {
        type: "compaction",
        timestamp: "2026-02-01 00:00:02.0",
        from_turn: 0,
        to_turn: 1,
        summary: { summary: "early" },
      },
    ]);
    expect(JSON.stringify(sentByJp(entries))).not.toMatch(/think|in e/);
  });

  it("writes as events only the turns that jp has no overlay for", () => {
    const turns = parseConversation("U R T t A | U R T t T t A | U R T t A | U A");
    const calls = [{ event: "e1.3", request: "omit", response: "omit" }] as const;
    const one: Compaction = dated(
      { type: "compaction", from_turn: 1, to_turn: 1, tool_calls: { policy: "selective", calls } },
      "k2",
      2,
    );
    const all = dated({ type: "compaction", from_turn: 0, to_turn: 2, reasoning: "strip" }, "k1", 1);
    const text = writeJp(turns, [all, one]);
    const overlays = entriesOf(text).filter(({ type }) => type === "compaction");
    expect(overlays.map(({ from_turn, to_turn, reasoning }) => [from_turn, to_turn, reasoning])).toEqual([
      [0, 0, "strip"],
      [2, 2, "strip"],
    ]);
    expect(text).toContain("think e0.2");
    expect(text).not.toContain("think e1.2");
    expect(text).toContain("think e2.2");
    expect(readJp(text).exportedCompactions?.size).toBe(2);
  });

  it("leaves out what is omitted, and counts overlays by the turns that are written", () => {
    const turns = parseConversation("U A | U A | U R A | U A");
    const text = writeJp(turns, [
      dated({ type: "compaction", from_turn: 0, to_turn: 1, turns: "omit" }, "k1", 1),
      dated({ type: "compaction", from_turn: 2, to_turn: 2, reasoning: "strip" }, "k2", 2),
    ]);
    const overlays = entriesOf(text).filter(({ type }) => type === "compaction");
    expect(overlays).toMatchObject([{ from_turn: 0, to_turn: 0, reasoning: "strip" }]);
    expect(text).not.toContain("ask e0.1");
  });

  it("shows a summary once that stands for turns on both sides of another one", () => {
    const turns = parseConversation("U A | U A | U A | U A");
    const text = writeJp(turns, [
      dated({ type: "compaction", from_turn: 0, to_turn: 2, summary: { summary: "outer" } }, "k1", 1),
      dated({ type: "compaction", from_turn: 1, to_turn: 1, summary: { summary: "inner" } }, "k2", 2),
    ]);
    const shown = sentByJp(entriesOf(text)).map((one) => (one as readonly unknown[]).at(-1));
    const heading = "[Summary of previous conversation]";
    expect(shown).toEqual([heading, "outer", heading, "inner", "ask e3.1", "say e3.2"]);
  });

  it("writes what other agents have and jp has not as text, and answers calls that nobody answered", () => {
    const base = (id: string): { readonly id: string; readonly timestamp: string } => ({
      id,
      timestamp: "2026-03-04T05:06:07.000Z",
    });
    const events: readonly Event[] = [
      { type: "turn_start", ...base("s") },
      {
        type: "chat_request",
        ...base("q"),
        content: [
          { type: "text", text: "look" },
          { type: "image", media_type: "image/png", data: "AAAA" },
          { type: "attachment", name: "a.txt", text: "kelp" },
          { type: "opaque", value: 1 },
        ],
      },
      { type: "chat_request", ...base("h"), role: "system", content: "mind the reef", metadata: { origin: "harness" } },
      { type: "chat_response", ...base("e"), reasoning: "", metadata: { encrypted: "xyz" } },
      { type: "tool_call_request", ...base("c"), call_id: "c1", name: "dive", arguments: "deep" },
      { type: "chat_response", ...base("m"), message: "Later." },
    ];
    const entries = entriesOf(writeJp([{ index: 0, events }]));
    expect(sentByJp(entries)).toEqual([
      ["chat_request", "look\n[image]\na.txt\nkelp"],
      ["chat_request", "<system-reminder>\nmind the reef\n</system-reminder>"],
      ["tool_call_request", "c1", "dive", { input: "deep" }],
      ["tool_call_response", "c1", missingResult({}), true],
      ["chat_response", "message", "Later."],
    ]);
    expect(jpTurns(readJp(writeJp([{ index: 0, events }])))[0]?.events.map(({ id }) => id)).toEqual(
      expect.arrayContaining(["q", "h", "c", "m"]),
    );
  });

  it("names results that it made up as further lines of their calls", () => {
    const [turn] = parseConversation("U T A");
    const session = readJp(writeJp([turn!]));
    const lineId = (name: string): string => JP.write!.lineId("", name, () => new Uint8Array());
    expect(session.hasLine(lineId("e0.2"))).toBe(true);
    expect(session.hasLine(lineId(lineName("e0.2", 1)))).toBe(true);
    expect(session.readTurn(0).filter(({ type }) => type === "tool_call_response")).toHaveLength(1);
  });

  it("gives each call of another agent an id of its own: jp names tools by them", () => {
    const turns = parseConversation("U T:grep t A | U T:dive t A");
    const strip = dated({ type: "compaction", from_turn: 0, to_turn: 1, tool_calls: STRIP }, "k1", 1);
    const results = sentByJp(entriesOf(writeJp(turns, [strip]))).filter(
      (one) => (one as readonly unknown[])[0] === "tool_call_response",
    );
    expect(results).toEqual([
      ["tool_call_response", "c1", "[compacted] grep: success", false],
      ["tool_call_response", "c1_2", "[compacted] dive: success", false],
    ]);
  });

  it("writes the signature of reasoning that Anthropic signed, as jp does", () => {
    const [start, ask] = parseConversation("U")[0]!.events;
    const thought: Event = {
      type: "chat_response",
      id: "r",
      timestamp: "2026-03-04T05:06:07.000Z",
      reasoning: "hm",
      metadata: { provider: "anthropic", signature: "c2ln" },
    };
    const text = writeJp([{ index: 0, events: [start!, ask!, thought] }]);
    expect(entriesOf(text).at(-1)).toMatchObject({
      reasoning: "hm",
      metadata: { anthropic_thinking_signature: base64("c2ln") },
    });
    expect(readJp(text).readTurn(0).at(-1)).toMatchObject({ id: "r", metadata: { signature: "c2ln" } });
  });

  it("does not repair what it wrote itself", () => {
    const turns = parseConversation("U T t A");
    const events = turns[0]!.events.map((event) =>
      event.type === "tool_call_response" ? { ...event, content: "LT4gPz8-Pg==" } : event,
    );
    const result = readJp(writeJp([{ index: 0, events }]))
      .readTurn(0)
      .find(({ type }) => type === "tool_call_response");
    expect(result).toMatchObject({ content: "LT4gPz8-Pg==" });
  });
});

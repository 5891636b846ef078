// The texts, ids and times of injected turns.
import { describe, expect, it } from "vitest";
import { type Compaction, createInjectedTurn, isInjected } from "../../../src/core/conversation/compaction.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { makeCompaction, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

// covers: 064 "Messages, reasoning and calls become one synthetic request/response pair"
// covers: 064 "3. Summary: omit all provider-visible events, inject a pair at `from_turn`"
// covers: 064 "Injection at `from_turn` when that turn is won by another summary"
// covers: 064 "A pair even when the summary ends inside a turn"
// covers: 064 "Example, heavy profile: `[Summary of previous conversation]` and the text"
// covers: 064 "2.3 Summary injection"
// covers: 036 "The summary replaces the events as one pair at the start"
// covers: v2 "One System message holds the summary"
// covers: v2 "Result: system prompt, summary, protected recent messages"
// covers: v2 "The summary stands as a System message after the system prompt"
// covers: v2 "Risk: role confusion → System role, clear delimiter"
// covers: history "The system message stays"
// covers: history "Summary is a User message with delimiters"
// covers: history "`[CONVERSATION HISTORY SUMMARY - N messages]` … `[END SUMMARY - Recent conversation continues below]`"

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

  it("injects as a request whatever the form when the turn goes on after it", () => {
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

  it("names the place and the kind of what it stands for", () => {
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

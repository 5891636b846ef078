import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/compaction.ts";
import { effectOf, type PlanEffect } from "../../src/core/plan-effect.ts";
import type { Turn } from "../../src/core/turn.ts";
import { parseConversation } from "../helpers/notation.ts";

const turns = parseConversation("U R T t A | U R T t A S | U A");
const whole = { from: 0, fromIndex: 0, to: 1, toIndex: Number.POSITIVE_INFINITY };

function draft(more: Partial<Compaction>): Compaction {
  return { type: "compaction", id: "~", timestamp: "9999-12-31T23:59:59Z", from_turn: 0, to_turn: 1, ...more };
}

function effect(
  more: Partial<Compaction>,
  compactions: readonly Compaction[] = [],
  list: readonly Turn[] = turns,
): PlanEffect {
  const facts = { turnCount: list.length, turns: new Map(list.map((turn) => [turn.index, turn])), compactions };
  return effectOf(draft(more), whole, facts);
}

describe("effectOf", () => {
  it("counts what is left out and the messages of the range", () => {
    expect(effect({ reasoning: "strip" })).toEqual({ changes: true, removed: 2, messages: 4 });
    expect(effect({ tool_calls: { policy: "omit" } })).toEqual({ changes: true, removed: 4, messages: 4 });
    expect(effect({ turns: "omit" })).toEqual({ changes: true, removed: 11, messages: 4 });
  });

  it("leaves kept events out of what goes", () => {
    expect(effect({ summary: { summary: "s" }, keep: ["e0.1"] }).removed).toBe(10);
  });

  it("sees a change under a live summary", () => {
    const hidden = [{ ...draft({ summary: { summary: "s" } }), timestamp: "2026-02-01T00:00:00Z" }];
    expect(effect({ reasoning: "strip" }, hidden).changes).toBe(true);
  });

  it("sees no change where the same is in force already", () => {
    const before = [
      { ...draft({ tool_calls: { policy: "truncate", max_chars: 5 } }), timestamp: "2026-02-01T00:00:00Z" },
    ];
    expect(effect({ tool_calls: { policy: "truncate", max_chars: 5 } }, before).changes).toBe(false);
    expect(effect({ tool_calls: { policy: "truncate", max_chars: 6 } }, before).changes).toBe(true);
  });

  it("sees attachments only where there are some", () => {
    const image = {
      type: "chat_request",
      id: "i",
      timestamp: "t",
      content: [{ type: "image", data: "AAAA" }],
    } as const;
    expect(effect({ attachments: "strip" }).changes).toBe(false);
    expect(
      effect(
        { attachments: "strip" },
        [],
        [
          { index: 0, events: [image] },
          { index: 1, events: [] },
        ],
      ).changes,
    ).toBe(true);
  });

  it("takes arguments that are empty already for stripped", () => {
    const call = {
      type: "tool_call_request",
      id: "c",
      timestamp: "t",
      call_id: "1",
      name: "now",
      arguments: {},
    } as const;
    const list = [
      { index: 0, events: [call] },
      { index: 1, events: [] },
    ];
    expect(effect({ tool_calls: { policy: "strip", request: true, response: true } }, [], list).changes).toBe(false);
  });
});

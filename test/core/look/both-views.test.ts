// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import { alignViews, type BothTurn, cutPage, rowSize } from "../../../src/core/look/both-views.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";

function both({ turns, compactions }: RandomConversation): readonly BothTurn[] {
  const view = projectTurns(turns, compactions);
  return alignViews({ turns, view, dispositions: resolveDispositions(turns, compactions) });
}

function isSent(event: Event): boolean {
  return traitsOf(event).providerVisible;
}

/** What a view holds of a row. */
function viewSide({ rows }: BothTurn): readonly Event[] {
  return rows.flatMap((row) => {
    if (row.kind === "inserted") return row.events;
    if (row.shown !== undefined) return [row.shown];
    return row.state === "shown" ? [row.event] : [];
  });
}

describe("the conversation aligned with its view", () => {
  it("hold every event once, in order", () => {
    fc.assert(
      fc.property(randomConversation, (conversation) => {
        const said = both(conversation).flatMap(({ rows }) =>
          rows.flatMap((row) => (row.kind === "event" ? row.event : [])),
        );
        expect(said).toEqual(conversation.turns.flatMap(({ events }) => events));
      }),
    );
  });

  it("hold all that the model sees, in the order in which it sees it", () => {
    fc.assert(
      fc.property(randomConversation, (conversation) => {
        const { turns, compactions } = conversation;
        const view = projectTurns(turns, compactions).turns.flatMap(({ events }) => events);
        const side = both(conversation).flatMap(viewSide);
        expect(side.filter(isSent)).toEqual(view.filter(isSent));
      }),
    );
  });

  it("name the compaction of whatever is hidden or changed", () => {
    fc.assert(
      fc.property(randomConversation, (conversation) => {
        const names = new Set(conversation.compactions.map(({ id }) => id));
        for (const { rows } of both(conversation))
          for (const row of rows)
            if (row.kind === "event" && (row.state === "hidden" || row.state === "changed"))
              expect(names).toContain(row.disposition?.compaction.id);
      }),
    );
  });
});

const sizes = fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 60 });
const limits = fc.record({ size: fc.integer({ min: 1, max: 200 }), count: fc.integer({ min: 1, max: 10 }) });

describe("pieces of a page", () => {
  it("hold each thing once, in order", () => {
    fc.assert(
      fc.property(sizes, limits, (own, most) => {
        const held = cutPage(own, most).flatMap(({ from, to }) => own.map((_, at) => at).slice(from, to + 1));
        expect(held).toEqual(own.map((_, at) => at));
      }),
    );
  });

  it("keep to the limits, but for what is too large by itself, and end no sooner than they have to", () => {
    fc.assert(
      fc.property(sizes, limits, (own, most) => {
        const sum = (from: number, to: number): number =>
          own.slice(from, to + 1).reduce((total, one) => total + one, 0);
        for (const { from, to } of cutPage(own, most)) {
          expect(to - from + 1).toBeLessThanOrEqual(most.count);
          if (to > from) expect(sum(from, to)).toBeLessThanOrEqual(most.size);
          const next = to + 1;
          if (next < own.length && next - from < most.count) expect(sum(from, next)).toBeGreaterThan(most.size);
        }
      }),
    );
  });

  it("count a row by its texts, what is changed twice, and what is kept elsewhere as long", () => {
    const said = (content: string): Event => ({ type: "chat_request", id: "e", timestamp: "", content });
    const short = rowSize({ kind: "event", event: said("x"), state: "shown" });
    expect(rowSize({ kind: "event", event: said("x".repeat(1001)), state: "shown" })).toBe(short + 1000);
    expect(rowSize({ kind: "event", event: said("x"), shown: said("xy"), state: "changed" })).toBe(short + 2);
    const elsewhere: Event = { type: "chat_request", id: "e", timestamp: "", content: { $attachment: "a.txt" } };
    expect(rowSize({ kind: "event", event: elsewhere, state: "shown" })).toBeGreaterThan(50_000);
  });
});

// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import { type BothTurn, besideEachOther } from "../../../src/core/look/both-views.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";

function both({ turns, compactions }: RandomConversation): readonly BothTurn[] {
  const view = projectTurns(turns, compactions);
  return besideEachOther({ turns, view, dispositions: resolveDispositions(turns, compactions) });
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

describe("the conversation and its view beside each other", () => {
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

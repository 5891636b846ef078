// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EditItem, itemsOf, parsePlan, printPlan } from "../../../src/core/compact/edit-plan.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

function items({ turns, compactions }: RandomConversation, calls: boolean): readonly EditItem[] {
  const byIndex = new Map(turns.map((turn) => [turn.index, turn]));
  const view = projectTurns(turns, compactions);
  return itemsOf({ view, turns: byIndex, compactions, pins: [], count: estimateEvent, calls });
}

const BASE = { branch: "a-k3f9/main", commit: "0123456789ab", calls: true };

describe("the items of a view", () => {
  it("have places of their own that come back from the text, and tokens that add up", () => {
    fc.assert(
      fc.property(randomConversation, fc.boolean(), (conversation, calls) => {
        const found = items(conversation, calls);
        const places = found.map(({ place }) => place);
        expect(new Set(places).size).toBe(places.length);
        const lines = found.map(({ place, verb, words }) => ({ place, verb, about: words }));
        expect(parsePlan(printPlan({ base: BASE, lines })).plan?.lines.map(({ place }) => place) ?? []).toEqual(places);
        const view = projectTurns(conversation.turns, conversation.compactions);
        const shown = view.turns.flatMap(({ events }) => events).reduce((sum, event) => sum + estimateEvent(event), 0);
        const own = found.filter(({ kind }) => kind !== "call").reduce((sum, { tokens }) => sum + tokens, 0);
        expect(own).toBeCloseTo(shown);
      }),
      { numRuns: runs(200) },
    );
  });

  it("say in one harmless line what strangers wrote", () => {
    const [turn] = parseConversation("U A");
    const hostile = "\u001b]0;title\u0007\u001b[2Jomit 0\nomit 1\r\n\u202eevil\u2066 \u0000end";
    const events = (turn?.events ?? []).map((event) =>
      event.type === "chat_request" ? { ...event, content: hostile } : event,
    );
    const turns: readonly Turn[] = [{ index: 0, events }];
    const [item] = items({ turns, compactions: [] }, false);
    expect(item?.words).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(item?.words).toContain("omit 0 omit 1 evil end");
    const text = printPlan({ base: BASE, lines: [{ verb: "keep", place: "0", about: item?.words ?? "" }] });
    expect(parsePlan(text).plan?.lines).toMatchObject([{ verb: "keep", place: "0" }]);
  });

  it("name calls by the start of their ids, and by number where an id cannot stand in a plan", () => {
    const [turn] = parseConversation("U T t T t T t");
    const ids = ["f7657c25-4524", "f7657c25-9999", "has a blank\n"];
    let next = 0;
    const events = (turn?.events ?? []).map((event) =>
      event.type === "tool_call_request" ? { ...event, id: ids[next++] ?? "" } : event,
    );
    const found = items({ turns: [{ index: 0, events }], compactions: [] }, true);
    expect(found.map(({ place }) => place)).toEqual(["0", "0:f7657c25-4", "0:f7657c25-9", "0:#2"]);
  });
});

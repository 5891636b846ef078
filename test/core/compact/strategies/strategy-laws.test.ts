// @module-tag law
// Laws of strategies over random conversations, stacks of compactions and lists of strategies.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompactionPlan } from "../../../../src/core/compact/plan.ts";
import { choosePipelines } from "../../../../src/core/compact/strategies/pipelines.ts";
import { STRATEGIES } from "../../../../src/core/compact/strategies/strategy-list.ts";
import type { Compaction } from "../../../../src/core/conversation/compaction.ts";
import { checkCoverage } from "../../../../src/core/conversation/coverage.ts";
import { type Event, isMessage, type Turn, traitsOf, type View } from "../../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../../src/core/conversation/projection.ts";
import { estimateView } from "../../../../src/core/conversation/token-estimate.ts";
import { type AskOptions, askStrategies, storedOf } from "../../../helpers/call-conversation.ts";
import { idsAcrossTurns, randomConversation } from "../../../helpers/random-conversation.ts";
import { runs } from "../../../helpers/runs.ts";

const TOOLS = ["Read", "Write", "Edit", "Bash", "learn"] as const;

/** Gives calls tools and arguments that strategies know, few enough that they repeat; some results are long. */
function withTools(turns: readonly Turn[], seed: number): readonly Turn[] {
  let at = seed;
  return turns.map(({ index, events }) => ({
    index,
    events: events.map((event): Event => {
      at = (at * 1103515245 + 12345) % 2147483648;
      const choice = at >> 16;
      if (event.type === "tool_call_response" && choice % 3 === 0)
        return { ...event, content: `${event.content}\n${"long output ".repeat(30)}` };
      if (event.type !== "tool_call_request") return event;
      const name = TOOLS[choice % TOOLS.length] ?? "Read";
      const file_path = choice % 2 === 0 ? "a.ts" : "b.ts";
      const body = choice % 7 < 4 ? "code ".repeat(80) : "code";
      return { ...event, name, arguments: name === "Write" ? { file_path, content: body } : { file_path } };
    }),
  }));
}

const mechanical = STRATEGIES.filter(({ isExclusive }) => isExclusive !== true).map(({ name }) => name);
const names = fc.uniqueArray(fc.constantFrom(...mechanical), { minLength: 1, maxLength: 5 });
const hint = fc.record(
  {
    request: fc.constantFrom("keep" as const, "strip" as const),
    response: fc.constantFrom("keep" as const, "strip" as const, "remove" as const),
    dedup: fc.boolean(),
  },
  { requiredKeys: [] },
);
const hints = fc.dictionary(fc.constantFrom("Read", "Write", "learn", "*"), hint, { maxKeys: 3 });

const situation = fc
  .record({
    conversation: randomConversation,
    seed: fc.nat(1000),
    names,
    hints,
    keepLast: fc.nat(2),
    stubs: fc.constantFrom({}, { first_line: true } as const, { pointers: true } as const),
    pinned: fc.nat(6),
    windowTokens: fc.constantFrom(200, 1000, 5000, 200_000),
  })
  .map(({ conversation, seed, names: chosen, hints: table, keepLast, stubs, pinned, windowTokens }) => {
    const turns = withTools(conversation.turns, seed);
    // Keeping by name what a compaction hides brings it back; that is not what is looked at here.
    const shown = [...shownIn(projectTurns(turns, conversation.compactions)).values()];
    const ids = shown.filter((event) => traitsOf(event).providerVisible).map(({ id }) => id);
    const keep = pinned === 0 ? [] : ids.filter((_, index) => index % 7 === pinned);
    const ask: AskOptions = {
      request: { compactions: conversation.compactions, range: { keep: keepLast }, stubs, keep },
      known: { hints: table, windowTokens },
    };
    return { turns, compactions: conversation.compactions, names: chosen, ask, keep };
  });

type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;

/** Checks a property of the plan where there is one. */
function law(check: (plan: CompactionPlan, made: Compaction, at: Situation) => void, own = 250): void {
  fc.assert(
    fc.property(situation, (at) => {
      const plan = askStrategies(at.turns, at.names, at.ask);
      if ("nothing" in plan) return;
      check(plan, storedOf(plan), at);
    }),
    { numRuns: runs(own) },
  );
}

function shownIn(view: View): Map<string, Event> {
  return new Map(
    view.turns.flatMap(({ origin, events }) =>
      origin.kind === "kept" ? events.map((event): [string, Event] => [event.id, event]) : [],
    ),
  );
}

describe("whatever strategies are asked, alone or together", () => {
  it("every event of the view is as the coverage invariant wants it", () => {
    law((_, made, { turns, compactions }) => {
      const all = [...compactions, made];
      expect(checkCoverage(turns, all, projectTurns(turns, all))).toEqual([]);
    });
  });

  it("nothing comes back, and nothing that is kept by name or outside the range changes", () => {
    law((_, made, { turns, compactions, keep }) => {
      const before = shownIn(projectTurns(turns, compactions));
      const after = shownIn(projectTurns(turns, [...compactions, made]));
      const inRange = new Set(
        turns.slice(made.from_turn, made.to_turn + 1).flatMap(({ events }) => events.map(({ id }) => id)),
      );
      const pinned = new Set(keep);
      for (const [id, event] of after) {
        const was = before.get(id);
        // What is kept by name is as it was said, even if an older compaction had shortened it.
        if (!traitsOf(event).providerVisible || (pinned.has(id) && inRange.has(id))) continue;
        expect(was, `${id} comes back`).toBeDefined();
        if (!inRange.has(id)) expect(event).toEqual(was);
      }
      // A part of a turn that is shown by itself has a turn_start that is not an event of the conversation.
      const outside = turns.flatMap(({ events }) => events.map(({ id }) => id)).filter((id) => !inRange.has(id));
      for (const id of outside) if (before.has(id)) expect(after.has(id)).toBe(true);
      for (const id of keep) if (before.has(id) && inRange.has(id)) expect(after.has(id)).toBe(true);
    });
  });

  it("the newest turns stay as they are that the settings leave alone, whatever else is protected", () => {
    const range = fc.record({
      keepLast: fc.nat(3),
      protectedMessages: fc.nat(5),
      protectTokens: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    });
    const chosen = fc.oneof(names, fc.constantFrom(["auto"], ["tiered"], ["mask-results"], ["auto", "supersede"]));
    fc.assert(
      fc.property(situation, range, chosen, fc.boolean(), (at, { protectTokens, ...spared }, wanted, intoLoop) => {
        const strategies = choosePipelines(wanted, {}, { tokens: 1 });
        const asked = { ...spared, ...(protectTokens === undefined ? {} : { protectTokens }) };
        const plan = askStrategies(at.turns, [], {
          request: { ...at.ask.request, range: asked, intoLoop, strategies },
          known: { ...at.ask.known, viewTokens: 1000 },
        });
        if ("nothing" in plan || at.turns.length <= spared.keepLast) return;
        const messages = (turn: Turn): number => turn.events.filter((event) => isMessage(event)).length;
        let left = spared.protectedMessages;
        const isSpared = at.turns.toReversed().map((turn, index) => {
          const stays = index < spared.keepLast || left > 0;
          left -= messages(turn);
          return stays;
        });
        expect(plan.compaction.to_turn).toBeLessThan(at.turns.length - isSpared.filter(Boolean).length);
      }),
      { numRuns: runs(200) },
    );
  });

  it("no result loses its call and no call its result", () => {
    law((_, made, { turns, compactions }) => {
      const orphans = (view: View): number => {
        const events = view.turns.flatMap((turn) => turn.events);
        const open = new Map<string, number>();
        let count = 0;
        for (const event of events) {
          if (event.type === "tool_call_request") open.set(event.call_id, (open.get(event.call_id) ?? 0) + 1);
          if (event.type !== "tool_call_response") continue;
          const left = open.get(event.call_id) ?? 0;
          if (left === 0) count += 1;
          else open.set(event.call_id, left - 1);
        }
        return count;
      };
      expect(orphans(projectTurns(turns, [...compactions, made]))).toBeLessThanOrEqual(
        orphans(projectTurns(turns, compactions)),
      );
    });
  });

  it("planning again gives the same plan", () => {
    law((plan, _, { turns, names: chosen, ask }) => {
      expect(askStrategies(turns, chosen, ask)).toEqual(plan);
    }, 100);
  });

  it("the same strategies find nothing right after", () => {
    law((_, made, { turns, compactions, names: chosen, ask }) => {
      const again = askStrategies(turns, chosen, {
        ...ask,
        request: { ...ask.request, compactions: [...compactions, made] },
      });
      expect(again).toHaveProperty("nothing");
    });
  });

  it("the steps add up to what the view loses, where nothing is kept by name and calls are answered in their turns", () => {
    law((plan, made, { turns, compactions, keep }) => {
      if (keep.length > 0 || idsAcrossTurns(turns).size > 0) return;
      const before = projectTurns(turns, compactions);
      const after = projectTurns(turns, [...compactions, made]);
      const visible = (view: View): number =>
        [...shownIn(view).values()].filter((e) => traitsOf(e).providerVisible).length;
      const sum = (of: (step: CompactionPlan["steps"][number]) => number): number =>
        plan.steps.reduce((total, step) => total + of(step), 0);
      expect(sum((step) => step.estimated_tokens_saved)).toBe(estimateView(before) - estimateView(after));
      expect(sum((step) => step.events_removed)).toBe(visible(before) - visible(after));
    });
  });

  it("together they take of each call what the strongest of them takes alone", () => {
    fc.assert(
      fc.property(situation, ({ turns, compactions, names: chosen, ask, keep }) => {
        if (keep.length > 0) return;
        const sizes = (list: readonly string[]): Map<string, number> => {
          const plan = askStrategies(turns, list, ask);
          const all = "nothing" in plan ? compactions : [...compactions, storedOf(plan)];
          const shown = shownIn(projectTurns(turns, all));
          return new Map(
            turns.flatMap(({ events }) =>
              events.map((event): [string, number] => {
                const now = shown.get(event.id);
                return [event.id, now === undefined ? -1 : rank(event, now)];
              }),
            ),
          );
        };
        const together = sizes(chosen);
        const apart = chosen.map((name) => sizes([name]));
        for (const [id, rankOf] of together)
          expect(rankOf, id).toBe(Math.min(...apart.map((alone) => alone.get(id) ?? 9)));
      }),
      { numRuns: runs(150) },
    );
  });
});

/** How much of an event is shown: 0 stripped, 1 shortened, 2 all. */
function rank(event: Event, now: Event): number {
  if (JSON.stringify(event) === JSON.stringify(now)) return 2;
  if (now.type === "tool_call_request") return Object.keys(now.arguments as object).length === 0 ? 0 : 1;
  return now.type === "tool_call_response" && String(now.content).startsWith("[compacted]") ? 0 : 1;
}

// @module-tag law
// Whatever a plan says of a conversation under whatever compactions: following it as one does what its compactions do one after
// the other, what is kept is shown as it was, and taking all of it back gives the view that was there.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EDIT_VERBS,
  type EditItem,
  type EditVerb,
  itemsOf,
  parsePlan,
  printPlan,
} from "../../../src/core/compact/edit-plan.ts";
import {
  checkPlan,
  type EditChoice,
  type EditStep,
  listSteps,
  type PlannedSteps,
  planSteps,
} from "../../../src/core/compact/edit-steps.ts";
import { type Compaction, withoutIndex } from "../../../src/core/conversation/compaction.ts";
import { checkCoverage } from "../../../src/core/conversation/coverage.ts";
import {
  type Event,
  type ProjectedTurn,
  type Turn,
  traitsOf,
  type View,
} from "../../../src/core/conversation/event.ts";
import type { Pin } from "../../../src/core/conversation/marks.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { printView } from "../../helpers/notation.ts";
import { idsAcrossTurns, type RandomConversation, randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";

interface Edited extends RandomConversation {
  readonly calls: boolean;
  readonly wanted: readonly EditVerb[];
}

const edited: fc.Arbitrary<Edited> = fc
  .tuple(
    randomConversation,
    fc.boolean(),
    fc.array(fc.constantFrom(...(Object.keys(EDIT_VERBS) as EditVerb[])), { minLength: 40, maxLength: 40 }),
  )
  .map(([conversation, calls, wanted]) => ({ ...conversation, calls, wanted }));

const byIndex = (turns: readonly Turn[]): ReadonlyMap<number, Turn> => new Map(turns.map((turn) => [turn.index, turn]));

function itemsIn({ turns, compactions, calls }: Edited): readonly EditItem[] {
  const view = projectTurns(turns, compactions.map(withoutIndex));
  return itemsOf({ view, turns: byIndex(turns), compactions, pins: [], count: estimateEvent, calls });
}

/** The plan as it would be written, with those verbs that its lines can have. */
function choose(conversation: Edited): {
  readonly choices: readonly EditChoice[];
  readonly steps: readonly EditStep[];
  readonly pins: readonly Pin[];
} {
  const items = itemsIn(conversation);
  const turns = byIndex(conversation.turns);
  let lines = items.map((item, at) => ({ verb: conversation.wanted[at] ?? item.verb, place: item.place }));
  for (;;) {
    const text = printPlan({ base: { branch: "a-k3f9/main", commit: COMMIT, calls: conversation.calls }, lines });
    const { plan } = parsePlan(text);
    const { choices, problems } = checkPlan(
      plan ?? { base: { branch: "", commit: "", calls: false }, lines: [] },
      items,
    );
    const found = listSteps(choices, turns);
    const planned = planOf(conversation, found.steps, found.pins);
    const wrong = new Set([...problems, ...found.problems, ...planned.problems].map(({ line }) => line - 2));
    if (wrong.size === 0) return { choices, steps: found.steps, pins: found.pins };
    expect(lines.some(({ verb }) => verb !== "keep")).toBe(true);
    // A line that is kept may be named for what another wants of its message.
    const isKept = !lines.some(({ verb }, at) => wrong.has(at) && verb !== "keep");
    lines = lines.map((line, at) => (isKept || wrong.has(at) ? { ...line, verb: "keep" } : line));
  }
}

function planOf(
  { turns, compactions }: RandomConversation,
  steps: readonly EditStep[],
  pins: readonly Pin[],
): PlannedSteps {
  const now = "2026-03-01T00:00:00Z";
  return planSteps(steps, { turnCount: turns.length, turns: byIndex(turns), compactions, now, pins, prompts: [] });
}

function draftsOf(
  conversation: RandomConversation,
  steps: readonly EditStep[],
  { second, pins }: { readonly second: string; readonly pins: readonly Pin[] },
): readonly Compaction[] {
  const { planned } = planOf(conversation, steps, pins);
  return planned.map(({ plan, step }) => ({
    ...plan.compaction,
    ...(plan.summarize === undefined ? {} : { summary: { summary: "text" } }),
    id: `z${step.line}`,
    timestamp: `2026-03-01T00:00:${second}Z`,
  }));
}

const shown = (view: View): string => printView(view);

describe("following a plan", () => {
  it("does as one what its compactions do one after the other", () => {
    fc.assert(
      fc.property(edited, (conversation) => {
        const { steps, pins } = choose(conversation);
        const { turns, compactions } = conversation;
        const together = draftsOf(conversation, steps, { second: "30", pins });
        const one: Compaction[] = [...compactions];
        for (const [at, step] of steps.entries()) {
          const second = String(31 + (at % 28));
          const [next] = draftsOf({ turns, compactions: one }, [step], { second, pins });
          if (next !== undefined) one.push({ ...next, timestamp: `2026-03-01T00:${String(at).padStart(2, "0")}:00Z` });
        }
        expect(shown(projectTurns(turns, [...compactions, ...together]))).toBe(shown(projectTurns(turns, one)));
      }),
      { numRuns: runs(150) },
    );
  });

  it("leaves what is kept or pinned as it is shown", () => {
    fc.assert(
      fc.property(edited, (conversation) => {
        const { choices, steps, pins } = choose(conversation);
        const { turns, compactions } = conversation;
        const before = projectTurns(turns, compactions);
        const after = projectTurns(turns, [...compactions, ...draftsOf(conversation, steps, { second: "30", pins })]);
        const events = ({ turns: all }: View): string[] =>
          all.flatMap(({ events: own }: ProjectedTurn) => own.map((event) => JSON.stringify(event)));
        const left = new Set(events(after));
        const calls = choices.filter(({ verb, item }) => item.kind === "call" && verb !== "keep" && verb !== "pin");
        const changed = new Set(calls.map(({ item }) => item.range.from));
        // One half of a call goes with the other, also where that is in another turn.
        const all = (view: View): readonly Event[] => view.turns.flatMap((turn) => turn.events);
        const ids = new Set(all(after).map(({ id }) => id));
        const apart = idsAcrossTurns(turns);
        const goesAlong = ({ id }: Event): boolean => apart.has(id) && !ids.has(id);
        for (const { item, verb } of choices) {
          if ((verb !== "keep" && verb !== "pin") || item.kind !== "turn" || changed.has(item.range.from)) continue;
          const own = before.turns.filter(({ origin }) => origin.kind === "kept" && origin.turn === item.range.from);
          if (own.length > 1) continue;
          for (const event of own.flatMap((turn) => turn.events))
            if (traitsOf(event).providerVisible && !goesAlong(event)) expect(left).toContain(JSON.stringify(event));
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("loses, doubles and makes up nothing, and taken back leaves the view that was there", () => {
    fc.assert(
      fc.property(edited, (conversation) => {
        const { steps, pins } = choose(conversation);
        const { turns, compactions } = conversation;
        const all = [...compactions, ...draftsOf(conversation, steps, { second: "30", pins })];
        expect(checkCoverage([...turns], all, projectTurns(turns, all))).toEqual([]);
        const back = all.filter(({ timestamp }) => !timestamp.startsWith("2026-03"));
        expect(projectTurns(turns, back)).toEqual(projectTurns(turns, compactions));
      }),
      { numRuns: runs(150) },
    );
  });

  it("changes nothing for an unchanged plan", () => {
    fc.assert(
      fc.property(edited, (conversation) => {
        const { steps } = choose({ ...conversation, wanted: [] });
        expect(steps).toEqual([]);
      }),
      { numRuns: runs(50) },
    );
  });
});

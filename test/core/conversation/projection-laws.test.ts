// @module-tag law
// The laws of projection, over random streams and random stacks of compactions.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Compaction, isHiding } from "../../../src/core/conversation/compaction.ts";
import { checkCoverage } from "../../../src/core/conversation/coverage.ts";
import {
  planHalves,
  planReading,
  planTurnReadings,
  type TurnReading,
} from "../../../src/core/conversation/covered-range.ts";
import { type Event, splitTurns, type Turn, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { project, projectTurns } from "../../../src/core/conversation/projection.ts";
import { pairCalls } from "../../../src/core/conversation/tool-pairing.ts";
import { resolveDispositions } from "../../../src/core/conversation/winner.ts";
import {
  dateCompaction,
  type RandomConversation,
  randomCompaction,
  randomConversation,
  randomTurns,
} from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const RUNS = { numRuns: runs(500) };

function holds(law: (conversation: RandomConversation) => void): void {
  fc.assert(fc.property(randomConversation, law), RUNS);
}

function flatten(view: View): readonly Event[] {
  return view.turns.flatMap(({ events }) => events);
}

function readPlanned(turns: readonly Turn[], compactions: readonly Compaction[]): ReadonlyMap<number, Turn> {
  const entryOf = ({ turn: position, firstEventOnly }: TurnReading): [number, Turn][] => {
    const turn = turns[position];
    if (turn === undefined) return [];
    return [[position, firstEventOnly ? { ...turn, events: turn.events.slice(0, 1) } : turn]];
  };
  const read = new Map(planTurnReadings(turns.length, compactions).flatMap(entryOf));
  for (const position of planHalves(turns.length, compactions, read)) read.set(position, turns[position] as Turn);
  return read;
}

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) freeze(item);
    Object.freeze(value);
  }
  return value;
}

/** A conversation and two compactions of it without `keep`, which is an opinion on every content type. */
const randomPair = randomTurns.chain((turns) =>
  fc.tuple(fc.constant(turns), randomCompaction(turns, false), randomCompaction(turns, false)),
);

describe("projection", () => {
  it("never breaks coverage", () => {
    holds(({ turns, compactions }) => {
      const view = projectTurns(turns, compactions);
      expect(checkCoverage(turns, compactions, view)).toEqual([]);
      const first = new Map(planReading(turns.length, compactions).map((at) => [at, turns[at] as Turn]));
      const more = planHalves(turns.length, compactions, first).map((at) => [at, turns[at] as Turn] as const);
      const read = [...new Map([...first, ...more]).values()].sort((a, b) => a.index - b.index);
      expect(checkCoverage(read, compactions, view, { turnCount: turns.length })).toEqual([]);
    });
  });

  it("gives the same view from the planned turns as from all", () => {
    holds(({ turns, compactions }) => {
      const lazy = project({ turnCount: turns.length, turns: readPlanned(turns, compactions), compactions });
      expect(lazy).toEqual(projectTurns(turns, compactions));
    });
  });

  it("forgets a deleted compaction wholly, read lazily again", () => {
    holds(({ turns, compactions }) => {
      for (const deleted of compactions) {
        const rest = compactions.filter((compaction) => compaction !== deleted);
        const lazy = project({ turnCount: turns.length, turns: readPlanned(turns, rest), compactions: rest });
        expect(lazy).toEqual(projectTurns(turns, rest));
        expect(checkCoverage(turns, rest, lazy)).toEqual([]);
      }
    });
  });

  it("is the identity without compactions", () => {
    fc.assert(
      fc.property(randomTurns, (turns) => {
        const { turns: projected } = projectTurns(turns, []);
        expect(projected).toHaveLength(turns.length);
        for (const [at, turn] of projected.entries()) expect(turn.events).toBe(turns[at]?.events);
      }),
      RUNS,
    );
  });

  it("changes nothing when a view is projected again", () => {
    holds(({ turns, compactions }) => {
      const view = projectTurns(turns, compactions);
      const again = projectTurns(
        splitTurns(flatten(view), (event) => traitsOf(event).providerVisible),
        [],
      );
      expect(again.turns.map(({ events }) => events)).toEqual(view.turns.map(({ events }) => events));
    });
  });

  it("does not depend on the order in which compactions are handed in", () => {
    holds(({ turns, compactions }) => {
      expect(projectTurns(turns, [...compactions].reverse())).toEqual(projectTurns(turns, compactions));
    });
  });

  it("gives the same view whichever of two compactions on disjoint content is made first", { tags: ["slow"] }, () => {
    let compared = 0;
    fc.assert(
      fc.property(randomPair, ([turns, a, b]) => {
        const made = (first: number, second: number): Compaction[] => [
          dateCompaction(a, "a", first),
          dateCompaction(b, "b", second),
        ];
        const [onlyA, onlyB] = made(1, 2).map((compaction) => listContent(turns, compaction));
        if ([...(onlyA ?? [])].some((content) => onlyB?.has(content))) return;
        // An index is placed where its range ends: what hides that place overlaps it.
        const [first, second] = made(1, 2) as [Compaction, Compaction];
        if (hidesEnd(first, second) || hidesEnd(second, first)) return;
        // An index on its own takes its time from its compaction.
        if (projectTurns(turns, made(1, 2)).turns.every(({ origin }) => origin.kind === "index")) return;
        compared += 1;
        expect(projectTurns(turns, made(1, 2))).toEqual(projectTurns(turns, made(2, 1)));
      }),
      { numRuns: runs(2500) },
    );
    expect(compared).toBeGreaterThan(300);
  });

  it("mutates nothing and passes untouched events by reference", () => {
    holds(({ turns, compactions }) => {
      freeze({ turns, compactions });
      const view = projectTurns(turns, compactions);
      const touched = resolveDispositions(turns, compactions);
      const raw = new Set(turns.flatMap(({ events }) => events));
      const kept = view.turns.filter(({ origin }) => origin.kind === "kept").flatMap(({ events }) => events);
      for (const event of kept) {
        if (traitsOf(event).providerVisible && !touched.has(event.id)) expect(raw.has(event)).toBe(true);
      }
    });
  });

  it("starts every projected turn with a turn_start and repeats no event id", () => {
    holds(({ turns, compactions }) => {
      const view = projectTurns(turns, compactions);
      const ids = flatten(view).map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { events } of view.turns.slice(1)) expect(events[0]?.type).toBe("turn_start");
    });
  });

  it("shows both halves of a call or none of them, in one turn and across turns", () => {
    holds(({ turns, compactions }) => {
      const shown = new Set(flatten(projectTurns(turns, compactions)).map(({ id }) => id));
      for (const [response, request] of pairCalls(turns, () => false))
        expect(shown.has(response.id)).toBe(shown.has(request.id));
    });
  });

  it("never puts a summary between a call and its result in the same turn", () => {
    holds(({ turns, compactions }) => {
      const places = new Map(
        projectTurns(turns, compactions).turns.flatMap(({ events }, at) => events.map(({ id }) => [id, at])),
      );
      const view = projectTurns(turns, compactions).turns;
      for (const [response, request] of pairCalls(turns, () => false)) {
        const [from, to] = [places.get(request.id), places.get(response.id)];
        if (from === undefined || to === undefined || turnOf(turns, request) !== turnOf(turns, response)) continue;
        const between = view.slice(from + 1, to).map(({ origin }) => origin.kind);
        expect(between.filter((kind) => kind !== "kept")).toEqual([]);
      }
    });
  });

  it("hides in the view what the dispositions say is hidden, and nothing else that a model sees", () => {
    holds(({ turns, compactions }) => {
      const shown = new Set(flatten(projectTurns(turns, compactions)).map(({ id }) => id));
      const dispositions = resolveDispositions(turns, compactions);
      for (const event of turns.flatMap(({ events }) => events)) {
        if (!traitsOf(event).providerVisible) continue;
        const disposition = dispositions.get(event.id);
        const isGone =
          disposition?.action === "hide" || disposition?.action === "omit" || disposition?.content === "reasoning";
        const isKept = disposition?.action === "keep";
        expect(shown.has(event.id)).toBe(!isGone || isKept);
      }
    });
  });
});

function turnOf(turns: readonly Turn[], event: Event): number | undefined {
  return turns.find(({ events }) => events.includes(event))?.index;
}

/** Whether one hides something of the turn in which the other, which has an index, ends. */
function hidesEnd(one: Compaction, other: Compaction): boolean {
  const isWithin = one.from_turn <= other.to_turn && other.to_turn <= one.to_turn;
  return isHiding(one) && other.index !== undefined && isWithin;
}

/** What a compaction has an opinion on when it is the only one: event and content type. */
function listContent(turns: readonly Turn[], compaction: Compaction): ReadonlySet<string> {
  const contents = new Set<string>();
  for (const [id, { content }] of resolveDispositions(turns, [compaction])) contents.add(`${id} ${content}`);
  // A view has one index: two compactions that have one are not apart.
  if (compaction.index !== undefined) contents.add("index");
  return contents;
}

// @module-tag law
// @module-tag law
// Which turns are read before a compaction is planned.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  areKeptAtHand,
  type CompactionRequest,
  knownOf,
  toolsUnread,
  turnsLikely,
  turnsNeeded,
  turnsToLeave,
  type UnreadTurns,
} from "../../../src/core/compact/compaction-request.ts";
import { explainFromSome, planCompaction, planCompactionReading, trialOf } from "../../../src/core/compact/plan.ts";
import { choosePipelines } from "../../../src/core/compact/strategies/pipelines.ts";
import { namesCalled } from "../../../src/core/compact/strategies/strategy-context.ts";
import { chooseStrategies, STRATEGIES } from "../../../src/core/compact/strategies/strategy-list.ts";
import type { ToolCompactionHints } from "../../../src/core/compact/tool-hints.ts";
import { isNothing, type RangeRequest } from "../../../src/core/conversation/bound-resolution.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { planReading } from "../../../src/core/conversation/covered-range.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { parseBound } from "../../../src/core/conversation/range-bound.ts";
import { joinFacts } from "../../../src/core/model/stretch-facts.ts";
import { type TurnFacts, turnFacts } from "../../../src/core/model/usage.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { DEFAULT, live, requestFor, STRIP, SUMMARIZE } from "../../helpers/plan-request.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const five = "U R A | U R T t A | U A | U R T:grep t! A | U R A";

describe("planCompactionReading", () => {
  it("lists the range, the newest turn, and what a summary may grow over", () => {
    const request = requestFor(parseConversation(five), { range: { from: parseBound("2"), to: parseBound("2") } });
    expect(planCompactionReading(request)).toEqual([2, 4]);
    const compactions = [live(0, 2, { summary: { summary: "old" } })];
    expect(planCompactionReading({ ...request, compactions, policies: SUMMARIZE })).toEqual([0, 1, 2, 4]);
    expect(planCompactionReading({ ...request, turnCount: 0 })).toEqual([]);
  });

  it("lists turns in their order, newest messages that are protected among them", () => {
    const twelve = Array.from({ length: 12 }, () => "U A").join(" | ");
    const asked = requestFor(parseConversation(twelve), { range: { keepLast: 1, protectedMessages: 2 } });
    expect(planCompactionReading(asked)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("follows summaries, and nothing else, from one to the next and to the end of the conversation", () => {
    const request = requestFor(parseConversation("A | A | A | A | A | A"), { policies: SUMMARIZE });
    const reading = (turn: string, ...compactions: Compaction[]) =>
      planCompactionReading({ ...request, compactions, range: { from: parseBound(turn), to: parseBound(turn) } });
    const old = { summary: { summary: "old" } };
    expect(reading("4", live(0, 1, old), live(1, 2, old), live(2, 4, { replacement: [] }))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(reading("0", live(2, 3, old), live(0, 2, old))).toEqual([0, 1, 2, 3, 5]);
    expect(reading("3", live(3, 9, old))).toEqual([3, 4, 5]);
    expect(reading("2", live(0, 2, { reasoning: "strip" }), live(2, 4, { turns: "omit" }))).toEqual([2, 5]);
    expect(reading("2", live(0, 1, old), live(3, 4, old))).toEqual([2, 5]);
  });

  it("lists for strategies what is shown, or all turns when one of them asks for all", () => {
    const compactions = [live(1, 3, { summary: { summary: "old" } })];
    const request = requestFor(parseConversation(five), {
      compactions,
      policies: SUMMARIZE,
      range: { from: parseBound("4"), to: parseBound("4") },
    });
    const reading = (...names: string[]) =>
      planCompactionReading({ ...request, strategies: { uses: chooseStrategies(names) } });
    expect(reading("strip-reasoning", "dedup-tools")).toEqual([0, 1, 4]);
    expect(reading("strip-reasoning", "prune-tools")).toEqual([0, 1, 2, 3, 4]);
    expect(reading("summarize")).toEqual([4]);
    expect(planCompactionReading(request)).toEqual([4]);
  });

  it("leaves what a summary hides unread where no range was named, but for its ends", () => {
    const turns = parseConversation("U A | U A | U R A | U A | U A | U R T t A");
    const asked = requestFor(turns, {
      range: { keepLast: 1 },
      compactions: [live(0, 3, { summary: { summary: "old" } })],
    });
    expect(planCompactionReading(asked)).toEqual([0, 4, 5]);
    expect(turnsToLeave(asked)).toEqual([1, 2, 3]);
    for (const more of [{ range: { keep: 1 } }, { beneath: true }, { policies: SUMMARIZE }] as const)
      expect(planCompactionReading({ ...asked, ...more })).toEqual([0, 1, 2, 3, 4, 5]);
    const cut = [live(0, 3, { summary: { summary: "old" }, to_event: "e3.1" })];
    expect(turnsToLeave({ ...asked, compactions: cut })).toEqual([1, 2]);
  });

  it("leaves it unread for strategies, too", () => {
    const turns = parseConversation("U A | U T t A | U R T t A | U A | U T t R A | U R T t A");
    const asked = requestFor(turns, { range: { keepLast: 1 }, compactions: [live(0, 3, OLD)] });
    const reading = (...names: string[]) =>
      planCompactionReading({ ...asked, strategies: { uses: chooseStrategies(names) } });
    expect(reading("strip-reasoning", "dedup-tools")).toEqual([0, 4, 5]);
    expect(reading("strip-reasoning", "prune-tools")).toEqual([0, 4, 5]);
    expect(reading("classify-tangents")).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("says why strategies find nothing without turns that are hidden outside of the range", () => {
    const turns = parseConversation("U T t A | U T t A | U T t A | U T t A | U A");
    const named = { from: parseBound("3"), to: parseBound("3") };
    const strategies = { uses: chooseStrategies(["strip-tools"]) };
    const done = live(3, 3, { tool_calls: STRIP, timestamp: "2026-02-02T00:00:00Z" });
    const all = requestFor(turns, { range: named, strategies, compactions: [live(0, 2, OLD), done] });
    const { read } = readFor(
      all,
      turns.map((turn) => turnFacts(turn)),
    );
    expect([...read.keys()]).toEqual([0, 3, 4]);
    expect(planCompaction({ ...all, turns: read })).toMatchObject({
      nothing: "everything that may be removed is already compacted",
    });
  });

  it("needs the turns in which what is left alone is looked for, and silent ones where something is kept", () => {
    const turns = parseConversation("U A | U A | T t | U A | U A | U A");
    const facts = turns.map((turn) => turnFacts(turn));
    const [size = 0] = facts.map(({ tokens }) => tokens);
    const needed = (range: RangeRequest, keeps = false) => turnsNeeded([1, 2, 3, 4], facts, { range, keeps });
    expect(needed({})).toEqual([]);
    expect(needed({}, true)).toEqual([2, 1, 3]);
    expect(needed({ protectTokens: size + 1 })).toEqual([4, 5]);
    expect(needed({ protectTokens: 2 * size })).toEqual([4, 5]);
    expect(needed({ protectedMessages: 7 })).toEqual([1, 2, 3, 4, 5]);
    expect(turnsNeeded([], facts, { range: { protectTokens: 1 }, keeps: true })).toEqual([]);
  });

  it("is enough: reading more turns never changes the plan", () => {
    const policies = fc.constantFrom<Partial<CompactionRequest>>(
      { policies: DEFAULT },
      { policies: SUMMARIZE },
      { policies: { turns: "omit" } },
      { policies: { reasoning: "strip", attachments: "strip" } },
      ...STRATEGY_LISTS.map((names) => ({ strategies: { uses: chooseStrategies(names) } })),
    );
    const range = fc.constantFrom(
      {},
      { keep: 1 },
      { keepLast: 1, protectedMessages: 1 },
      { keepLast: 0, protectedMessages: 3 },
      { protectTokens: 20 },
      { keepLast: 0, protectTokens: 8 },
      { keepLast: 1, protectedMessages: 2, protectTokens: 2 },
      { from: parseBound("last"), keep: 0 },
      { to: parseBound("last") },
      { from: parseBound("-2"), to: parseBound("1") },
    );
    const hints = fc.constantFrom<ToolCompactionHints>(
      {},
      { grep: { request: "keep", response: "strip" } },
      { grep: { response: "remove" }, tool: { response: "keep" } },
    );
    const keep = fc.array(fc.nat({ max: 40 }), { maxLength: 2 });
    fc.assert(
      fc.property(
        randomConversation,
        policies,
        range,
        hints,
        keep,
        ({ turns, compactions }, rules, asked, known, kept) => {
          const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
          const drawn = strategic(
            requestFor(turns, {
              compactions,
              ...rules,
              range: asked,
              hints: known,
              keep: kept.flatMap((at) => ids[at] ?? []),
            }),
          );
          const facts = turns.map((turn) => turnFacts(turn));
          const { read, unread } = readFor(drawn, facts);
          // What is pinned where nothing is looked for is not known to be kept.
          const atHand = new Set([...read.values()].flatMap(({ events }) => events.map(({ id }) => id)));
          const all = { ...drawn, keep: (drawn.keep ?? []).filter((id) => atHand.has(id)) };
          const [few, many] = [planCompaction({ ...all, turns: read, unread }), planCompaction(all)];
          expect(areKeptAtHand([...all.keep, ...(keptBy(few) ?? [])], { turns: read, unread })).toBe(true);
          if (!isNothing(many)) {
            expect(withoutSight(few)).toEqual(withoutSight(many));
            if (isNothing(few) || unread.messages.size === 0) return;
            const view = (plan: typeof few, at: ReadonlyMap<number, Turn>) =>
              project({ ...all, turns: at, compactions: [...compactions, trialOf(plan.compaction, false)] });
            expect(view(few, read)).toEqual(view(many, all.turns));
            return;
          }
          // Why there is nothing may show only where more is read.
          expect(isNothing(few)).toBe(true);
          const some = turnsLikely(unread, facts);
          const rest = [...unread.messages.keys()].filter((turn) => !some.includes(turn));
          const more = new Map(
            [...read, ...some.map((turn) => [turn, turns[turn] as Turn] as const)].sort(([a], [b]) => a - b),
          );
          const found = explainFromSome({ ...all, turns: more, unread: knownOf(rest, facts) });
          if (rest.length > 0 && found !== null) expect(found).toEqual(many);
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it("knows of turns in stretches what it knows of each", () => {
    fc.assert(
      fc.property(randomConversation, fc.array(fc.nat({ max: 5 })), ({ turns }, left) => {
        const facts = turns.map((turn) => turnFacts(turn));
        const joined = knownOf(left, [joinFacts(facts, false)]);
        const single = knownOf(left, facts);
        expect(joined.messages).toEqual(single.messages);
        const range = { from: Math.min(...left), to: Math.max(...left) };
        expect(toolsUnread(range, joined)).toEqual(expect.arrayContaining([...toolsUnread(range, single)]));
        const needed = (known: readonly TurnFacts[]) => turnsNeeded(left, known, REMOVE);
        expect(needed([joinFacts(facts, false)])).toEqual(expect.arrayContaining([...needed(facts)]));
        // A whole stretch has nothing that is called elsewhere.
        const whole = facts.map(({ index }) => index);
        const named = (unread: UnreadTurns) => [...new Set(toolsUnread({ from: 0, to: turns.length }, unread))].sort();
        expect(named(knownOf(whole, [joinFacts(facts, false)]))).toEqual(named(knownOf(whole, facts)));
      }),
    );
  });
});

const REMOVE = { hints: { grep: { response: "remove" } }, range: { protectTokens: 3 }, keeps: true } as const;
const OLD = { summary: { summary: "old" } } as const;
/** All that need neither a model nor a person, together and by themselves. */
const STRATEGY_LISTS: readonly (readonly string[])[] = [
  choosePipelines(["auto"]).uses.map(({ strategy }) => strategy.name),
  ...STRATEGIES.flatMap(({ name, hidesTurns }) => (hidesTurns === true ? [] : [[name]])),
];

/** A request with what strategies are told of all turns, read or not; ages of calls are of small windows. */
function strategic({ strategies, turns, ...rest }: CompactionRequest): CompactionRequest {
  if (strategies === undefined) return { ...rest, turns };
  const known = { definedTools: ["tool", "grep", "ls"], calledTools: namesCalled(turns.values()), windowTokens: 100 };
  return { ...rest, turns, strategies: { ...strategies, ...known } };
}

/** The turns that are read for a request, and what is known of the rest. */
function readFor(
  all: CompactionRequest,
  facts: readonly TurnFacts[],
): { readonly read: ReadonlyMap<number, Turn>; readonly unread: UnreadTurns } {
  const kept = new Set(all.keep);
  // What is kept is pinned in its turn, which is read.
  const pinned = turnsToLeave(all).filter((turn) => all.turns.get(turn)?.events.some(({ id }) => kept.has(id)));
  const left = turnsToLeave(all).filter((turn) => !pinned.includes(turn));
  const needed = turnsNeeded(left, facts, { ...all, keeps: (all.keep ?? []).length > 0 });
  const wanted = new Set([
    ...planReading(all.turnCount, all.compactions),
    ...planCompactionReading(all),
    ...needed,
    ...pinned,
  ]);
  const positions = [...wanted].sort((a, b) => a - b);
  const read = new Map(positions.map((position) => [position, all.turns.get(position) as Turn]));
  return {
    read,
    unread: knownOf(
      left.filter((turn) => !read.has(turn)),
      facts,
    ),
  };
}

function keptBy(plan: ReturnType<typeof planCompaction>): readonly string[] | undefined {
  return isNothing(plan) ? undefined : plan.compaction.keep;
}

/** What is left out already is told apart only where it is read, and the timeline where it is cut: neither is stored. */
function withoutSight(plan: ReturnType<typeof planCompaction>): unknown {
  if (isNothing(plan)) return plan;
  const { stats, ...compaction } = plan.compaction;
  return { ...plan, segments: [], compaction: { ...compaction, stats: { ...stats, events_removed: 0 } } };
}

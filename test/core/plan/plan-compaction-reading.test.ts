// Which turns are read before a compaction is planned.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/compaction/compaction.ts";
import type { Policies } from "../../../src/core/compaction/policy.ts";
import type { Turn } from "../../../src/core/event/turn.ts";
import type { UnreadTurns } from "../../../src/core/plan/compaction-request.ts";
import { explainFromSome, planCompaction, planCompactionReading } from "../../../src/core/plan/plan-compaction.ts";
import { knownOf, toolsUnread, turnsLikely, turnsNamed, turnsToLeave } from "../../../src/core/plan/unread-turns.ts";
import { isNothing } from "../../../src/core/range/bound-resolution.ts";
import { parseBound } from "../../../src/core/range/range-bound.ts";
import { chooseStrategies } from "../../../src/core/strategies/strategy-list.ts";
import { joinFacts } from "../../../src/core/tokens/stretch-facts.ts";
import { turnFacts } from "../../../src/core/tokens/turn-facts.ts";
import type { ToolCompactionHints } from "../../../src/core/tools/tool-hints.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { DEFAULT, live, requestFor, SUMMARIZE } from "../../helpers/plan-request.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";

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

  it("is enough: reading more turns never changes the plan", () => {
    const policies = fc.constantFrom<Policies>(
      DEFAULT,
      SUMMARIZE,
      { turns: "omit" },
      { reasoning: "strip", attachments: "strip" },
    );
    const range = fc.constantFrom(
      {},
      { keep: 1 },
      { keepLast: 1, protectedMessages: 1 },
      { keepLast: 0, protectedMessages: 3 },
      { protectTokens: 20 },
      { from: parseBound("last"), keep: 0 },
      { to: parseBound("last") },
      { from: parseBound("-2"), to: parseBound("1") },
    );
    const hints = fc.constantFrom<ToolCompactionHints>(
      {},
      { grep: { request: "keep", response: "strip" } },
      { grep: { response: "remove" }, tool: { response: "keep" } },
    );
    fc.assert(
      fc.property(randomConversation, policies, range, hints, ({ turns, compactions }, policy, asked, known) => {
        const all = requestFor(turns, { compactions, policies: policy, range: asked, hints: known });
        const facts = turns.map((turn) => turnFacts(turn));
        const left = turnsToLeave(all);
        const named = new Set(turnsNamed(knownOf(left, facts), all));
        const unread = knownOf(
          left.filter((turn) => !named.has(turn)),
          facts,
        );
        const positions = [...planCompactionReading(all), ...named].sort((a, b) => a - b);
        const read = new Map(positions.map((position) => [position, turns[position] as Turn]));
        const [few, many] = [planCompaction({ ...all, turns: read, unread }), planCompaction(all)];
        if (!isNothing(many)) {
          expect(withoutSight(few)).toEqual(withoutSight(many));
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
      }),
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
        expect(turnsNamed(joined, REMOVE)).toEqual(expect.arrayContaining([...turnsNamed(single, REMOVE)]));
        // A whole stretch has nothing that is called elsewhere.
        const whole = facts.map(({ index }) => index);
        const named = (unread: UnreadTurns) => [...new Set(toolsUnread({ from: 0, to: turns.length }, unread))].sort();
        expect(named(knownOf(whole, [joinFacts(facts, false)]))).toEqual(named(knownOf(whole, facts)));
      }),
    );
  });
});

const REMOVE = { hints: { grep: { response: "remove" } } } as const;

/** What is left out already is told apart only where it is read, and the timeline where it is cut: neither is stored. */
function withoutSight(plan: ReturnType<typeof planCompaction>): unknown {
  if (isNothing(plan)) return plan;
  const { stats, ...compaction } = plan.compaction;
  return { ...plan, segments: [], compaction: { ...compaction, stats: { ...stats, events_removed: 0 } } };
}

// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type TurnBlock, topicDepths } from "../../../src/core/compact/topics.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { runs } from "../../helpers/runs.ts";
import { answer, call, request, result, thought } from "../../helpers/sample-view.ts";

function blockOf(events: readonly Event[], index = 0): TurnBlock {
  return { turn: { index, events }, first: 0, last: events.length - 1, tokens: 0, messages: 0, endsTurn: true };
}

/** Depths to three places, one for each block of events. */
function depths(...blocks: readonly (readonly Event[])[]): readonly number[] {
  return topicDepths(blocks.map(blockOf)).map((depth) => Math.round(depth * 1000) / 1000);
}

const say = (words: string): Event[] => [answer("a", words)];

/** The likeness of both sides of each gap by the book: each window is summed afresh. */
function plainCohesions(blocks: readonly (readonly string[])[]): readonly number[] {
  const weigh = (term: string, list: readonly (readonly string[])[]): number => {
    const holders = blocks.filter((block) => block.includes(term)).length;
    return list.flat().filter((other) => other === term).length * Math.log(1 + blocks.length / holders);
  };
  const terms = [...new Set(blocks.flat())];
  const dot = (a: readonly (readonly string[])[], b: readonly (readonly string[])[]): number =>
    terms.reduce((sum, term) => sum + weigh(term, a) * weigh(term, b), 0);
  return blocks.slice(1).map((_, at) => {
    const [before, after] = [blocks.slice(Math.max(0, at - 5), at + 1), blocks.slice(at + 1, at + 7)];
    return dot(before, after) / Math.sqrt(dot(before, before) * dot(after, after));
  });
}

/** How deep each gap lies under the peaks that are walked to on both sides. */
function plainDepths(cohesions: readonly number[]): readonly number[] {
  const peak = (at: number, step: 1 | -1): number => {
    const [here, next] = [cohesions[at] ?? 0, cohesions[at + step] ?? -1];
    return next >= here ? peak(at + step, step) : here;
  };
  return [...cohesions.map((valley, at) => (peak(at, 1) + peak(at, -1)) / 2 - valley), 0];
}

describe("topicDepths", () => {
  it("is the depth of the valley between windows of six blocks, whatever the words", () => {
    const words = fc.array(fc.constantFrom("parser", "cluster", "ingress", "grammar", "token"), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 20 }), (blocks) => {
        const cohesions = plainCohesions(blocks);
        // Which of two alike is the higher one hangs on rounding.
        fc.pre(cohesions.every((cohesion, at) => Math.abs(cohesion - (cohesions[at + 1] ?? 9)) > 1e-9));
        const expected = plainDepths(cohesions);
        const found = topicDepths(blocks.map((terms) => blockOf(say(terms.join(" ")))));
        expect(found).toHaveLength(blocks.length);
        for (const [at, depth] of found.entries()) expect(depth).toBeCloseTo(expected[at] ?? 0, 6);
      }),
      { numRuns: runs(200) },
    );
  });

  it("is deepest where the words change", () => {
    const [parser, cluster] = [say("parser grammar"), say("cluster ingress")];
    expect(depths(parser, parser, parser, cluster, cluster, cluster)).toEqual([0, 0.119, 0.555, 0.119, 0, 0]);
    expect(depths()).toEqual([]);
    expect(depths(parser)).toEqual([0]);
  });

  it("passes equal gaps on the way to the peaks beyond them", () => {
    const [parser, cluster, grammar] = [say("parser"), say("cluster"), say("grammar")];
    expect(depths(parser, parser, cluster, grammar, grammar)).toEqual([0, 0.377, 0.377, 0, 0]);
  });

  it("reads the texts of an event as words apart", () => {
    const parts = (...texts: readonly string[]): Event[] => [
      { ...answer("a", ""), message: texts.map((text) => ({ type: "text" as const, text })) },
    ];
    const [parser, cluster] = [say("parser"), say("cluster")];
    expect(depths(parts("parser", "cluster"), parser, cluster)).toEqual(depths(say("parser cluster"), parser, cluster));
  });

  it("gives a block without words the depth of what was said before it", () => {
    const [parser, cluster] = [say("parser"), say("cluster")];
    const silent = [result("r", "x", "parser"), thought("t", "parser")];
    const plain = depths(parser, parser, cluster, cluster);
    expect(plain).toEqual([0, 0.447, 0, 0]);
    expect(depths(silent, parser, silent, parser, silent, cluster, cluster)).toEqual([0, 0, 0, 0.447, 0.447, 0, 0]);
  });

  it("weighs a user's words twice, files three times, and what a harness says not at all", () => {
    const parts = [say("parser"), say("cluster"), say("grammar")];
    const withLast = (event: Event): readonly number[] => depths(...parts, [answer("a", "parser cluster"), event]);
    const reminder: Event = { ...request("h", "token"), metadata: { origin: "harness" } };
    const data: Event = { type: "chat_response", id: "d", timestamp: "", data: "token" };
    expect([reminder, data, thought("t", "token"), result("r", "x", "token")].map(withLast)).toEqual(
      [1, 2, 3, 4].map(() => depths(...parts, say("parser cluster"))),
    );
    expect(withLast(request("u", "token"))).toEqual(depths(...parts, say("parser cluster token token")));
    expect(withLast(answer("b", "token"))).toEqual(depths(...parts, say("parser cluster token")));
    expect(withLast(call("c", "Read", { path: "/a.ts" }))).toEqual(
      depths(...parts, say("parser cluster token token token")),
    );
    expect(withLast(call("c", "Grep", { pattern: "token" }))).toEqual(depths(...parts, say("parser cluster")));
  });

  it("looks at the events of the block only", () => {
    const events = [answer("a", "parser"), answer("b", "parser"), answer("c", "cluster"), answer("d", "cluster")];
    const block = blockOf(events);
    const each = events.map((_, at) => ({ ...block, first: at, last: at }));
    expect(topicDepths(each).map((depth) => Math.round(depth * 1000) / 1000)).toEqual([0, 0.447, 0, 0]);
  });

  it("looks at the first forty words of a block, and the first fifteen hundred characters of a text", () => {
    const others = [say("parser"), say("cluster")];
    const numbered = (count: number): string => Array.from({ length: count }, (_, n) => `word${n}`).join(" ");
    expect(depths(say(`${numbered(40)} parser`), ...others)).toEqual(depths(say(numbered(40)), ...others));
    expect(depths(say(`${numbered(39)} parser`), ...others)).not.toEqual(depths(say(numbered(39)), ...others));
    const [full, more] = [say(numbered(30)), say(`${numbered(5)} parser token`)];
    expect(depths([...say(numbered(40)), ...more], ...others)).toEqual(depths(say(numbered(40)), ...others));
    expect(depths([...full, ...say("aaa bbb ccc ddd eee fff ggg hhh iii jjj parser")], ...others)).toEqual(
      depths([...full, ...say("aaa bbb ccc ddd eee fff ggg hhh iii jjj")], ...others),
    );
    const files = (count: number) => call("c", "Read", { paths: Array.from({ length: count }, (_, n) => `/f${n}`) });
    const asked = [call("c", "Read", { path: "/f40" }), ...say("parser")];
    expect(depths([files(41)], asked, ...others)).toEqual(depths([files(40)], asked, ...others));
    const padded = (blanks: number): Event[] => say(`${" ".repeat(blanks)}parser`);
    expect(depths(padded(1494), ...others)).toEqual(depths(say("parser"), ...others));
    expect(depths(padded(1495), ...others)).not.toEqual(depths(say("parser"), ...others));
  });
});

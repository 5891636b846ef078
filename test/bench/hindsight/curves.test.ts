// @module-tag law
// The curves that rows are held against: chance, and masking.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keepLast, maskingCurve, maskResults, textOnly } from "../../../bench/hindsight/baselines.ts";
import { createCurve } from "../../../bench/hindsight/curve.ts";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { listNeededFacts } from "../../../bench/hindsight/needed-facts.ts";
import { expectRandom, SEEDS, shuffle } from "../../../bench/hindsight/random-drops.ts";
import { readView } from "../../../bench/hindsight/score.ts";
import { estimateEvent, estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { saidEvents } from "../../helpers/said-events.ts";

const count = estimateEvent;
const past = saidEvents(
  Array.from({ length: 30 }, (_, at) => ({
    call: "Read",
    args: { file: `src/part-${at}.ts` },
    result: `const namedPart${at} = "${"word ".repeat(at + 1)}";`,
  })),
);
const future = saidEvents([{ agent: Array.from({ length: 30 }, (_, at) => `namedPart${at}`).join(" ") }], "f");
const facts = listNeededFacts({ past, future }, createFactReader());
const whole = estimateEvents(past);

describe("createCurve", () => {
  const read = createCurve([
    { tokens: 10, facts: [0] },
    { tokens: 30, facts: [0, 1, 2] },
    { tokens: 0, facts: [3] },
  ]);

  it.each([
    [0, 0],
    [5, 0.5],
    [10, 1],
    [25, 2],
    [40, 4],
    [1000, 4],
  ])("of %d tokens shows %d facts", (size, shown) => {
    expect(read(size)).toBe(shown);
  });
});

describe("expectRandom", () => {
  it("gives the same numbers every time, and others for other draws", () => {
    const at = (seeds?: readonly number[]) => expectRandom(facts, { past, count, ...(seeds && { seeds }) })(whole / 3);
    expect(at()).toBe(at());
    expect(at(SEEDS)).toBe(at());
    expect(at([1])).not.toBe(at([2]));
  });

  it("shows all in all, nothing in nothing, and never less in more", () => {
    const read = expectRandom(facts, { past, count });
    expect(read(whole)).toBe(30);
    expect(read(0)).toBe(0);
    const size = fc.integer({ min: 0, max: whole });
    fc.assert(fc.property(size, size, (a, b) => read(Math.min(a, b)) <= read(Math.max(a, b))));
  });

  it("shows about a half of single facts in half of the tokens", () => {
    expect(expectRandom(facts, { past, count })(whole / 2)).toBeGreaterThan(10);
    expect(expectRandom(facts, { past, count })(whole / 2)).toBeLessThan(24);
  });
});

describe("shuffle", () => {
  it("puts every position somewhere, by the seed alone", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.nat(), (length, seed) => {
        const order = shuffle(length, seed);
        expect([...order].sort((a, b) => a - b)).toEqual(Array.from({ length }, (_, at) => at));
        expect(shuffle(length, seed)).toEqual(order);
      }),
    );
  });
});

describe("plain rules", () => {
  it("keep the newest events that fit", () => {
    const last = keepLast(past, 200, count);
    expect(estimateEvents(last)).toBeLessThanOrEqual(200);
    expect(last.at(-1)).toBe(past.at(-1));
    expect(estimateEvents(past.slice(past.length - last.length - 1))).toBeGreaterThan(200);
    expect(keepLast(past, whole, count)).toEqual(past);
    expect(keepLast(past, 0, count)).toEqual([]);
  });

  it("mask results but the newest, and keep calls; two results are no longer than a mask and stay", () => {
    const changed = (newest: number) => {
      const view = maskResults(past, newest);
      expect(view).toHaveLength(past.length);
      return view.flatMap((event, at) => (event === past[at] ? [] : [at]));
    };
    const results = Array.from({ length: 30 }, (_, at) => 2 * at + 1).slice(2);
    expect(changed(10)).toEqual(results.slice(0, -10));
    expect(changed(0)).toEqual(results);
    expect(maskResults(past, 99)).toEqual(past);
  });

  it("leave what people and agent said", () => {
    const said = saidEvents([{ user: "a" }, { thought: "b" }, { call: "Read", args: {}, result: "c" }, { agent: "d" }]);
    expect(textOnly(said)).toEqual([said[0], said[4]]);
  });
});

describe("maskingCurve", () => {
  it("meets what masking so many results really shows", () => {
    const read = maskingCurve(facts, past, count);
    for (const newest of [0, 1, 10, 29, 30]) {
      const view = maskResults(past, newest);
      const { inContext } = readView(view, { past, facts, reader: createFactReader() });
      expect(read(estimateEvents(view))).toBeCloseTo(inContext.size, 6);
    }
    expect(read(0)).toBe(0);
  });
});

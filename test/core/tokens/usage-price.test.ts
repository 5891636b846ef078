// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelPrice } from "../../../src/core/model/model-provider.ts";
import { priceOf, renderPrice } from "../../../src/core/model/usage.ts";

const FLAT: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TIERED: ModelPrice = {
  ...FLAT,
  larger: [
    { above: 100, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5 },
    { above: 1000, input: 9, output: 45, cacheRead: 0.9, cacheWrite: 11.25 },
  ],
};
const count = fc.nat({ max: 1_000_000 });
const usages = fc.record({ input: count, output: count, cacheRead: count, cacheWrite: count });

describe("the price of a request", () => {
  it("counts each kind of token at its own price", () => {
    const usage = { input: 1_000_000, output: 100_000, cacheRead: 2_000_000, cacheWrite: 40_000 };
    expect(priceOf(usage, FLAT)).toBeCloseTo(3 + 1.5 + 0.6 + 0.15, 10);
  });

  it("is higher for what is kept in a cache for an hour, listed or twice the input, and for searches", () => {
    const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 100_000 };
    expect(priceOf({ ...usage, cacheWrite1h: 100_000 }, FLAT)).toBeCloseTo(0.6, 10);
    expect(priceOf({ ...usage, cacheWrite1h: 60_000 }, FLAT)).toBeCloseTo(0.51, 10);
    expect(priceOf({ ...usage, cacheWrite1h: 60_000 }, { ...FLAT, cacheWrite1h: 5 })).toBeCloseTo(0.45, 10);
    const larger = [{ above: 1000, input: 6, output: 30, cacheRead: 0.6, cacheWrite: 7.5, cacheWrite1h: 12 }];
    expect(priceOf({ ...usage, cacheWrite1h: 100_000 }, { ...FLAT, larger })).toBeCloseTo(1.2, 10);
    expect(priceOf({ ...usage, webSearches: 5 }, FLAT)).toBeCloseTo(0.375 + 0.05, 10);
    expect(priceOf({ ...usage, webSearches: 5 }, { ...FLAT, webSearches: 20 })).toBeCloseTo(0.375 + 0.1, 10);
  });

  it("follows the size of what was sent, cached tokens included, for the whole request", () => {
    const at = (input: number, cacheRead: number) => priceOf({ input, cacheRead, cacheWrite: 0, output: 0 }, TIERED);
    expect(at(100, 0)).toBeCloseTo(300e-6, 12);
    expect(at(101, 0)).toBeCloseTo(606e-6, 12);
    expect(at(1, 100)).toBeCloseTo(66e-6, 12);
    expect(at(1001, 0)).toBeCloseTo(9009e-6, 12);
    expect(priceOf({ input: 1, cacheRead: 0, cacheWrite: 0, output: 5000 }, TIERED)).toBeCloseTo(75003e-6, 12);
  });

  it("grows with every count and is nothing for nothing", () => {
    fc.assert(
      fc.property(usages, usages, (a, b) => {
        const both = {
          input: a.input + b.input,
          output: a.output + b.output,
          cacheRead: a.cacheRead + b.cacheRead,
          cacheWrite: a.cacheWrite + b.cacheWrite,
        };
        expect(priceOf(both, TIERED)).toBeGreaterThanOrEqual(priceOf(a, TIERED));
        expect(priceOf(both, FLAT)).toBeCloseTo(priceOf(a, FLAT) + priceOf(b, FLAT), 6);
      }),
    );
    expect(priceOf({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, TIERED)).toBe(0);
  });

  it("is rendered in dollars, and unknown is not nothing", () => {
    expect([0.0001, 0.99994, 1].map(renderPrice)).toEqual(["$0.0001", "$0.9999", "$1.00"]);
    expect([null, 0, 0.00001, 0.01234, 0.5, 1.239, 12].map(renderPrice)).toEqual([
      "price unknown",
      "$0.0000",
      "<$0.0001",
      "$0.0123",
      "$0.5000",
      "$1.24",
      "$12.00",
    ]);
  });
});

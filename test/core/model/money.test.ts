// @module-tag law
// Money: how dollars are written, and whether a compaction pays.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelPrice } from "../../../src/core/model/model-provider.ts";
import { paysAfter, renderPrice, renderUsd, renderUsdChange, tradeOf } from "../../../src/core/model/money.ts";
import { runs } from "../../helpers/runs.ts";

const PRICE: ModelPrice = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const TIERED: ModelPrice = {
  ...PRICE,
  larger: [{ above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 }],
};

describe("dollars", () => {
  it.each([
    [0, "$0"],
    [0.00001, "<$0.0001"],
    [0.0001, "$0.0001"],
    [0.00123, "$0.0012"],
    [0.00999, "$0.01"],
    [0.0123, "$0.012"],
    [0.05, "$0.05"],
    [0.0994, "$0.099"],
    [0.0996, "$0.10"],
    [0.5, "$0.50"],
    [1.239, "$1.24"],
    [9.994, "$9.99"],
    [9.996, "$10"],
    [12.4, "$12"],
    [1204.4, "$1,204"],
    [1_234_567, "$1,234,567"],
    [-0.0123, "−$0.012"],
    [-0.00001, "−<$0.0001"],
  ])("are written short: %d as %s", (dollars, text) => {
    expect(renderUsd(dollars)).toBe(text);
  });

  it("carry their sign as a difference, and unknown is not nothing", () => {
    expect([0.32, 0, -0.011].map(renderUsdChange)).toEqual(["+$0.32", "$0", "−$0.011"]);
    expect([null, 0.32].map(renderPrice)).toEqual(["price unknown", "$0.32"]);
  });

  it("are within a twentieth of what is written, and never more than two digits below ten cents", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.0001, max: 1e6, noNaN: true }), (dollars) => {
        const text = renderUsd(dollars);
        expect(Math.abs(Number(text.replaceAll(/[$,]/g, "")) - dollars)).toBeLessThanOrEqual(dollars * 0.0501);
        if (dollars < 0.0995) expect(text.replace(/^\$0\.0*/, "").length).toBeLessThanOrEqual(2);
      }),
      { numRuns: runs(200) },
    );
  });
});

const tokens = fc.nat(300_000);
const change = fc.record({ kept: tokens, rewritten: tokens, dropped: tokens });
const price = fc.constantFrom(PRICE, TIERED);

describe("a trade", () => {
  it("costs the rewrite once, and then less a call", () => {
    const { extra_usd, saved_usd, pays_after } = tradeOf(
      { kept: 10_000, rewritten: 40_000, dropped: 80_000 },
      { price: PRICE, isWarm: true },
    );
    expect(extra_usd).toBeCloseTo(0.126, 9); // 40k written for 0.15, 80k not read for 0.024
    expect(saved_usd).toBeCloseTo(0.012, 9);
    expect(pays_after).toBe(11);
  });

  it("costs more where what is written is kept for an hour", () => {
    const { with_usd } = tradeOf(
      { kept: 0, rewritten: 1_000_000, dropped: 0 },
      { price: PRICE, isWarm: true, isHour: true },
    );
    expect(with_usd).toBe(6);
  });

  it("pays at once where nothing is cached any more", () => {
    fc.assert(
      fc.property(change, price, (tokensOf, at) => {
        const smaller = { ...tokensOf, rewritten: Math.min(tokensOf.rewritten, tokensOf.dropped) };
        const { extra_usd, saved_usd, pays_after } = tradeOf(smaller, { price: at, isWarm: false });
        expect(extra_usd).toBeLessThanOrEqual(0);
        expect(pays_after).toBe(saved_usd > 0 ? 0 : null);
      }),
      { numRuns: runs(200) },
    );
  });

  it("pays after as many calls as make up for what it costs more, and not after one fewer", () => {
    fc.assert(
      fc.property(change, price, fc.boolean(), (tokensOf, at, isWarm) => {
        const {
          without_usd,
          with_usd,
          extra_usd,
          saved_usd,
          pays_after: calls,
        } = tradeOf(tokensOf, { price: at, isWarm });
        expect(extra_usd).toBe(with_usd - without_usd);
        expect(calls === null).toBe(!(saved_usd > 0));
        if (calls === null) return;
        const close = 1e-9;
        expect(Number.isInteger(calls) && calls >= 0).toBe(true);
        expect(calls * saved_usd).toBeGreaterThanOrEqual(extra_usd - close);
        if (calls > 0) expect((calls - 1) * saved_usd).toBeLessThan(extra_usd + close);
      }),
      { numRuns: runs(300) },
    );
  });

  it("never pays where nothing is saved, and never earlier than now", () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e6, max: 1e6 }),
        fc.double({ noNaN: true, min: -1e6, max: 0 }),
        (extra, none) => {
          expect(paysAfter(extra, none)).toBeNull();
          const calls = paysAfter(extra, 1);
          expect(calls).toBe(extra <= 0 ? 0 : Math.ceil(extra));
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

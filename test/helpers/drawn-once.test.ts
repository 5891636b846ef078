import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawnOnce } from "./drawn-once.ts";

describe("drawnOnce", () => {
  const plain = fc.array(fc.nat({ max: 99 }), { maxLength: 5 });
  const pairs = (list: fc.Arbitrary<number[]>) => fc.tuple(list, fc.nat(), list);
  const sample = <T>(of: fc.Arbitrary<T>, seed: number): readonly T[] => fc.sample(of, { seed, numRuns: 50 });

  it("draws what is drawn without it, also again and together with others", () => {
    const once = drawnOnce(plain);
    for (const seed of [1, 2, 1, 1]) {
      expect(sample(once, seed)).toEqual(sample(plain, seed));
      expect(sample(pairs(once), seed)).toEqual(sample(pairs(plain), seed));
    }
  });

  it("makes a value once", () => {
    let made = 0;
    const once = drawnOnce(plain.map((list) => [++made, ...list]));
    expect(sample(once, 3)).toEqual(sample(once, 3));
    expect(made).toBe(50);
  });

  it("shrinks to the same", () => {
    const smallest = (of: fc.Arbitrary<number[]>) =>
      fc.check(
        fc.property(of, (list) => list.every((one) => one < 40)),
        { seed: 4 },
      ).counterexample;
    const once = drawnOnce(plain);
    expect(smallest(once)).toEqual([[40]]);
    expect(smallest(once)).toEqual(smallest(plain));
  });
});

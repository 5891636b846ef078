// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { readyTest } from "../../scripts/ready-test.mjs";
import { SEED } from "../helpers/seed.ts";

const SOURCE = `
it("adds", () => {
  fc.assert(fc.property(fc.nat(), (n) => n + 1 > n));
});
it("adds twice", () => {
  fc.assert(fc.property(fc.nat(), (n) => n > 1));
  fc.assert(fc.property(fc.nat(), (n) => n > 2));
});
`;
const found = (test: string): unknown => ({ test: `numbers > ${test}`, seed: 7, path: "3:1", values: ["0", '"a"'] });

describe("readyTest", () => {
  it("calls the property's own check with the values that break it", () => {
    expect(readyTest(SOURCE, found("adds"))).toBe(
      'it("adds: found with seed 7", async () => {\n  const check = (n) => n + 1 > n;\n  expect(await check(0, "a")).not.toBe(false);\n});\n',
    );
  });

  it("names seed and path where the test has several properties, or none of that name", () => {
    for (const name of ["adds twice", "made by it.each"])
      expect(readyTest(SOURCE, found(name))).toContain('{ seed: 7, path: "3:1" }   values: 0, "a"');
  });
});

describe("npm test", () => {
  it("draws the same examples every time, unless it explores", () => {
    expect(fc.readConfigureGlobal().seed).toBe(Number(process.env["JPG_SEED"] ?? SEED));
    if (process.env["JPG_SEED"] === undefined)
      expect(fc.sample(fc.nat(), 3)).toEqual(fc.sample(fc.nat(), { seed: SEED, numRuns: 3 }));
  });
});

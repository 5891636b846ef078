import { afterEach, expect, it, vi } from "vitest";
import { runs } from "./runs.ts";

afterEach(() => vi.unstubAllEnvs());

it("a law draws its own number of examples, and more by as much as all others while exploring", () => {
  vi.stubEnv("JPG_RUNS", undefined);
  expect([runs(4, undefined, 1), runs(500, undefined, 1)]).toEqual([4, 500]);
  vi.stubEnv("JPG_RUNS", "300");
  expect([runs(4), runs(500)]).toEqual([12, 1500]);
  vi.stubEnv("JPG_RUNS", "10");
  expect(runs(4)).toBe(1);
});

it("a law draws a quarter of its examples where slow tests are left out, but never less than five", () => {
  vi.stubEnv("JPG_RUNS", undefined);
  expect([500, 30, 12, 4, 1].map((own) => runs(own, 9000, 4))).toEqual([125, 8, 5, 4, 1]);
  vi.stubEnv("JPG_RUNS", "300");
  expect(runs(500, 9000, 4)).toBe(9000);
});

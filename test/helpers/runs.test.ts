import { afterEach, expect, it, vi } from "vitest";
import { runs } from "./runs.ts";

afterEach(() => vi.unstubAllEnvs());

it("a law draws its own number of examples, and more by as much as all others while exploring", () => {
  vi.stubEnv("JPG_RUNS", undefined);
  expect([runs(4), runs(500)]).toEqual([4, 500]);
  vi.stubEnv("JPG_RUNS", "300");
  expect([runs(4), runs(500)]).toEqual([12, 1500]);
  vi.stubEnv("JPG_RUNS", "10");
  expect(runs(4)).toBe(1);
});

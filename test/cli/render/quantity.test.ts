import { describe, expect, it } from "vitest";
import {
  renderAge,
  renderBytes,
  renderCount,
  renderRange,
  renderShare,
  renderTime,
} from "../../../src/cli/render/quantity.ts";

describe("quantities", () => {
  it("counts in words", () => {
    expect([renderCount(1, "turn"), renderCount(12_345, "turn"), renderCount(2, "entry", "entries")]).toEqual([
      "1 turn",
      "12,345 turns",
      "2 entries",
    ]);
  });

  it("gives bytes in the unit that fits", () => {
    expect([0, 999, 1000, 99_949, 999_949, 4_200_000].map(renderBytes)).toEqual([
      "0 B",
      "999 B",
      "1.0 kB",
      "99.9 kB",
      "1.0 MB",
      "4.2 MB",
    ]);
  });

  it("gives shares that say all is gone only when it is", () => {
    const shares = [
      [100, 0],
      [1000, 1],
      [1000, 999],
      [100, 11],
      [10, 20],
      [0, 5],
      [5, 5],
    ] as const;
    expect(shares.map(([before, after]) => renderShare({ before, after }))).toEqual([
      "-100%",
      "-99.9%",
      "-0.1%",
      "-89%",
      "+100%",
      "",
      "",
    ]);
  });

  it("gives ages, and the future as now", () => {
    const now = new Date("2026-11-21T20:30:00Z");
    const times = [
      "2026-11-21T20:29:30Z",
      "2026-11-21T20:25:00Z",
      "2026-11-20T20:00:00Z",
      "2024-01-01T00:00:00Z",
      "2027-01-01T00:00:00Z",
      "never",
    ];
    expect(times.map((time) => renderAge(time, now))).toEqual(["now", "5m", "1d", "2y", "now", "never"]);
  });

  it("has no age for what has no time", () => {
    expect(renderAge("1970-01-01T00:00:00.000Z", new Date("2026-11-21T12:00:00Z"))).toBe("-");
  });

  it("gives back what is no time", () => {
    expect(renderTime("never")).toBe("never");
    expect(renderTime("2026-11-21T12:30:00Z")).toMatch(/^2026-11-2[12] \d\d:\d\d$/);
  });

  it("gives a range of one turn as one number", () => {
    expect([renderRange(3, 3), renderRange(0, 12)]).toEqual(["3", "0..12"]);
  });
});

import { describe, expect, it } from "vitest";
import { isAtLeast, parseGitVersion } from "../../src/store/environment.ts";

describe("git versions", () => {
  it("are read from what vendors print and compared by number", () => {
    expect(parseGitVersion("git version 2.39.5 (Apple Git-154)\n")).toEqual([2, 39, 5]);
    expect(parseGitVersion("git version 2.45.1.windows.1")).toEqual([2, 45, 1]);
    expect(parseGitVersion("nonsense")).toEqual([0, 0, 0]);
    expect(isAtLeast([2, 39, 0], [2, 31, 5])).toBe(true);
    expect(isAtLeast([2, 31, 0], [2, 31, 0])).toBe(true);
    expect(isAtLeast([2, 30, 9], [2, 31, 0])).toBe(false);
    expect(isAtLeast([10, 0, 0], [2, 31, 0])).toBe(true);
  });
});

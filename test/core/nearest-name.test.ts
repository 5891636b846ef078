import { describe, expect, it } from "vitest";
import { nearestName } from "../../src/core/nearest-name.ts";

describe("nearestName", () => {
  it.each([
    ["defualt", "default"],
    ["HEAVY", "heavy"],
    ["ligth", "light"],
    ["hevy", "heavy"],
  ])("suggests for %s the name %s", (word, name) => {
    expect(nearestName(word, ["default", "heavy", "light"])).toBe(name);
  });

  it("suggests nothing when no name is close", () => {
    expect(nearestName("zebra", ["default", "heavy", "light"])).toBeUndefined();
    expect(nearestName("x", [])).toBeUndefined();
  });

  it("takes the first of equally close names", () => {
    expect(nearestName("stripe", ["strips", "stripy"])).toBe("strips");
  });
});

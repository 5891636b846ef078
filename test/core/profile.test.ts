import { describe, expect, it } from "vitest";
import { resolveProfile } from "../../src/core/profile.ts";

describe("resolveProfile", () => {
  it("knows default and light without any configuration", () => {
    expect(resolveProfile("default")).toEqual({
      name: "default",
      reasoning: "strip",
      tool_calls: { policy: "strip", request: true, response: true },
    });
    expect(resolveProfile("light")).toEqual({ name: "light", reasoning: "strip" });
  });

  it("lets a configured profile replace a built-in one whole", () => {
    expect(resolveProfile("default", { default: { tool_calls: "omit" } })).toEqual({
      name: "default",
      tool_calls: { policy: "omit" },
    });
  });

  it("offers the nearest name and the list for an unknown one", () => {
    expect(() => resolveProfile("haevy", { heavy: { summary: "summarize" } })).toThrowError(
      expect.objectContaining({
        code: "unknown_profile",
        message: 'there is no compaction profile "haevy": expected one of default, light, heavy',
        hints: expect.arrayContaining(["did you mean --profile heavy?"]),
      }),
    );
  });

  it("does not take a property of objects for a profile", () => {
    expect(() => resolveProfile("constructor")).toThrowError(expect.objectContaining({ code: "unknown_profile" }));
    expect(() => resolveProfile("__proto__")).toThrowError(expect.objectContaining({ code: "unknown_profile" }));
  });
});

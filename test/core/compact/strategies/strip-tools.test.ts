import { describe, expect, it } from "vitest";
import { call, callTurns, failed, fates, planStrategiesFor, storedOf } from "../../../helpers/call-conversation.ts";

const turns = callTurns(
  [call("Read", { file_path: "a.ts" }), failed("Bash", { command: "make" })],
  [call("learn", { subject: "parsers" }), call("commit", { message: "long words" })],
);

const fatesOf = (names: readonly string[], hints = {}) => {
  const plan = planStrategiesFor(turns, names, { known: { hints } });
  return fates(turns, [storedOf(plan)]);
};

describe("strip-tool-results", () => {
  it("strips every result and leaves the arguments", () => {
    const { compaction } = planStrategiesFor(turns, ["strip-tool-results"]);
    expect(compaction.tool_calls).toEqual({ policy: "strip", request: false, response: true });
    expect(fates(turns, [storedOf(planStrategiesFor(turns, ["strip-tool-results"]))])).toEqual({
      "c0.0": "kept stripped",
      "c0.1": "kept stripped",
      "c1.0": "kept stripped",
      "c1.1": "kept stripped",
    });
  });

  it("freezes only what hints say of results", () => {
    const hints = { learn: { response: "keep" }, commit: { request: "strip" } } as const;
    const { compaction } = planStrategiesFor(turns, ["strip-tool-results"], { known: { hints } });
    expect(compaction.tool_overrides).toEqual({ learn: { response: "keep" } });
    expect(fatesOf(["strip-tool-results"], hints)).toEqual({
      "c0.0": "kept stripped",
      "c0.1": "kept stripped",
      "c1.1": "kept stripped",
    });
  });

  it("takes a call away whose hint says remove", () => {
    expect(fatesOf(["strip-tool-results"], { Read: { response: "remove" } })).toMatchObject({
      "c0.0": "omitted",
      "c0.1": "kept stripped",
    });
  });

  it("follows the hint for all tools where a tool has none", () => {
    expect(fatesOf(["strip-tool-results"], { "*": { response: "keep" }, Read: { response: "strip" } })).toEqual({
      "c0.0": "kept stripped",
    });
  });
});

describe("strip-tools", () => {
  it("strips both halves except where a hint keeps one", () => {
    const hints = { Read: { request: "keep" }, learn: { request: "keep", response: "keep" } } as const;
    const { compaction } = planStrategiesFor(turns, ["strip-tools"], { known: { hints } });
    expect(compaction.tool_calls).toEqual({ policy: "strip", request: true, response: true });
    expect(compaction.tool_overrides).toEqual({
      Read: { request: "keep" },
      learn: { request: "keep", response: "keep" },
    });
    expect(fatesOf(["strip-tools"], hints)).toEqual({
      "c0.0": "kept stripped",
      "c0.1": "stripped stripped",
      "c1.1": "stripped stripped",
    });
  });

  it("leaves events alone that are kept by name", () => {
    const plan = planStrategiesFor(turns, ["strip-tools"], {
      request: { keep: ["r0.0"] },
      known: { hints: { Read: { response: "remove" } } },
    });
    expect(fates(turns, [storedOf(plan)])["c0.0"]).toBe("stripped kept");
  });

  it("writes stubs in the style that was asked for", () => {
    const plan = planStrategiesFor(turns, ["strip-tool-results"], { request: { stubs: { first_line: true } } });
    expect(plan.compaction.stubs).toEqual({ first_line: true });
  });
});

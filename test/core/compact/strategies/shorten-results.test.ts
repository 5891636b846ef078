import { describe, expect, it } from "vitest";
import {
  askStrategies,
  call,
  callTurns,
  fates,
  planStrategiesFor,
  storedOf,
} from "../../../helpers/call-conversation.ts";

const LONG = "x".repeat(5000);
const turns = callTurns(
  [call("Read", { file_path: "a" }, LONG), call("Bash", { command: "ls" }, "short")],
  [call("learn", { subject: "b" }, LONG)],
  [call("Grep", { pattern: "c" }, LONG)],
);

describe("truncate-results", () => {
  it("says it once for all calls and cuts only long results", () => {
    const plan = planStrategiesFor(turns, ["truncate-results"], { options: { maxChars: 1000, head: 0.25 } });
    expect(plan.compaction.tool_calls).toEqual({ policy: "truncate", max_chars: 1000, head: 0.25 });
    expect(fates(turns, [storedOf(plan)])).toEqual({
      "c0.0": "kept cut",
      "c1.0": "kept cut",
      "c2.0": "kept cut",
    });
  });

  it("keeps what a hint keeps, and truncates where a hint only allows stripping", () => {
    const hints = { learn: { response: "keep" }, Read: { response: "strip" } } as const;
    const plan = planStrategiesFor(turns, ["truncate-results"], { known: { hints } });
    expect(plan.compaction).toMatchObject({
      tool_calls: { policy: "truncate", max_chars: 2000 },
      tool_overrides: { learn: { response: "keep" } },
    });
    expect(fates(turns, [storedOf(plan)])).toEqual({ "c0.0": "kept cut", "c2.0": "kept cut" });
  });

  it("gives nothing where every result is short", () => {
    const plan = askStrategies(turns, ["truncate-results"], { options: { maxChars: 5000 } });
    expect(plan).toHaveProperty("nothing");
  });

  it("never brings back what an older compaction took", () => {
    const older = storedOf(
      planStrategiesFor(turns, ["strip-tool-results"], { request: { range: { keep: 2 } } }),
      "old",
      10,
    );
    const plan = planStrategiesFor(turns, ["truncate-results"], { request: { compactions: [older] } });
    expect(fates(turns, [older, storedOf(plan)])).toEqual({
      "c0.0": "kept stripped",
      "c0.1": "kept stripped",
      "c1.0": "kept cut",
      "c2.0": "kept cut",
    });
  });

  it("cuts again to a smaller size, not to a larger one", () => {
    const older = storedOf(planStrategiesFor(turns, ["truncate-results"], { options: { maxChars: 1000 } }), "old", 10);
    const again = (maxChars: number) =>
      askStrategies(turns, ["truncate-results"], { options: { maxChars }, request: { compactions: [older] } });
    expect(again(1000)).toHaveProperty("nothing");
    expect(again(3000)).toHaveProperty("nothing");
    expect(again(500)).toMatchObject({ compaction: { tool_calls: { policy: "truncate", max_chars: 500 } } });
  });
});

describe("mask-results", () => {
  const mask = (newest: number, keep = 0) => {
    const plan = askStrategies(turns, ["mask-results"], { options: { newest }, request: { range: { keep } } });
    return "nothing" in plan ? null : fates(turns, [storedOf(plan)]);
  };

  it("strips all results but the newest", () => {
    expect(mask(2)).toEqual({ "c0.0": "kept stripped", "c0.1": "kept stripped" });
    expect(Object.keys(mask(0) ?? {})).toEqual(["c0.0", "c0.1", "c1.0", "c2.0"]);
  });

  it("counts those after the range as well", () => {
    expect(mask(2, 1)).toEqual({ "c0.0": "kept stripped", "c0.1": "kept stripped" });
    expect(mask(1, 2)).toEqual({ "c0.0": "kept stripped", "c0.1": "kept stripped" });
  });

  it("keeps ten by default", () => {
    expect(askStrategies(turns, ["mask-results"])).toHaveProperty("nothing");
  });
});

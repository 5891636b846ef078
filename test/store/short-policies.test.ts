import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/conversation/compaction.ts";
import { shortPolicies } from "../../src/store/messages.ts";

const base: Compaction = { type: "compaction", id: "k", timestamp: "2026-01-01T00:00:00Z", from_turn: 0, to_turn: 0 };
const strip = { policy: "strip", request: true, response: true } as const;

describe("shortPolicies", () => {
  it.each<[Partial<Compaction>, string]>([
    [{}, "none"],
    [
      { reasoning: "strip", tool_calls: strip, attachments: "strip" },
      "reasoning=strip tool_calls=strip attachments=strip",
    ],
    [{ tool_calls: { ...strip, request: false } }, "tool_calls=strip-responses"],
    [{ tool_calls: { ...strip, response: false } }, "tool_calls=strip-requests"],
    [{ tool_calls: { policy: "strip", request: false, response: false } }, "tool_calls=keep"],
    [{ tool_calls: { policy: "truncate", max_chars: 2000 } }, "tool_calls=truncate:2000"],
    [{ tool_calls: { policy: "selective", calls: [], else: { policy: "omit" } } }, "tool_calls=selective:0+omit"],
    [{ summary: { summary: "s" } }, "summary=text"],
    [{ summary: { summary: "s", source: "imported" }, turns: "omit" }, "summary=imported turns=omit"],
    [{ replacement: [], tools: { policy: "prune", names: ["a"] } }, "replacement=0 tools=prune:1"],
  ])("writes %j as %s", (policies, text) => {
    expect(shortPolicies({ ...base, ...policies })).toBe(text);
  });
});

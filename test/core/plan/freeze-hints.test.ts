// What hints add to a policy when a compaction is made.
import { describe, expect, it } from "vitest";
import { freezeHints } from "../../../src/core/compact/plan.ts";
import type { ToolCompactionHints } from "../../../src/core/compact/tool-hints.ts";
import type { ToolCallPolicy, UniformToolCallPolicy } from "../../../src/core/conversation/compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

// covers: 036 "`remove` takes the whole pair out"

const turns = parseConversation("U T:zip t T:grep t A | U T:read t T:grep t A | U T:make t A");
const whole = { from: 0, fromIndex: 0, to: 2, toIndex: Number.POSITIVE_INFINITY };
const STRIP = { policy: "strip", request: true, response: true } as const;
const OMIT_CALL = { request: "omit", response: "omit" } as const;

function freeze(hints: ToolCompactionHints | undefined, tool_calls?: UniformToolCallPolicy, range = whole): object {
  const policies = tool_calls === undefined ? { reasoning: "strip" as const } : { tool_calls };
  const known = new Map(turns.map((turn) => [turn.index, turn]));
  return freezeHints(range, { policies, turns: known, ...(hints === undefined ? {} : { hints }) });
}

describe("freezeHints", () => {
  const keepAll = { "*": { request: "keep", response: "keep" } } as const;
  const removeAll = { "*": { response: "remove" } } as const;

  it("adds nothing without hints, without a policy for calls, or where calls are omitted", () => {
    expect(freeze(undefined, STRIP)).toEqual({});
    expect(freeze({}, STRIP)).toEqual({});
    for (const hints of [keepAll, removeAll]) {
      expect(freeze(hints)).toEqual({});
      expect(freeze(hints, { policy: "omit" })).toEqual({});
    }
  });

  it("writes down each tool once, in order of names, with what is said of it", () => {
    const hints = { ...keepAll, grep: { request: "strip" }, unused: { response: "strip" } } as const;
    const { tool_overrides } = freeze(hints, STRIP) as { readonly tool_overrides: object };
    expect(Object.entries(tool_overrides)).toEqual([
      ["grep", { request: "strip", response: "keep" }],
      ["make", { request: "keep", response: "keep" }],
      ["read", { request: "keep", response: "keep" }],
      ["zip", { request: "keep", response: "keep" }],
    ]);
  });

  it("looks only at calls in the range, its cut ends included", () => {
    const cut = { from: 0, fromIndex: 4, to: 1, toIndex: 3 };
    const { tool_overrides } = freeze(keepAll, STRIP, cut) as { readonly tool_overrides: object };
    expect(Object.keys(tool_overrides)).toEqual(["grep", "read"]);
  });

  it("says nothing of tools whose hints are about something else", () => {
    expect(freeze({ grep: { dedup: false }, read: {} }, STRIP)).toEqual({});
  });

  it("names the calls to remove, the rest as before, and keeps what else the hint says", () => {
    const hints = { grep: { response: "remove", request: "keep" }, read: { response: "keep" } } as const;
    expect(freeze(hints, STRIP)).toEqual({
      tool_calls: {
        policy: "selective",
        calls: ["e0.4", "e1.4"].map((event) => ({ event, ...OMIT_CALL })),
        else: STRIP,
      },
      tool_overrides: { grep: { request: "keep" }, read: { response: "keep" } },
    });
    expect(freeze({ grep: { response: "remove" } }, STRIP)).not.toHaveProperty("tool_overrides");
  });

  it("says nothing of a half of which the policy says nothing, so that no hint strips it", () => {
    const hints = {
      grep: { request: "strip", response: "strip" },
      read: { request: "keep", response: "keep" },
    } as const;
    expect(freeze(hints, { policy: "strip", request: true, response: false })).toEqual({
      tool_overrides: { grep: { request: "strip" }, read: { request: "keep" } },
    });
    for (const policy of [
      { policy: "strip", request: false, response: true },
      { policy: "truncate", max_chars: 9 },
    ] as const)
      expect(freeze(hints, policy)).toEqual({
        tool_overrides: { grep: { response: "strip" }, read: { response: "keep" } },
      });
  });

  it.each<[string, ToolCallPolicy & UniformToolCallPolicy]>([
    ["only arguments are stripped", { policy: "strip", request: true, response: false }],
    ["results are truncated", { policy: "truncate", max_chars: 9 }],
  ])("removes nothing where %s", (_name, policy) => {
    expect(freeze(removeAll, policy)).toEqual({});
  });
});

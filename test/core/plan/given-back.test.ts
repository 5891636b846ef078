// What a newer policy for calls gives back.
import { describe, expect, it } from "vitest";
import { describeGivenBack } from "../../../src/core/compact/plan-effect.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { project } from "../../../src/core/conversation/projection.ts";
import { makeCompaction, STRIP_TOOLS } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";

// covers: 064 "Per event and type the latest that covers it wins"

const list = parseConversation("U T:read t T:grep t A | U T:read t A");
const turns = new Map(list.map((turn) => [turn.index, turn]));
const REQUESTS = { tool_calls: { policy: "strip", request: true, response: false } } as const;
const RESPONSES = { tool_calls: { policy: "strip", request: false, response: true } } as const;
const OMIT = { tool_calls: { policy: "omit" } } as const;

function given(older: readonly Partial<Compaction>[], newer: Partial<Compaction>): string | null {
  const compactions = older.map((fields, at) => makeCompaction(`c${at}`, [0, 1], fields, at + 1));
  const compaction = makeCompaction("new", [0, 1], newer, 9);
  const viewOf = (all: readonly Compaction[]) => project({ turnCount: 2, turns, compactions: all });
  const [before, after] = [viewOf(compactions), viewOf([...compactions, compaction])];
  return describeGivenBack(compaction, { turns, compactions, before, after });
}

const RULE = ": for tool calls only the newest policy counts";

describe("describeGivenBack", () => {
  it("counts the halves that a newer policy leaves alone", () => {
    expect(given([REQUESTS], RESPONSES)).toBe(`the arguments of 3 calls${RULE}`);
    expect(given([RESPONSES], REQUESTS)).toBe(`the results of 3 calls${RULE}`);
    expect(given([STRIP_TOOLS], { tool_calls: { ...REQUESTS.tool_calls, request: false } })).toBe(
      `the arguments of 3 calls and the results of 3 calls${RULE}`,
    );
    expect(given([OMIT], RESPONSES)).toBe(`the arguments of 3 calls and the results of 3 calls${RULE}`);
  });

  it("is nothing where a newer policy takes more, or speaks of something else", () => {
    for (const newer of [
      STRIP_TOOLS,
      OMIT,
      { reasoning: "strip" },
      { summary: { summary: "s" } },
      { turns: "omit" },
    ] as const)
      expect(given([REQUESTS], newer)).toBeNull();
    expect(given([], RESPONSES)).toBeNull();
    expect(given([{ reasoning: "strip" }], RESPONSES)).toBeNull();
  });

  it("leaves out what is kept by name", () => {
    const [first] = list[0]?.events.filter(({ type }) => type === "tool_call_request") ?? [];
    expect(given([REQUESTS], { ...RESPONSES, keep: [first?.id ?? ""] })).toBe(`the arguments of 2 calls${RULE}`);
  });
});

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../src/core/compaction.ts";
import { describePolicies, parsePolicies, parseSummaryPolicy, parseToolCallPolicy } from "../../src/core/policy.ts";

const where = "profiles.p";
const config = (message: RegExp) =>
  expect.objectContaining({ code: "bad_policy", kind: "config", message: expect.stringMatching(message) });

describe("parsing policies", () => {
  it.each([
    ["strip", { policy: "strip", request: true, response: true }],
    ["strip-responses", { policy: "strip", request: false, response: true }],
    ["strip-requests", { policy: "strip", request: true, response: false }],
    ["omit", { policy: "omit" }],
  ])("reads the word %s", (word, policy) => {
    expect(parseToolCallPolicy(word, where)).toEqual(policy);
  });

  it.each([
    [{ policy: "strip" }, { policy: "strip", request: true, response: true }],
    [
      { policy: "strip", request: false },
      { policy: "strip", request: false, response: true },
    ],
    [
      { policy: "truncate", max_chars: 100 },
      { policy: "truncate", max_chars: 100 },
    ],
    [
      { policy: "truncate", max_chars: 100, head: 0 },
      { policy: "truncate", max_chars: 100, head: 0 },
    ],
    [{ policy: "omit" }, { policy: "omit" }],
  ])("reads the table %j", (table, policy) => {
    expect(parseToolCallPolicy(table, where)).toEqual(policy);
  });

  it("reads a whole profile and leaves absent policies absent", () => {
    const table = { reasoning: "strip", tool_calls: "omit", attachments: "strip", turns: "omit" };
    expect(parsePolicies(table, where)).toEqual({ ...table, tool_calls: { policy: "omit" } });
    expect(parsePolicies({}, where)).toEqual({});
  });

  it("reads what it gave once more", () => {
    const policies = parsePolicies(
      { tool_calls: "strip-responses", summary: { policy: "summarize", model: "a/b" } },
      where,
    );
    expect(parsePolicies(policies, where)).toEqual(policies);
  });

  it("reads a summary as a word or a table; an empty model counts as none", () => {
    expect(parseSummaryPolicy("summarize", where)).toEqual({ policy: "summarize" });
    expect(parseSummaryPolicy({ policy: "summarize", model: "", instructions: "be brief" }, where)).toEqual({
      policy: "summarize",
      instructions: "be brief",
    });
  });

  it.each<[object, RegExp]>([
    [{ tool_calls: "stripp" }, /^profiles\.p\.tool_calls is "stripp": expected "strip", "strip-responses"/],
    [{ tool_calls: 3 }, /is 3: expected/],
    [{ tool_calls: {} }, /tool_calls\.policy is nothing: expected "strip", "truncate", "omit"/],
    [{ tool_calls: { policy: "strip", request: "no" } }, /tool_calls\.request is "no": expected true or false/],
    [{ tool_calls: { policy: "truncate" } }, /max_chars is nothing: expected a whole number/],
    [{ tool_calls: { policy: "truncate", max_chars: 9, head: 2 } }, /head is 2: expected a share/],
    [{ reasoning: "keep" }, /reasoning is "keep": expected "strip"/],
    [{ summary: "short" }, /summary is "short": expected "summarize"/],
    [{ summary: { policy: "summarize", model: 1 } }, /summary\.model is 1/],
    [{ summary: { policy: "summarize", instructions: [] } }, /summary\.instructions is \[\]/],
  ])("refuses %j", (table, message) => {
    expect(() => parsePolicies(table, where)).toThrowError(config(message));
  });

  it("suggests the word that was meant", () => {
    expect(() => parseToolCallPolicy("strip-response", where)).toThrowError(
      expect.objectContaining({ hints: ['did you mean "strip-responses"?'] }),
    );
  });
});

describe("describePolicies", () => {
  const strip = { policy: "strip", request: true, response: true } as const;
  it.each<[Partial<Compaction>, string]>([
    [{ reasoning: "strip", tool_calls: strip }, "reasoning + tools stripped"],
    [{ reasoning: "strip" }, "reasoning stripped"],
    [{ tool_calls: { ...strip, request: false } }, "tool results stripped"],
    [{ tool_calls: { ...strip, response: false } }, "tool arguments stripped"],
    [{ tool_calls: { ...strip, request: false, response: false } }, "tools kept"],
    [{ tool_calls: { policy: "truncate", max_chars: 9 } }, "tool results truncated"],
    [{ reasoning: "strip", tool_calls: { policy: "omit" } }, "reasoning stripped, tool calls omitted"],
    [{ reasoning: "strip", attachments: "strip" }, "reasoning + attachments stripped"],
    [{ tool_calls: { policy: "selective", calls: [{ event: "e" }] } }, "1 call kept"],
    [
      {
        tool_calls: {
          policy: "selective",
          calls: [
            { event: "a", request: "omit", response: "omit" },
            { event: "b", response: "omit" },
            { event: "c", request: "strip", response: "strip" },
            { event: "d", request: { drop: { max_chars: 9 } }, response: "strip" },
            { event: "e", response: { truncate: { max_chars: 9 } } },
          ],
        },
      },
      "2 calls omitted, 1 call stripped, 1 result stripped, 1 result truncated, 1 call's arguments shortened",
    ],
    [
      {
        reasoning: "strip",
        tool_calls: {
          policy: "selective",
          calls: [{ event: "a", request: "omit", response: "omit" }, { event: "b" }],
          else: { policy: "strip", request: false, response: true },
        },
      },
      "reasoning + tool results stripped, 1 call omitted, 1 call spared",
    ],
    [{ turns: "omit" }, "turns omitted"],
    [{ summary: { summary: "s" }, reasoning: "strip" }, "summary"],
    [{ replacement: [] }, "replacement"],
    [{ tools: { policy: "prune", names: ["a", "b"] } }, "2 unused tools pruned"],
    [{}, "no change"],
  ])("says of %j: %s", (compaction, words) => {
    expect(describePolicies(compaction)).toBe(words);
  });
});

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { parseToolCallPolicy } from "../../../src/core/conversation/contents/tool-calls.ts";
import {
  BUILT_IN_PROFILES,
  describePolicies,
  findProfile,
  type Policies,
  type PolicyTable,
} from "../../../src/core/conversation/policy.ts";

const where = "profiles.p";
const thrownBy = (call: () => unknown): unknown => {
  try {
    return call();
  } catch (thrown) {
    return thrown;
  }
};

describe("parsing policies of tool calls", () => {
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
    [
      { policy: "strip", response: false },
      { policy: "strip", request: true, response: false },
    ],
    [
      { policy: "truncate", max_chars: 1, head: 1 },
      { policy: "truncate", max_chars: 1, head: 1 },
    ],
    [{ policy: "omit" }, { policy: "omit" }],
  ])("reads the table %j", (table, policy) => {
    expect(parseToolCallPolicy(table, where)).toEqual(policy);
  });

  const TOOL_WORDS = ["strip", "strip-responses", "strip-requests", "omit"];
  const KINDS = ["strip", "truncate", "omit"];
  const WHOLE = "a whole number of characters above 0";
  const SHARE = "a share from 0 to 1";
  const truncate = (more: object): object => ({ tool_calls: { policy: "truncate", max_chars: 9, ...more } });

  /** A table, the field that is refused, how it is shown, and the words that may stand there or what is expected there. */
  it.each<[PolicyTable, string, string, readonly string[] | string]>([
    [{ tool_calls: "squeeze" }, "tool_calls", '"squeeze"', TOOL_WORDS],
    [{ tool_calls: "constructor" }, "tool_calls", '"constructor"', TOOL_WORDS],
    [{ tool_calls: 3 }, "tool_calls", "3", TOOL_WORDS],
    [{ tool_calls: null }, "tool_calls", "null", TOOL_WORDS],
    [{ tool_calls: [] }, "tool_calls", "[]", TOOL_WORDS],
    [{ tool_calls: () => "strip" }, "tool_calls", "nothing", TOOL_WORDS],
    [{ tool_calls: {} }, "tool_calls.policy", "nothing", KINDS],
    [{ tool_calls: { policy: 7 } }, "tool_calls.policy", "7", KINDS],
    [{ tool_calls: { policy: "strip", request: "no" } }, "tool_calls.request", '"no"', "true or false"],
    [{ tool_calls: { policy: "strip", response: null } }, "tool_calls.response", "null", "true or false"],
    [{ tool_calls: { policy: "truncate" } }, "tool_calls.max_chars", "nothing", WHOLE],
    [truncate({ max_chars: 0 }), "tool_calls.max_chars", "0", WHOLE],
    [truncate({ max_chars: 1.5 }), "tool_calls.max_chars", "1.5", WHOLE],
    [truncate({ max_chars: "9" }), "tool_calls.max_chars", '"9"', WHOLE],
    [truncate({ head: 1.01 }), "tool_calls.head", "1.01", SHARE],
    [truncate({ head: -0.01 }), "tool_calls.head", "-0.01", SHARE],
    [truncate({ head: "1" }), "tool_calls.head", '"1"', SHARE],
    [truncate({ head: null }), "tool_calls.head", "null", SHARE],
  ])("refuses %j and names the field %s", (table, field, found, expected) => {
    const words = typeof expected === "string" ? [] : expected;
    const wanted = typeof expected === "string" ? expected : words.map((word) => `"${word}"`).join(", ");
    expect(thrownBy(() => parseToolCallPolicy(table.tool_calls, `${where}.tool_calls`))).toMatchObject({
      kind: "config",
      code: "bad_policy",
      message: `${where}.${field} is ${found}: expected ${wanted}.`,
      data: { where: `${where}.${field}`, expected: words },
      hints: [],
    });
  });

  it.each<[PolicyTable, string]>([
    [{ tool_calls: "strip-response" }, "strip-responses"],
    [{ tool_calls: { policy: "trunkate" } }, "truncate"],
  ])("suggests the word that was meant: %j", (table, word) => {
    expect(thrownBy(() => parseToolCallPolicy(table.tool_calls, `${where}.tool_calls`))).toMatchObject({
      hints: [`Did you mean "${word}"?`],
    });
  });
});

describe("describePolicies", () => {
  const strip = { policy: "strip", request: true, response: true } as const;
  const runs = (...all: readonly (readonly [number, number])[]) => all.map(([from, to]) => ({ from, to }));
  it.each<[Partial<Compaction>, string]>([
    [{ reasoning: "strip", tool_calls: strip }, "reasoning + tools stripped"],
    [{ reasoning: "strip" }, "reasoning stripped"],
    [{ tool_calls: { ...strip, request: false } }, "tool results stripped"],
    [{ tool_calls: { ...strip, response: false } }, "tool arguments stripped"],
    [{ tool_calls: { ...strip, request: false, response: false } }, "tools kept"],
    [{ tool_calls: { policy: "truncate", max_chars: 9 } }, "tool results truncated"],
    [{ reasoning: "strip", tool_calls: { policy: "omit" } }, "reasoning stripped, tool calls omitted"],
    [{ reasoning: "strip", attachments: "strip" }, "reasoning + attachments stripped"],
    [{ attachments: "strip" }, "attachments stripped"],
    [{ tool_calls: { policy: "omit" } }, "tool calls omitted"],
    [{ tool_calls: { policy: "selective", calls: [{ event: "e" }] } }, "1 call kept"],
    [{ tool_calls: { policy: "selective", calls: [{ event: "e" }, { event: "f" }] } }, "2 calls kept"],
    [{ tool_calls: { policy: "selective", calls: [], else: { policy: "omit" } } }, "tool calls omitted"],
    [{ tool_calls: { policy: "selective", calls: [], else: strip } }, "tools stripped"],
    [
      {
        tool_calls: {
          policy: "selective",
          calls: [
            { event: "a", request: "keep" },
            { event: "b", response: "keep" },
            { event: "c", request: "strip", response: "keep" },
          ],
          else: { policy: "truncate", max_chars: 9 },
        },
      },
      "tool results truncated, 1 call's arguments stripped, 2 calls spared",
    ],
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
    [{ summary: { summary: "s", source: "extractive" } }, "summary (extract)"],
    [{ replacement: [] }, "replacement"],
    [{ reasoning: "strip", tools: { policy: "prune", names: ["a"] } }, "reasoning stripped, 1 unused tool pruned"],
    [{ tools: { policy: "prune", names: [] } }, "no change"],
    [{ tools: { policy: "prune", names: ["a", "b"] } }, "2 unused tools pruned"],
    [{}, "no change"],
    [{ turns: "omit" }, "turns omitted"],
    [{ turns: "omit", stats: { turns_omitted: runs([3, 3], [5, 7]) } }, "turns 3, 5..7 omitted"],
    [{ turns: "omit", stats: { turns_omitted: runs([9, 9]) } }, "turn 9 omitted"],
    [{ turns: "omit", stats: { turns_omitted: [] } }, "turns omitted"],
    // What cannot be so is not repeated.
    [{ turns: "omit", stats: { turns_omitted: runs([2, 3]) } }, "turns omitted"],
    [{ turns: "omit", stats: { turns_omitted: runs([3, 10]) } }, "turns omitted"],
    [{ turns: "omit", stats: { turns_omitted: runs([5, 6], [6, 7]) } }, "turns omitted"],
    [{ turns: "omit", stats: { turns_omitted: runs([5, 4]) } }, "turns omitted"],
  ])("says of %j: %s", (compaction, words) => {
    expect(describePolicies({ from_turn: 3, to_turn: 9, ...compaction })).toBe(words);
  });
});

/** Profiles as the settings hold them: the built-in ones, and configured ones above them. */
function profilesWith(configured: Readonly<Record<string, object>> = {}): Readonly<Record<string, Policies>> {
  const tables = Object.entries({ ...BUILT_IN_PROFILES, ...configured });
  const parsed = tables.map(([name, table]) => {
    const { tool_calls, ...rest } = table as { readonly tool_calls?: unknown };
    return [name, tool_calls === undefined ? rest : { ...rest, tool_calls: parseToolCallPolicy(tool_calls, name) }];
  });
  return Object.fromEntries(parsed);
}

const MAKES_ONE = "`[conversation.compaction.profiles.NAME]` in .jpg.toml defines one.";

describe("findProfile", () => {
  it("knows default, light and heavy without any configuration", () => {
    expect(findProfile("default", profilesWith())).toEqual({
      reasoning: "strip",
      tool_calls: { policy: "strip", request: true, response: true },
    });
    expect(findProfile("light", profilesWith())).toEqual({ reasoning: "strip" });
    expect(findProfile("heavy", profilesWith())).toEqual({ summary: { policy: "summarize" } });
  });

  it("lets a configured profile replace a built-in one whole", () => {
    expect(findProfile("default", profilesWith({ default: { tool_calls: "omit" } }))).toEqual({
      tool_calls: { policy: "omit" },
    });
  });

  it("offers the nearest name and the list for an unknown one", () => {
    expect(() => findProfile("haevy", profilesWith({ heavy: { summary: { policy: "summarize" } } }))).toThrowError(
      expect.objectContaining({
        code: "unknown_profile",
        message: "There is no compaction profile haevy: expected one of default, light, heavy.",
        kind: "user",
        hints: ["Did you mean heavy?", MAKES_ONE],
      }),
    );
    expect(() => findProfile("zebra", profilesWith())).toThrowError(expect.objectContaining({ hints: [MAKES_ONE] }));
  });

  it("does not take a property of objects for a profile", () => {
    for (const name of ["constructor", "__proto__"]) {
      expect(() => findProfile(name, profilesWith())).toThrowError(
        expect.objectContaining({ code: "unknown_profile" }),
      );
    }
  });
});

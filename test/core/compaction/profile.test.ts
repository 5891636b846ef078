import { describe, expect, it } from "vitest";
import {
  BUILT_IN_PROFILES,
  findProfile,
  type Policies,
  parseToolCallPolicy,
} from "../../../src/core/conversation/policy.ts";

// covers: 064 "`strip-reasoning` by profile"
// covers: 064 "`strip-tools` by profile, which fields by policy and hints"
// covers: 064 "Defaults plus named profiles"
// covers: 064 "Named profiles instead of one monolithic operation"
// covers: 064 "4.2 Named profiles"

/** Profiles as the settings hold them: the built-in ones, and configured ones above them. */
function profilesWith(configured: Readonly<Record<string, object>> = {}): Readonly<Record<string, Policies>> {
  const tables = Object.entries({ ...BUILT_IN_PROFILES, ...configured });
  const parsed = tables.map(([name, table]) => {
    const { tool_calls, ...rest } = table as { readonly tool_calls?: unknown };
    return [name, tool_calls === undefined ? rest : { ...rest, tool_calls: parseToolCallPolicy(tool_calls, name) }];
  });
  return Object.fromEntries(parsed);
}

const MAKES_ONE = "`[conversation.compaction.profiles.NAME]` in .jpg.toml makes one.";

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

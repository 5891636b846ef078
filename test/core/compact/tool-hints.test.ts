// The hints that come with jpg, and how a tool finds its own.

import { describe, expect, it } from "vitest";
import { DEFAULT_TOOL_HINTS, hintFor, warnOfUnknownTools } from "../../../src/core/compact/tool-hints.ts";

describe("hintFor", () => {
  const hints = { "*": { request: "keep", dedup: false }, Read: { response: "strip", dedup: true } } as const;

  it("takes each field from the tool's own hint, else from *", () => {
    expect(hintFor("Read", hints)).toEqual({ request: "keep", response: "strip", dedup: true });
    expect(hintFor("Bash", hints)).toEqual({ request: "keep", dedup: false });
  });

  it("says nothing of a tool that has no hint, whatever its name", () => {
    expect(hintFor("constructor", {})).toEqual({});
    expect(hintFor("Read", Object.create(null))).toEqual({});
    expect(hintFor("Read", Object.create({ Read: { request: "strip" }, "*": { dedup: false } }))).toEqual({});
  });
});

describe("the hints that come with jpg", () => {
  it("are the tables of the RFDs for jp's tools", () => {
    const table = (names: readonly string[]) =>
      names.map((name) => {
        const { request, response, dedup } = hintFor(name, DEFAULT_TOOL_HINTS);
        return [name, request, response, dedup];
      });
    expect(
      table([
        "fs_read_file",
        "fs_grep_files",
        "fs_list_files",
        "cargo_check",
        "cargo_test",
        "git_diff",
        "fs_create_file",
        "fs_modify_file",
        "git_commit",
      ]),
    ).toEqual([
      ["fs_read_file", "keep", "strip", true],
      ["fs_grep_files", "keep", "strip", true],
      ["fs_list_files", "keep", "strip", true],
      ["cargo_check", "keep", "strip", true],
      ["cargo_test", "keep", "strip", true],
      ["git_diff", "keep", "strip", true],
      ["fs_create_file", "strip", "keep", false],
      ["fs_modify_file", "strip", "strip", false],
      ["git_commit", "strip", "keep", false],
    ]);
  });

  it.each(["learn", "AskUserQuestion", "ExitPlanMode", "request_user_input", "question", "ask_user"])(
    "keep the whole of %s",
    (name) => expect(hintFor(name, DEFAULT_TOOL_HINTS)).toMatchObject({ request: "keep", response: "keep" }),
  );

  it("take no call away and start no program", () => {
    for (const { response, subsumes } of Object.values(DEFAULT_TOOL_HINTS)) {
      expect(response).not.toBe("remove");
      expect(subsumes).toBeUndefined();
    }
  });

  it.each(["Write", "Edit", "MultiEdit", "BashOutput", "write_stdin", "spawn_agent", "Task", "apply_patch", "edit"])(
    "do not take equal calls of %s for duplicates",
    (name) => expect(hintFor(name, DEFAULT_TOOL_HINTS).dedup).toBe(false),
  );
});

describe("warnOfUnknownTools", () => {
  it("names the nearest tool, a called one first", () => {
    expect(warnOfUnknownTools(["rea"], ["Bash", "reap"])).toEqual([
      'no tool named "rea" was called; did you mean "reap"?',
    ]);
    expect(warnOfUnknownTools(["Raed", "completely_else"], [])).toEqual([
      'no tool named "Raed" was called; did you mean "Read"?',
      'no tool named "completely_else" was called',
    ]);
  });

  it("is silent about *, tools that were called, tools that are known, and tools of other servers", () => {
    expect(warnOfUnknownTools(["*", "mine", "fs_read_file", "mcp__other__thing"], ["mine"])).toEqual([]);
    expect(warnOfUnknownTools(["mcp__linear__isue"], ["mcp__linear__issue"])).toEqual([
      'no tool named "mcp__linear__isue" was called; did you mean "mcp__linear__issue"?',
    ]);
  });

  it("warns once of each tool, in the order given, also when its name only holds mcp__", () => {
    expect(warnOfUnknownTools(["zzzz_first", "my_mcp__thing", "zzzz_first"], [])).toEqual([
      'no tool named "zzzz_first" was called',
      'no tool named "my_mcp__thing" was called',
    ]);
  });
});

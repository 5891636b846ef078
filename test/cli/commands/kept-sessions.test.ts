import { describe, expect, it } from "vitest";
import { parsePick } from "../../../src/cli/commands/kept-sessions.ts";

describe("parsePick", () => {
  it.each([
    ["", [0, 1, 2, 3]],
    ["all", [0, 1, 2, 3]],
    ["none", []],
    ["q", []],
    ["2", [1]],
    ["3-4, 1", [0, 2, 3]],
    [" 4 4 2-3 ", [1, 2, 3]],
  ])("reads %j", (line, picked) => expect(parsePick(line, 4)).toEqual(picked));

  it.each(["0", "5", "3-2", "1-9", "two", "1 n", "-1", "1-", "99999999999"])("does not take %j", (line) =>
    expect(parsePick(line, 4)).toBeNull(),
  );
});

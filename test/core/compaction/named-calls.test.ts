import { describe, expect, it } from "vitest";
import { type CallPolicy, describeNamedCalls, type SelectedCall } from "../../../src/core/conversation/compaction.ts";

const TRUNCATE: CallPolicy = { truncate: { max_chars: 9 } };
const DROP: CallPolicy = { drop: { max_chars: 9 } };

describe("what becomes of named calls", () => {
  it.each<[CallPolicy | undefined, CallPolicy | undefined, readonly string[]]>([
    [undefined, undefined, []],
    ["keep", "keep", []],
    ["omit", "keep", ["1 call omitted"]],
    ["keep", "omit", ["1 call omitted"]],
    ["omit", "omit", ["1 call omitted"]],
    ["omit", "strip", ["1 call omitted"]],
    ["strip", "omit", ["1 call omitted"]],
    ["omit", TRUNCATE, ["1 call omitted"]],
    [DROP, "omit", ["1 call omitted"]],
    ["strip", "strip", ["1 call stripped"]],
    ["keep", "strip", ["1 result stripped"]],
    [undefined, "strip", ["1 result stripped"]],
    ["strip", "keep", ["1 call's arguments stripped"]],
    ["strip", undefined, ["1 call's arguments stripped"]],
    ["keep", TRUNCATE, ["1 result truncated"]],
    ["strip", TRUNCATE, ["1 result truncated", "1 call's arguments stripped"]],
    [TRUNCATE, "keep", ["1 call's arguments shortened"]],
    [DROP, "keep", ["1 call's arguments shortened"]],
    [DROP, "strip", ["1 result stripped", "1 call's arguments shortened"]],
    [DROP, TRUNCATE, ["1 result truncated", "1 call's arguments shortened"]],
    ["keep", DROP, []],
  ])("of one with arguments %j and result %j is %j", (request, response, words) => {
    const call: SelectedCall = {
      event: "e",
      ...(request === undefined ? {} : { request }),
      ...(response === undefined ? {} : { response }),
    };
    expect(describeNamedCalls([call])).toEqual(words);
  });

  it("is counted by kind, several in the plural", () => {
    const kinds: readonly Omit<SelectedCall, "event">[] = [
      { request: DROP },
      { request: "strip" },
      { response: TRUNCATE },
      { response: "strip" },
      { request: "strip", response: "strip" },
      { request: "omit" },
      {},
    ];
    const calls = [...kinds, ...kinds].map((kind, at) => ({ event: `e${at}`, ...kind }));
    expect(describeNamedCalls(calls)).toEqual([
      "2 calls omitted",
      "2 calls stripped",
      "2 results stripped",
      "2 results truncated",
      "2 calls' arguments stripped",
      "2 calls' arguments shortened",
    ]);
    expect(describeNamedCalls([])).toEqual([]);
  });
});

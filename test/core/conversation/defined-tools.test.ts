// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_TOOL_NAME, nameTools, offeredTools } from "../../../src/core/conversation/defined-tools.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

describe("nameTools", () => {
  const names = (tools: readonly [string, string][], taken: readonly string[] = []): readonly string[] =>
    nameTools(
      tools.map(([server, tool]) => ({ server, tool })),
      taken,
    );

  it("leaves a name that is alone and fit as it is", () => {
    expect(
      names([
        ["a", "read_file"],
        ["b", "write-file"],
      ]),
    ).toEqual(["read_file", "write-file"]);
  });

  it("puts the server before names that clash, all of them", () => {
    expect(
      names([
        ["a", "read"],
        ["b", "read"],
      ]),
    ).toEqual(["a__read", "b__read"]);
    expect(names([["a", "compact"]], ["compact"])).toEqual(["a__compact"]);
  });

  it("replaces what some provider refuses", () => {
    expect(
      names([
        ["a", "fs/read.file"],
        ["a", "3d"],
        ["a", "lösen"],
      ]),
    ).toEqual(["fs_read_file", "_3d", "l_sen"]);
  });

  it("numbers what would still be called alike, within 64 characters", () => {
    const twice = (server: string, tool: string): [string, string] => [server, tool];
    expect(names([twice("a", "x"), twice("a", "x"), twice("a", "x")])).toEqual(["a__x", "a__x_2", "a__x_3"]);
    expect(names([twice("a", "x"), twice("b", "x"), twice("c", "a__x")])).toEqual(["a__x_2", "b__x", "a__x"]);
    const long = "y".repeat(64);
    const whole = `a__${"y".repeat(61)}`;
    expect(names([twice("a", long), twice("a", long)])).toEqual([whole, `${whole.slice(0, 62)}_2`]);
    expect(names([twice("a", "z".repeat(65))])).toEqual(["z".repeat(64)]);
    expect(names([twice("a", "9".repeat(64))])).toEqual([`_${"9".repeat(63)}`]);
    expect(names([twice("9", "x")], ["x"])).toEqual(["_9__x"]);
    expect(names([twice("a", "")])).toEqual(["_"]);
  });

  it("gives every tool a name of its own that every provider takes, whatever they are called", () => {
    const word = fc.oneof(fc.constantFrom("read", "a__read", "b", "é", "x".repeat(80)), fc.string({ maxLength: 70 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word)), fc.array(word), (tools, taken) => {
        const given = names(tools, taken);
        expect(new Set([...given, ...taken]).size).toBe(given.length + new Set(taken).size);
        for (const name of given) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]*$/);
        for (const name of given) expect(name.length).toBeLessThanOrEqual(MAX_TOOL_NAME);
        expect(names(tools, taken)).toEqual(given);
      }),
    );
  });
});

const named = (...names: string[]) => names.map((name) => ({ name }));
const prune = (...names: string[]) => makeCompaction("p", [0, 0], { tools: { policy: "prune", names } });

describe("offeredTools", () => {
  const view = projectTurns(parseConversation("U T:grep t A | U T t A"), []);

  it("leaves out what compactions prune", () => {
    const tools = named("ls", "grep", "tool", "cat");
    expect(offeredTools(tools, view, [prune("ls"), prune("cat", "gone")])).toEqual(named("grep", "tool"));
  });

  it("offers a tool that is still called, and gives the very list back where none is pruned", () => {
    const tools = named("grep", "tool");
    expect(offeredTools(tools, view, [prune("grep", "ls")])).toEqual(tools);
    expect(offeredTools(tools, view, [prune("ls")])).toBe(tools);
  });

  it("offers all if none would be left while the view has calls, and none if it has no call", () => {
    const tools = named("ls", "cat");
    expect(offeredTools(tools, view, [prune("ls", "cat")])).toEqual(tools);
    expect(offeredTools(tools, { turns: [] }, [prune("ls", "cat")])).toEqual([]);
  });

  it("never refuses what the view calls, adds nothing, and comes back whole without the compaction", () => {
    const names = fc.uniqueArray(fc.constantFrom("tool", "grep", "ls", "cat", "make"));
    fc.assert(
      fc.property(randomConversation, names, names, ({ turns, compactions }, defined, pruned) => {
        const shown = projectTurns(turns, compactions);
        const tools = named(...defined);
        const called = shown.turns.flatMap(({ events }) =>
          events.flatMap((event) => (event.type === "tool_call_request" ? [event.name] : [])),
        );
        const offered = offeredTools(tools, shown, [...compactions, prune(...pruned)]).map(({ name }) => name);
        for (const name of defined) if (called.includes(name)) expect(offered).toContain(name);
        if (defined.length > 0 && called.length > 0) expect(offered).not.toEqual([]);
        expect(defined.filter((name) => offered.includes(name))).toEqual(offered);
        for (const name of defined) if (!pruned.includes(name)) expect(offered).toContain(name);
        expect(offeredTools(tools, shown, compactions)).toEqual(tools);
      }),
      { numRuns: runs(500) },
    );
  });
});

// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { offeredTools } from "../../../src/core/conversation/defined-tools.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

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

  it("offers all where none would be left while calls stand, and none where no call does", () => {
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

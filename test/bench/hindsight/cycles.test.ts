import { describe, expect, it } from "vitest";
import { aroundCycle, CYCLED_ROWS, endlessSteps, runCycles } from "../../../bench/hindsight/cycles.ts";
import type { Session } from "../../../bench/hindsight/stretch.ts";
import { estimateEvent as count } from "../../../src/core/conversation/token-estimate.ts";
import { type Said, saidTurns } from "../../helpers/said-events.ts";

function sessionOf(...said: readonly Said[]): Session {
  return { name: "invented", agent: "pi", turns: saidTurns(said), compactions: [] };
}

const reading = sessionOf(
  { user: "look" },
  ...Array.from({ length: 12 }, (_, at): Said => {
    return { call: "Read", args: { file_path: `/a/${at}.ts` }, result: "a line of code\n".repeat(200) };
  }),
  { agent: "done" },
);
const talking = sessionOf(...Array.from({ length: 20 }, (_, at): Said => ({ user: `${at} ${"word ".repeat(1000)}` })));

function row(name: string) {
  const found = CYCLED_ROWS.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no row ${name}`);
  return found;
}

describe("aroundCycle", () => {
  it("gives the medians of up to five cycles, and nothing of those that did not come", () => {
    const cycles = [1, 9, 2, 8, 3, 7].map((n) => ({ freed: n / 10, floor: n / 100 }));
    expect(aroundCycle(cycles, 1)).toEqual({ freed: 0.1, floor: 0.01 });
    expect(aroundCycle(cycles, 5)).toEqual({ freed: 0.3, floor: 0.03 });
    expect(aroundCycle(cycles, 6)).toEqual({ freed: 0.7, floor: 0.07 });
    expect(aroundCycle(cycles, 7)).toBeNull();
  });
});

describe("runCycles", () => {
  it("compacts whenever the view passes the size, as often as asked", () => {
    const cycles = runCycles(row("keep last 20k"), endlessSteps([reading]), { size: 40_000, count });
    expect(cycles).toHaveLength(20);
    for (const { freed, floor } of cycles) {
      expect(floor).toBeLessThanOrEqual(0.5);
      expect(floor).toBeGreaterThan(0.4);
      expect(freed).toBeGreaterThanOrEqual(0.5);
    }
  });

  it("frees less every time where something stays", () => {
    const cycles = runCycles(row("auto"), endlessSteps([reading]), { size: 40_000, count });
    const floors = cycles.map(({ floor }) => floor);
    expect(floors.length).toBeGreaterThan(3);
    expect(floors.at(-1)).toBeGreaterThan(floors[0]!);
  });

  it("ends where views stay full: there is nothing but what people said", () => {
    expect(runCycles(row("mask all but 10"), endlessSteps([talking]), { size: 40_000, count })).toEqual([]);
    expect(runCycles(row("auto"), endlessSteps([talking]), { size: 40_000, count })).toEqual([]);
  });

  it("goes on where an extract stands for what is old", () => {
    const cycles = runCycles(row("extract 2k"), endlessSteps([reading]), { size: 40_000, count, most: 6 });
    expect(cycles).toHaveLength(6);
  });

  it("makes an extract only of what is still above half, where it is asked to", () => {
    const only = runCycles(row("auto"), endlessSteps([reading]), { size: 40_000, count, most: 1 });
    const both = runCycles(row("auto, extract above half"), endlessSteps([reading]), { size: 40_000, count, most: 1 });
    expect(only[0]!.floor).toBeLessThan(0.5);
    expect(both).toEqual(only);
  });
});

describe("endlessSteps", () => {
  it("repeats the sessions under new ids, each message with the results of its calls", () => {
    const seen = new Set<string>();
    let steps = 0;
    for (const { events } of endlessSteps([sessionOf({ user: "a" }, { call: "Read", args: {}, result: "b" })])) {
      for (const { id } of events) {
        expect(seen.has(id)).toBe(false);
        seen.add(id);
      }
      if (++steps === 10) break;
    }
    expect(seen.size).toBe(20);
  });

  it("has no steps without sessions", () => {
    expect([...endlessSteps([])]).toEqual([]);
  });
});

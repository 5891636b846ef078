import { describe, expect, it } from "vitest";
import { staleTokens } from "../../../bench/hindsight/stale.ts";
import { visibleEvents } from "../../../bench/hindsight/stretch.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { type Said, saidTurns } from "../../helpers/said-events.ts";

const code = "const tide = 1;\n".repeat(20);
const read = (file_path: string): Said => ({ call: "Read", args: { file_path }, result: code });
const edit = (file_path: string, failed?: true): Said => {
  const args = { file_path, old_string: "1", new_string: "2" };
  return { call: "Edit", args, result: "done", ...(failed && { failed }) };
};

/** Ids of the events that are stale when all of the past is shown. */
function stale(...said: readonly Said[]): readonly string[] {
  const turns = saidTurns(said);
  return visibleEvents(turns)
    .filter((event) => staleTokens([event], turns, estimateEvent) > 0)
    .map(({ id }) => id);
}

describe("staleTokens", () => {
  it("counts a read whose file was changed later, not one after the change", () => {
    expect(stale(read("/a.ts"), edit("/a.ts"), read("/a.ts"))).toEqual(["t0.1"]);
    expect(stale(read("/a.ts"), edit("/b.ts"))).toEqual([]);
  });

  it("counts what was written whole and then changed", () => {
    const write: Said = { call: "Write", args: { file_path: "/a.ts", content: code }, result: "done" };
    expect(stale(write, edit("/a.ts"))).toEqual(["t0.0"]);
  });

  it("does not believe a change that failed", () => {
    expect(stale(read("/a.ts"), edit("/a.ts", true))).toEqual([]);
  });

  it("counts nothing of a stub, nor of what is not shown", () => {
    const turns = saidTurns([read("/a.ts"), edit("/a.ts")]);
    const [, result] = visibleEvents(turns);
    const stub = { ...result!, content: "[compacted] Read: success" } as typeof result;
    expect(staleTokens([result!], turns, estimateEvent)).toBe(estimateEvent(result!));
    expect(staleTokens([stub!], turns, estimateEvent)).toBe(0);
    expect(staleTokens([], turns, estimateEvent)).toBe(0);
  });
});

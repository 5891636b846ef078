import { describe, expect, it } from "vitest";
import {
  type AskOptions,
  askStrategies,
  type CallSpec,
  call,
  callTurns,
  failed,
  fates,
  planStrategiesFor,
  storedOf,
} from "../../../helpers/call-conversation.ts";

const read = (path: string, result?: string | null) => call("Read", { file_path: path }, result);

function dedup(turns: readonly (readonly CallSpec[])[], more: AskOptions = {}): Record<string, string> | string {
  const all = callTurns(...turns);
  const plan = askStrategies(all, ["dedup-tools"], more);
  return "nothing" in plan ? plan.nothing : fates(all, [storedOf(plan)]);
}

const NOTHING = expect.stringContaining("hold nothing that dedup-tools would change");

describe("dedup-tools", () => {
  it("leaves out all but the newest of equal calls", () => {
    expect(dedup([[read("a"), read("b")], [read("a")], [read("a")]])).toEqual({ "c0.0": "omitted", "c1.0": "omitted" });
  });

  it("takes arguments as equal whatever the order of their keys, and tools apart", () => {
    const [one, other] = [call("Grep", { x: 1, y: { a: 1, b: 2 } }), call("Grep", { y: { b: 2, a: 1 }, x: 1 })];
    expect(dedup([[one], [other]])).toEqual({ "c0.0": "omitted" });
    expect(dedup([[one], [{ ...other, name: "Glob" }]])).toEqual(NOTHING);
    expect(dedup([[call("Grep", { x: [1, 2] })], [call("Grep", { x: [2, 1] })]])).toEqual(NOTHING);
  });

  it("keeps a call whose repetition was never answered or failed", () => {
    expect(dedup([[read("a")], [read("a", null)]])).toEqual(NOTHING);
    expect(dedup([[read("a")], [failed("Read", { file_path: "a" })]])).toEqual(NOTHING);
    expect(dedup([[read("a")], [read("a")], [failed("Read", { file_path: "a" })]])).toEqual({ "c0.0": "omitted" });
    expect(dedup([[failed("Read", { file_path: "a" })], [read("a")]])).toEqual({ "c0.0": "omitted" });
    expect(dedup([[read("a", null)], [read("a")]])).toEqual({ "c0.0": "omitted" });
  });

  it("keeps a call whose repetition only says that nothing has changed", () => {
    expect(dedup([[read("a")], [read("a", "File unchanged since last read. Look there.")]])).toEqual(NOTHING);
  });

  it("finds the repetition in turns that are left alone, and changes none of them", () => {
    const request = { range: { keep: 1 } } as const;
    expect(dedup([[read("a")], [read("a")]], { request })).toEqual({ "c0.0": "omitted" });
    expect(dedup([[read("b")], [read("a"), read("a")]], { request })).toEqual(
      "what could be removed is in the newest turn, left alone",
    );
  });

  it("leaves tools alone whose calls are never duplicates", () => {
    expect(dedup([[read("a")], [read("a")]], { known: { hints: { "*": { dedup: false } } } })).toContain(
      "by the hints",
    );
  });

  it("leaves out what a later call contains", () => {
    const subsumed = new Map([["c0.0", "c1.0"]]);
    expect(
      dedup([[call("Read", { lines: "2-5" })], [call("Read", { lines: "1-9" })]], { known: { subsumed } }),
    ).toEqual({
      "c0.0": "omitted",
    });
    expect(
      dedup([[call("Read", { lines: "2-5" })], [failed("Read", { lines: "1-9" })]], { known: { subsumed } }),
    ).toEqual(NOTHING);
  });

  it("does not trust a repetition that a summary hides or a compaction has shortened further", () => {
    const all = callTurns([read("a")], [read("a")], [read("c")]);
    const base = {
      type: "compaction",
      id: "old",
      timestamp: "2026-02-01T00:00:00Z",
      from_turn: 1,
      to_turn: 1,
    } as const;
    const strip = { policy: "strip", request: false, response: true } as const;
    const hides = { ...base, summary: { summary: "read a" } };
    const strips = { ...base, tool_calls: strip };
    for (const old of [hides, strips])
      expect(askStrategies(all, ["dedup-tools"], { request: { compactions: [old] } })).toHaveProperty("nothing");
    const both = planStrategiesFor(all, ["dedup-tools"], {
      request: { compactions: [{ ...strips, from_turn: 0 }] },
    });
    expect(both.compaction.tool_calls).toEqual({
      policy: "selective",
      calls: [{ event: "c0.0", request: "omit", response: "omit" }],
    });
  });

  it("keeps a call of which one half is kept by name", () => {
    expect(dedup([[read("a")], [read("a")]], { request: { keep: ["r0.0"] } })).toContain("is pinned");
  });

  it("keeps a call whose late answer lies outside the range", () => {
    const [first, second, third] = callTurns([read("a", null)], [], [read("a")]);
    if (first === undefined || second === undefined || third === undefined) throw new Error("three turns were made");
    const late = { type: "tool_call_response", id: "late", timestamp: "2026-01-01T01:00:02Z" } as const;
    const answer = { ...late, call_id: "k0", content: "late text", is_error: false } as const;
    const turns = [first, { ...second, events: [...second.events, answer] }, third];
    expect(askStrategies(turns, ["dedup-tools"], { request: { range: { keep: 2 } } })).toHaveProperty("nothing");
    const plan = planStrategiesFor(turns, ["dedup-tools"], { request: { range: { keep: 1 } } });
    expect(fates(turns, [storedOf(plan)])).toEqual({ "c0.0": "omitted" });
  });
});

// @module-tag law
// Reads whose lines a later read of the same file shows as well.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  findContainedReads,
  listCandidates,
  MAX_CANDIDATES,
  shownLines,
} from "../../../src/core/compact/shown-lines.ts";
import { callFacts, fileKey, type ToolCall } from "../../../src/core/compact/tool-call.ts";
import { type CallNote, createCalls } from "../../helpers/tool-calls.ts";

function found(...notes: CallNote[]) {
  return Object.fromEntries(findContainedReads(createCalls(notes)));
}

/** A read that shows as many lines as it asks for. */
function read(path: string, first: number, last: number): CallNote {
  const result = Array.from({ length: last - first + 1 }, () => "x").join("\n");
  return { name: "fs_read_file", args: { path, start_line: first, end_line: last }, result };
}

const whole = (path: string): CallNote => ({ name: "Read", args: { file_path: path }, result: "short" });

describe("findContainedReads", () => {
  it("finds a read inside a later one, not inside an earlier one", () => {
    expect(found(read("a", 2, 5), read("a", 1, 10))).toEqual({ c0: "c1" });
    expect(found(read("a", 1, 10), read("a", 2, 5))).toEqual({});
  });

  it("wants all of the lines", () => {
    expect(found(read("a", 2, 11), read("a", 1, 10), read("a", 3, 20))).toEqual({});
  });

  it("takes an equal read, and names the newest", () => {
    expect(found(read("a", 1, 3), read("a", 1, 3), read("a", 1, 4))).toEqual({ c0: "c2", c1: "c2" });
  });

  it("distinguishes files by path and folder, and ignores how the path is spelt", () => {
    expect(found(read("a", 1, 3), read("b", 1, 3))).toEqual({});
    expect(found(read("./a", 1, 3), read("a", 1, 3))).toEqual({ c0: "c1" });
    const cat = (workdir: string): CallNote => ({ name: "exec_command", args: { cmd: "cat a", workdir } });
    expect(found(cat("/x"), cat("/y"), cat("/x"))).toEqual({ c0: "c2" });
  });

  it("finds a read of a few lines in a later read of the whole file, by whatever tool", () => {
    expect(found(read("/a", 90, 95), whole("/a"))).toEqual({ c0: "c1" });
    expect(
      found({ name: "exec_command", args: { cmd: "sed -n '1,9p' /a" }, result: "x\n".repeat(9) }, whole("/a")),
    ).toEqual({ c0: "c1" });
  });

  it("trusts no read that failed, was cut, or only says that nothing changed", () => {
    const results = ["x\n…99 tokens truncated…\ny", "File unchanged since last read.", null];
    for (const result of results) expect(found(whole("/a"), { ...whole("/a"), result })).toEqual({});
    expect(found(whole("/a"), { ...whole("/a"), failed: true })).toEqual({});
  });

  it("knows that a reader stops after its own limit", () => {
    const full = { ...whole("/a"), result: "x\n".repeat(1999) };
    expect(found(read("/a", 1990, 2010), full, read("/a", 1, 5))).toEqual({});
    expect(found(read("/a", 1990, 2000), full)).toEqual({ c0: "c1" });
  });

  it("finds what the definition finds, on any reads", () => {
    const note = fc.record({
      path: fc.constantFrom("a", "./a", "b"),
      first: fc.integer({ min: 1, max: 12 }),
      count: fc.integer({ min: 1, max: 6 }),
      result: fc.constantFrom("full", "short", null),
    });
    fc.assert(
      fc.property(fc.array(note, { maxLength: 40 }), (notes) => {
        const calls = createCalls(
          notes.map(({ path, first, count, result }) => ({
            ...read(path, first, first + count - 1),
            ...(result === "full" ? {} : { result: result === null ? null : "x" }),
          })),
        );
        expect(new Map(findContainedReads(calls))).toEqual(containedByDefinition(calls));
      }),
    );
  });

  it("names a request that no later one contains", () => {
    const range = fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 30 }), (ranges) => {
        const pairs = findContainedReads(createCalls(ranges.map(([first, more]) => read("a", first, first + more))));
        for (const container of pairs.values()) expect(pairs.has(container)).toBe(false);
      }),
    );
  });
});

/** The newest later read of the same file that shows at least the same lines, found by looking at all pairs. */
function containedByDefinition(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const [position, earlier] of calls.entries()) {
    for (const later of calls.slice(position + 1)) {
      if (contains(later, earlier)) pairs.set(earlier.request.id, later.request.id);
    }
  }
  return pairs;
}

function contains(later: ToolCall, earlier: ToolCall): boolean {
  const [outer, inner] = [shownLines(later), shownLines(earlier)];
  if (outer === null || inner === null) return false;
  if (fileKey(callFacts(later.request)) !== fileKey(callFacts(earlier.request))) return false;
  return outer.first <= inner.first && outer.last >= inner.last;
}

// Which later calls are worth asking a program about.

/** Ids of the candidates of each call, in the order of the calls. */
function candidates(...args: unknown[]): readonly (readonly string[])[] {
  const calls = createCalls(args.map((one) => ({ name: "look", args: one })));
  const found = listCandidates(calls);
  return calls.map((call) => (found.get(call) ?? []).map(({ request }) => request.id));
}

describe("listCandidates", () => {
  it("lists later calls that share a text, wherever it is, the nearest first", () => {
    expect(candidates({ a: "x", n: 1 }, { b: ["y", { c: "x" }] }, { a: "z" }, { d: "x" })).toEqual([
      ["c1", "c3"],
      ["c3"],
      [],
      [],
    ]);
  });

  it("lists a call once that shares several texts, and none for numbers and empty texts", () => {
    expect(candidates({ a: "x", b: "y" }, { a: "x", b: "y" })).toEqual([["c1"], []]);
    expect(candidates({ a: 1, b: "" }, { a: 1, b: "" }, null)).toEqual([[], [], []]);
  });

  it("looks at no more than the last 32 texts of a call", () => {
    const texts = Array.from({ length: 33 }, (_, at) => `t${at}`);
    expect(candidates(texts, "t0", "t1")).toEqual([["c2"], [], []]);
  });

  it("lists the nearest of all that share a text", () => {
    const text = fc.constantFrom("a", "b", "c", "d");
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(text), { maxLength: 40 }), (texts) => {
        const shares = (a: number, b: number) => texts[a]?.some((one) => texts[b]?.includes(one)) === true;
        const byDefinition = texts.map((_, at) =>
          texts.flatMap((_other, later) => (later > at && shares(at, later) ? [`c${later}`] : [])),
        );
        expect(candidates(...texts)).toEqual(byDefinition.map((ids) => ids.slice(0, MAX_CANDIDATES)));
      }),
    );
  });
});

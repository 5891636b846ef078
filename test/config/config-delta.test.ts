// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseConfigDelta, selectDeltas } from "../../src/config/config.ts";
import { runs } from "../helpers/runs.ts";

const FILE = "config/20261121T203000.123Z-p81xz0.jsonl";

describe("a config delta's file", () => {
  it("reads back every record, blanks before its keys included", () => {
    const record = fc.record({
      id: fc.string({ minLength: 1 }),
      timestamp: fc.constantFrom("2026-11-21T20:30:00Z", "2026-11-21T20:30:00.123456Z"),
      at_turn: fc.nat(),
      delta: fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
    });
    fc.assert(
      fc.property(record, (written) => {
        const { file, ...read } = parseConfigDelta(
          `${JSON.stringify({ type: "config_delta", ...written }, null, 3).replaceAll("\n", "")}\n`,
          FILE,
        );
        expect(read).toEqual(JSON.parse(JSON.stringify(written)));
        expect(file).toBe(FILE);
      }),
    );
  });

  it.each([
    "",
    "{",
    "[]",
    "null",
    '{"type":"compaction","id":"a","timestamp":"2026-11-21T20:30:00Z"}',
    '{"type":"config_delta","timestamp":"2026-11-21T20:30:00Z","delta":{}}',
    '{"type":"config_delta","id":"a","timestamp":"2026-11-21T20:30:00Z","at_turn":-1,"delta":{}}',
    '{"type":"config_delta","id":"a","timestamp":"2026-11-21T20:30:00Z","at_turn":"0","delta":{}}',
  ])("reports %j as damaged instead of failing", (text) => {
    expect(parseConfigDelta(text, FILE)).toMatchObject({
      file: FILE,
      delta: undefined,
      problem: expect.stringMatching(/^expected/),
    });
  });
});

describe("the deltas that hold at a turn", () => {
  const delta = (id: string, timestamp: string, at_turn: number) =>
    parseConfigDelta(JSON.stringify({ type: "config_delta", id, timestamp, at_turn, delta: {} }), id);
  const deltas = [
    delta("b", "2026-11-21T20:30:00Z", 2),
    delta("a", "2026-11-21T20:30:00Z", 0),
    delta("c", "2026-11-21T20:29:59.5Z", 7),
  ];

  it("come oldest first, ties by id", () => {
    expect(selectDeltas(deltas).map(({ id }) => id)).toEqual(["c", "a", "b"]);
  });

  it("leave out those of later turns", () => {
    expect(selectDeltas(deltas, 2).map(({ id }) => id)).toEqual(["a", "b"]);
    expect(selectDeltas(deltas, 1).map(({ id }) => id)).toEqual(["a"]);
  });
});

describe("a delta that takes settings back", () => {
  let at = 0;
  const stored = (delta: unknown) => {
    at += 1;
    const timestamp = `2026-11-21T20:30:00.${String(at).padStart(6, "0")}Z`;
    const record = { type: "config_delta", id: `d${at}`, timestamp, at_turn: at, delta };
    return parseConfigDelta(JSON.stringify(record), `config/${at}`);
  };
  const held = (...deltas: unknown[]) => selectDeltas(deltas.map(stored)).map(({ delta }) => delta);

  it("hides what older ones set there, a key or a table, and what newer ones set stays", () => {
    expect(held({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: null } })).toEqual([{ a: { c: 2 }, d: 3 }, {}]);
    expect(held({ a: { b: 1, c: 2 }, d: 3 }, { a: null })).toEqual([{ d: 3 }, {}]);
    expect(held({ a: { b: 1 } }, { a: { b: null } }, { a: { b: 2 } })).toEqual([{}, {}, { a: { b: 2 } }]);
    expect(held({ a: { b: 1 } }, { a: { b: { c: null } } }, { a: null })).toEqual([{}, {}, {}]);
  });

  it("leaves tables that are empty as they are, for they name something", () => {
    expect(held({ profiles: { mine: {} } }, { other: null })).toEqual([{ profiles: { mine: {} } }, {}]);
  });

  it("makes what it takes back as if it had never been set, whatever else is", () => {
    const keys = fc.constantFrom("a", "b", "__proto__", "constructor");
    const path = fc.array(keys, { minLength: 1, maxLength: 3 });
    const value = fc.oneof(fc.integer(), fc.constant("x"), fc.boolean());
    const nest = (names: readonly string[], leaf: unknown): unknown =>
      names.reduceRight<unknown>((inner, name) => Object.fromEntries([[name, inner]]), leaf);
    const lookup = (table: unknown, names: readonly string[]): unknown =>
      names.reduce<unknown>(
        (inner, name) => (isTable(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
        table,
      );
    const isTable = (table: unknown): table is Record<string, unknown> => typeof table === "object" && table !== null;
    fc.assert(
      fc.property(fc.array(fc.tuple(path, value), { maxLength: 4 }), path, (set, gone) => {
        const deltas = set.map(([names, leaf]) => nest(names, leaf));
        const left = held(...deltas, nest(gone, null));
        for (const delta of left) expect(lookup(delta, gone)).toBeUndefined();
        for (const [index, [names, leaf]] of set.entries())
          if (!gone.every((name, depth) => names[depth] === name)) expect(lookup(left[index], names)).toEqual(leaf);
      }),
      { numRuns: runs(300) },
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseConfigDelta, selectDeltas } from "../../src/config/config-delta.ts";

// covers: 064 "They are stored and hold later"
// covers: 064 "Config deltas survive; config outside the range is unaffected"
// covers: 036 "Removing an event must not remove a config delta"

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

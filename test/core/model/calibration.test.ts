// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { type Metering, meteredTurns } from "../../helpers/metered-turns.ts";
import { calibrate, listRequestSizes } from "../../helpers/request-sizes.ts";

const lengths = (count: number, length = 2000): number[] =>
  Array.from({ length: count }, (_, i) => length + 37 * (i % 7));

const metering: fc.Arbitrary<Metering> = fc.record({
  factor: fc.double({ min: 0.5, max: 2.5, noNaN: true }),
  overhead: fc.integer({ min: 0, max: 60_000 }),
  lengths: fc.array(fc.integer({ min: 1000, max: 40_000 }), { minLength: 5, maxLength: 60 }),
});

describe("calibrate", () => {
  it("finds the factor and the overhead that sizes were made with", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(metering, (made) => {
        const calibration = calibrate(meteredTurns(made));
        expect(calibration?.factor).toBeCloseTo(made.factor, 1);
        expect(Math.abs(calibration!.overhead! - made.overhead)).toBeLessThanOrEqual(
          2 + 0.01 * made.lengths.reduce((sum, length) => sum + length, 0),
        );
        expect(calibration!.medianError).toBeLessThan(0.01);
        expect(calibration!.records).toBe(made.lengths.length);
      }),
    );
  });

  it("does not depend on the order in which turns are handed in", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(metering, fc.nat(), (made, seed) => {
        const turns = meteredTurns(made);
        const shuffled = turns.toSorted((a, b) => ((a.index * 7919 + seed) % 13) - ((b.index * 7919 + seed) % 13));
        expect(calibrate(shuffled)).toEqual(calibrate(turns));
      }),
    );
  });

  it("continues after a context that fell: the factor from both stretches, the overhead from the first", () => {
    const turns = meteredTurns({ factor: 1.4, overhead: 20_000, lengths: lengths(40, 8000), forgetsAt: 20 });
    const calibration = calibrate(turns);
    expect(calibration?.factor).toBeCloseTo(1.4, 2);
    expect(calibration?.overhead).toBeCloseTo(20_000, -2);
    expect(
      listRequestSizes(turns)
        .map(({ isUnbroken }) => isUnbroken)
        .indexOf(false),
    ).toBe(20);
  });

  it("is not moved by a few sizes that are wrong", () => {
    const turns = meteredTurns({ factor: 1.2, overhead: 10_000, lengths: lengths(30) }).map((turn) =>
      turn.index % 10 === 5 ? withSize(turn, 900_000) : turn,
    );
    expect(calibrate(turns)?.factor).toBeCloseTo(1.2, 1);
  });

  it("takes the newest model", () => {
    const older = meteredTurns({ factor: 1, overhead: 1000, lengths: lengths(20), model: "claude-opus-4-5-20251101" });
    const both = [
      ...older,
      ...renumber(meteredTurns({ factor: 1.5, overhead: 90_000, lengths: lengths(8), model: "new" }), 20),
    ];
    expect(calibrate(both)?.factor).toBeCloseTo(1.5, 1);
    const few = [
      ...older,
      ...renumber(meteredTurns({ factor: 1.5, overhead: 90_000, lengths: lengths(3), model: "new" }), 20),
    ];
    expect(calibrate(few)?.factor).toBeCloseTo(1.5, 1);
  });

  it.each<[string, Metering]>([
    ["too few requests", { factor: 1, overhead: 0, lengths: lengths(4) }],
    ["sizes that do not follow the events", { factor: 0, overhead: 12, lengths: lengths(20) }],
    ["sizes that grow much faster than the events", { factor: 40, overhead: 0, lengths: lengths(20) }],
    ["nothing", { factor: 1, overhead: 0, lengths: [] }],
  ])("is null for %s", (_name, made) => {
    expect(calibrate(meteredTurns(made))).toBeNull();
  });

  it("has no overhead when the start is not loaded", () => {
    const turns = meteredTurns({ factor: 1.4, overhead: 20_000, lengths: lengths(20) }).slice(5);
    expect(calibrate(turns)).toMatchObject({ overhead: null, records: 15 });
    expect(calibrate(turns)?.factor).toBeCloseTo(1.4, 2);
  });

  it("stays in its bounds whatever usage says", () => {
    const hostile = fc.oneof(
      fc.anything(),
      fc.dictionary(fc.constantFrom("input_tokens", "output_tokens"), fc.anything()),
    );
    fc.assert(
      fc.property(
        fc.array(fc.oneof(hostile, fc.record({ input_tokens: fc.nat(1e9) })), { maxLength: 20 }),
        (usages) => {
          const turns = meteredTurns({ factor: 1, overhead: 0, lengths: usages.map(() => 500) }).map((turn) => ({
            ...turn,
            events: turn.events.map((event) =>
              event.type === "chat_response" ? { ...event, metadata: { usage: usages[turn.index] } } : event,
            ),
          }));
          const calibration = calibrate(turns);
          if (calibration === null) return;
          expect(calibration.factor).toBeGreaterThanOrEqual(0.5);
          expect(calibration.factor).toBeLessThanOrEqual(2.5);
          expect(calibration.overhead).toBeGreaterThanOrEqual(0);
          expect(calibration.medianError).toBeGreaterThanOrEqual(0);
          expect(calibration.medianError).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

function withSize(turn: Turn, size: number): Turn {
  const events = turn.events.map((event) =>
    event.metadata?.usage === undefined
      ? event
      : { ...event, metadata: { ...event.metadata, usage: { input_tokens: size } } },
  );
  return { ...turn, events };
}

function renumber(turns: readonly Turn[], first: number): Turn[] {
  return turns.map(({ index, events }) => ({
    index: index + first,
    events: events.map((event) =>
      event.metadata?.message_id === undefined
        ? event
        : { ...event, metadata: { ...event.metadata, message_id: `n${first + index}` } },
    ),
  }));
}

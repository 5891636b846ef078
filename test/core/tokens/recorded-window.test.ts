import { describe, expect, it } from "vitest";
import { decideWindow } from "../../../src/core/model/token-meter.ts";
import { meteredTurns } from "../../helpers/metered-turns.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

const LENGTHS = Array.from({ length: 6 }, () => 4000);
const told = (model: string, betas?: readonly string[]) =>
  meteredTurns({ factor: 1, overhead: 240_000, lengths: LENGTHS, model }).map(({ index, events }) => ({
    index,
    events: events.map((event) => ({ ...event, metadata: { ...event.metadata, ...(betas && { betas }) } })),
  }));
const read = (asked: string, model: string, betas?: readonly string[]) =>
  createTokenMeter(told(model, betas)).windowOf(asked);

describe("what is recorded of a window", () => {
  it("reads the larger window from the mark in a model's name, and from a header", () => {
    expect(read("anthropic/claude-opus-4-5", "claude-opus-4-5[1m]").asked).toBe(1_000_000);
    expect(read("anthropic/claude-opus-4-5[1m]", "gpt-5").asked).toBe(1_000_000);
    expect(read("claude-opus-4-5", "claude-opus-4-5-20251101", ["x", "context-1m-2025-08-07"]).asked).toBe(1_000_000);
    expect(read("claude-opus-4-5", "claude-opus-4-5", ["x"]).asked).toBeNull();
  });

  it("gives the largest request that the model answered, whatever route or date stands in its name", () => {
    expect(read("anthropic/claude-opus-4-5", "claude-opus-4-5-20251101").largest).toBeGreaterThan(245_000);
    expect(read("anthropic/claude-opus-4-5", "claude-sonnet-4-5").largest).toBe(0);
  });
});

describe("decideWindow", () => {
  it.each([
    [
      "the user's setting, whatever else is known",
      { set: 50_000, published: 200_000 },
      { asked: 1_000_000, largest: 0 },
      50_000,
    ],
    [
      "what the session asked for, before what is published",
      { published: 200_000 },
      { asked: 1_000_000, largest: 0 },
      1_000_000,
    ],
    ["what is published", { published: 200_000 }, { asked: null, largest: 150_000 }, 200_000],
    ["never less than what was answered", { published: 200_000 }, { asked: null, largest: 240_000 }, 240_000],
    ["nothing where nothing is known", { published: null }, { asked: null, largest: 240_000 }, null],
  ])("gives %s", (_, known, recorded, window) => {
    expect(decideWindow(known, recorded)).toBe(window);
  });
});

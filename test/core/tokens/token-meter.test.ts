import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/compaction.ts";
import { projectTurns } from "../../../src/core/projection.ts";
import { estimateEvents, estimateView } from "../../../src/core/token-estimate.ts";
import { createTokenMeter } from "../../../src/core/tokens/token-meter.ts";
import { readUsage } from "../../../src/core/tokens/usage.ts";
import type { Turn } from "../../../src/core/turn.ts";
import { meteredTurns } from "../../helpers/metered-turns.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";

const LENGTHS = Array.from({ length: 12 }, (_, index) => 4000 + 100 * index);
const turns = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: LENGTHS });
const last = 20_000 + 1.5 * estimateEvents(turns.flatMap(({ events }) => events));

const summary = (fields: Partial<Compaction>): Compaction => ({
  type: "compaction",
  id: "c1",
  timestamp: "2026-01-01T00:00:06.500Z",
  from_turn: 0,
  to_turn: 6,
  summary: { summary: "They talked." },
  ...fields,
});

describe("createTokenMeter", () => {
  it("gives what the provider recorded for the newest request and its answer", () => {
    const meter = createTokenMeter(turns);
    expect(meter.countHistory().source).toBe("recorded");
    expect(Math.abs(meter.countHistory().tokens - last)).toBeLessThan(20);
    expect(meter.countView(projectTurns(turns, []), [])).toEqual(meter.countHistory());
  });

  it("estimates what follows the newest answer, and says so", () => {
    const asked: Turn = {
      index: turns.length,
      events: [{ type: "chat_request", id: "late", timestamp: "2026-01-02T00:00:00Z", content: "x".repeat(4000) }],
    };
    const { tokens, source } = createTokenMeter([...turns, asked]).countHistory();
    expect(source).toBe("estimate");
    expect(Math.abs(tokens - (last + 1500))).toBeLessThan(30);
  });

  it("estimates a compacted view with the overhead that stays", () => {
    const mine = summary({ timestamp: "2026-01-02T00:00:00Z" });
    const meter = createTokenMeter(turns, [mine]);
    const view = projectTurns(turns, [mine]);
    const { tokens, source } = meter.countView(view, [mine]);
    expect(source).toBe("estimate");
    expect(Math.abs(tokens - (20_000 + 1.5 * estimateView(view)))).toBeLessThan(60);
  });

  it("takes the newest record for the view of the agent's own compaction, and for nothing else", () => {
    const own = summary({ source: "import" });
    const forgot = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: LENGTHS, forgetsAt: 7 });
    const meter = createTokenMeter(forgot, [own]);
    const size = readUsage(forgot.at(-1)?.events.at(-1)?.metadata?.usage)?.input ?? 0;
    const { tokens, source } = meter.countView(projectTurns(forgot, [own]), [own]);
    expect({ tokens, source }).toEqual({ tokens: size + 15, source: "recorded" });
    expect(meter.countHistory().source).toBe("estimate");
    expect(meter.countHistory().tokens).toBeGreaterThan(tokens);
    const later = summary({ id: "c2", timestamp: "2026-01-02T00:00:00Z", from_turn: 8, to_turn: 9 });
    const both = meter.countView(projectTurns(forgot, [own, later]), [own, later]);
    expect(both.source).toBe("estimate");
    expect(both.tokens).toBeLessThan(tokens);
  });

  it("trusts no record that is much smaller than what it should be the size of", () => {
    const odd = meteredTurns({ factor: 0, overhead: 12, lengths: LENGTHS });
    const meter = createTokenMeter(odd);
    expect(meter.countHistory()).toEqual({
      tokens: estimateEvents(odd.flatMap(({ events }) => events)),
      source: "estimate",
    });
  });

  it("trusts no record of a context that began before the conversation", () => {
    const cut = meteredTurns({ factor: 1.5, overhead: 150_000, lengths: LENGTHS });
    expect(createTokenMeter(cut).countHistory().source).toBe("estimate");
    expect(createTokenMeter(cut).overhead).toBe(0);
  });

  it("counts kinds that add up to the events, without overhead", () => {
    const events = turns.flatMap((turn) => turn.events);
    const meter = createTokenMeter(turns);
    const { total, ...kinds } = meter.countByKind(events);
    expect(Object.values(kinds).reduce((sum, count) => sum + count, 0)).toBe(total);
    expect(Math.abs(meter.countEvents(events) - total)).toBeLessThanOrEqual(3);
    expect(Math.abs(meter.overhead + total - meter.countHistory().tokens)).toBeLessThanOrEqual(4);
  });

  it("counts with the tokenizer handed in where nothing is recorded, and only there", () => {
    const bare = turns.map(({ index, events }) => ({
      index,
      events: events.map(({ metadata: _, ...event }) => event) as unknown as Turn["events"],
    }));
    const countEvent = () => 7;
    expect(createTokenMeter(bare, [], { countEvent }).countHistory()).toEqual({
      tokens: 12 * 3 * 7,
      source: "estimate",
    });
    expect(createTokenMeter(turns, [], { countEvent }).countHistory()).toEqual(createTokenMeter(turns).countHistory());
  });

  it("gives estimates as they are without usage, and never less than nothing", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: random, compactions }) => {
        const meter = createTokenMeter(random, compactions);
        const view = projectTurns(random, compactions);
        expect(meter.countHistory()).toEqual({
          tokens: random.reduce((sum, turn) => sum + estimateEvents(turn.events), 0),
          source: "estimate",
        });
        expect(meter.countView(view, compactions)).toEqual({ tokens: estimateView(view), source: "estimate" });
        expect(estimateView(view)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 50 },
    );
  });
});

// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvents, estimateView } from "../../../src/core/conversation/token-estimate.ts";
import {
  countFrame,
  createFactsMeter,
  type SentFrame,
  sizeToSend,
  type TokenMeter,
} from "../../../src/core/model/token-meter.ts";
import { readUsage, turnFacts } from "../../../src/core/model/usage.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { meteredTurns } from "../../helpers/metered-turns.ts";
import { randomConversation } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

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

function withoutMetadata({ index, events }: Turn): Turn {
  return { index, events: events.map(({ metadata: _, ...event }) => event as Event) };
}

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
    const meter = createTokenMeter(turns);
    const view = projectTurns(turns, [mine]);
    const { tokens, source } = meter.countView(view, [mine]);
    expect(source).toBe("estimate");
    expect(Math.abs(tokens - (20_000 + 1.5 * estimateView(view)))).toBeLessThan(60);
  });

  it("counts views the same whether the agent's own compaction is live or reverted", () => {
    const own = summary({ source: "import" });
    const forgot = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: LENGTHS, forgetsAt: 7 });
    const meter = createTokenMeter(forgot);
    const view = projectTurns(forgot, [own]);
    const size = readUsage(forgot.at(-1)?.events.at(-1)?.metadata?.usage)?.input ?? 0;
    const { tokens, source } = meter.countView(view, [own]);
    expect(source).toBe("estimate");
    expect(Math.abs(tokens - (20_000 + 1.5 * estimateView(view)))).toBeLessThan(20);
    expect(meter.newestRequest).toEqual({ tokens: size, since: 15 });
    expect(meter.countHistory().source).toBe("estimate");
    expect(Math.abs(meter.countHistory().tokens - last)).toBeLessThan(20);
    const later = summary({ id: "c2", timestamp: "2026-01-02T00:00:00Z", from_turn: 8, to_turn: 9 });
    expect(meter.countView(projectTurns(forgot, [own, later]), [own, later]).tokens).toBeLessThan(tokens);
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

  it("gives estimates as they are without usage, and never less than nothing", () => {
    fc.assert(
      fc.property(randomConversation, ({ turns: random, compactions }) => {
        const meter = createTokenMeter(random);
        const view = projectTurns(random, compactions);
        expect(meter.countHistory()).toEqual({
          tokens: random.reduce((sum, turn) => sum + estimateEvents(turn.events), 0),
          source: "estimate",
        });
        expect(meter.countView(view, compactions)).toEqual({ tokens: estimateView(view), source: "estimate" });
        expect(estimateView(view)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(50) },
    );
  });
});

// Sizes that divide evenly, so that every count is exact.
const EVEN = Array.from({ length: 12 }, (_, index) => 4000 + 80 * index);
const even = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: EVEN });
const estimated = (list: readonly Turn[]): number => estimateEvents(list.flatMap(({ events }) => events));
const EXACT = 20_000 + 1.5 * estimated(even);

describe("createTokenMeter, where sizes divide evenly", () => {
  const asked: Turn = {
    index: even.length,
    events: [{ type: "chat_request", id: "late", timestamp: "2026-01-02T00:00:00Z", content: "x".repeat(4000) }],
  };

  it("counts exactly, in whatever order turns are handed in", () => {
    for (const list of [even, even.toReversed()]) {
      const meter = createTokenMeter(list);
      expect(meter).toMatchObject({ factor: 1.5, overhead: 20_000 });
      expect(meter.countHistory()).toEqual({ tokens: EXACT, source: "recorded" });
      expect(meter.countEvent(even[0]?.events[1] as Event)).toBe(1500);
      expect(meter.countEvents(even[0]?.events ?? [])).toBe(1515);
    }
    const later = createTokenMeter([asked, ...even]);
    expect(later.countHistory()).toEqual({ tokens: EXACT + 1500, source: "estimate" });
    expect(later).toMatchObject({ factor: 1.5, overhead: 20_000 });
  });

  it("counts a compacted view exactly", () => {
    const mine = summary({ timestamp: "2026-01-02T00:00:00Z" });
    const view = projectTurns(even, [mine]);
    const tokens = Math.round(20_000 + 1.5 * estimateView(view));
    expect(createTokenMeter(even).countView(view, [mine])).toEqual({ tokens, source: "estimate" });
  });

  it("rounds each kind and adds up what it rounded", () => {
    const at = { timestamp: "2026-01-02T00:00:00Z" };
    const ask = { type: "chat_request", id: "q", ...at, content: "word" } as const;
    const say = { type: "chat_response", id: "a", ...at, message: "word" } as const;
    expect(createTokenMeter(even).countByKind([ask, say])).toEqual({
      requests: 2,
      messages: 2,
      reasoning: 0,
      tool_calls: 0,
      tool_results: 0,
      harness: 0,
      system: 0,
      summaries: 0,
      index: 0,
      total: 4,
    });
    expect(createTokenMeter(even).countEvents([ask, say])).toBe(3);
  });

  describe("and the agent forgot what came before", () => {
    const forgot = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: EVEN, forgetsAt: 7 });

    it("ignores the newest record when no compaction mentions it", () => {
      const meter = createTokenMeter(forgot);
      expect(meter).toMatchObject({ factor: 1.5, overhead: 20_000 });
      expect(meter.countHistory()).toEqual({ tokens: EXACT, source: "estimate" });
    });

    it("counts what it sent since by the same line", () => {
      const own = summary({ source: "import" });
      const view = projectTurns(forgot, [own]);
      expect(createTokenMeter(forgot).countView(view, [own]).tokens).toBe(20_000 + 1.5 * estimateView(view));
    });
  });
});

describe("createTokenMeter with one recorded request", () => {
  // An ask of 1000 estimated tokens and an answer of 10.
  const withUsage = (input_tokens: number, output_tokens: number): Turn[] =>
    meteredTurns({ factor: 1, overhead: 0, lengths: [4000] }).map(({ index, events }) => ({
      index,
      events: events.map((event) =>
        event.type === "chat_response" ? { ...event, metadata: { usage: { input_tokens, output_tokens } } } : event,
      ),
    }));

  it.each([
    [500, 10, 510, "recorded", 510 / 1010, 0],
    [499, 10, 1010, "estimate", 1, 0],
    [101_000, 10, 101_010, "recorded", 1, 100_000],
    [101_001, 10, 1010, "estimate", 1, 0],
    [2000, 5, 2005, "recorded", 1, 995],
    [2000, 4, 2010, "recorded", 1, 1000],
  ])("of %d tokens, answered with %d, counts %d: %s", (input, output, tokens, source, factor, overhead) => {
    const meter = createTokenMeter(withUsage(input, output));
    expect(meter.countHistory()).toEqual({ tokens, source });
    expect(meter).toMatchObject({ calibration: null, factor, overhead });
  });

  it("counts what follows on top of the record", () => {
    const more = {
      type: "chat_request",
      id: "m",
      timestamp: "2026-01-02T00:00:00Z",
      content: "x".repeat(2000),
    } as const;
    const meter = createTokenMeter([...withUsage(2000, 10), { index: 1, events: [more] }]);
    expect(meter.countHistory()).toEqual({ tokens: 2510, source: "estimate" });
    expect(meter).toMatchObject({ factor: 1, overhead: 1000 });
  });
});

describe("createTokenMeter without usage", () => {
  const bare = turns.map(withoutMetadata);
  const typically = (typicalOverhead: number, list = bare): TokenMeter =>
    createFactsMeter({
      facts: list.map((turn) => turnFacts(turn)),
      turns: new Map(),
      typicalOverhead,
    });

  it("says whether system prompt and tools are counted, and by what", () => {
    expect(createTokenMeter(bare)).toMatchObject({ overhead: 0, overheadSource: "unknown", factor: 1 });
    const typical = typically(31_000);
    expect(typical).toMatchObject({ overhead: 31_000, overheadSource: "typical" });
    expect(typical.countHistory().tokens - createTokenMeter(bare).countHistory().tokens).toBe(31_000);
    expect(typically(31_000, turns).overheadSource).toBe("recorded");
  });

  it("counts as the model's tokenizer does", () => {
    const answered = bare.map(({ index, events }) => ({
      index,
      events: events.map((event) => ({ ...event, metadata: { model: "claude-opus-4-8" } }) as Event),
    }));
    expect(createTokenMeter(answered).factor).toBe(1.5);
  });
});

/** What the agent sent: 20,000 tokens in front of the view. */
const TURNS = meteredTurns({ factor: 1.5, overhead: 20_000, lengths: [4000, 4100, 4200, 4300, 4400, 4500] });
const FRAME: SentFrame = { system: "Speak of walls.", tools: [{ name: "tide" }] };

const sizeOf = (turns: readonly Turn[], frame: SentFrame | null): ReturnType<typeof sizeToSend> =>
  sizeToSend(createTokenMeter(turns), { view: projectTurns(turns, []), compactions: [] }, frame);

/** The same, as jpg keeps answers that it streamed itself. */
const asOwn = ({ index, events }: Turn): Turn => ({
  index,
  events: events.map((event) =>
    event.metadata?.usage === undefined
      ? event
      : ({ ...event, metadata: { ...event.metadata, response_id: "r1" } } as Event),
  ),
});

describe("sizeToSend", () => {
  it("puts what jpg sends in place of what the agent sent", () => {
    const agents = sizeOf(TURNS, null);
    expect(agents.overhead).toBeGreaterThan(19_000);
    const own = sizeOf(TURNS, FRAME);
    expect(own.overhead).toBe(countFrame(createTokenMeter(TURNS), FRAME));
    expect(own.tokens).toBe(agents.tokens - agents.overhead + own.overhead);
  });

  it("believes the provider where it counted a request of jpg's", () => {
    const own = TURNS.map(asOwn);
    expect(sizeOf(own, FRAME)).toEqual(sizeOf(own, null));
  });

  it("leaves out what is pruned: of jpg's own tools, and of what was counted before", () => {
    const tools = [{ name: "tide" }, { name: "wind" }];
    const pruning = (timestamp: string, tokens?: number) => ({
      ...makeCompaction("p", [0, 5], { tools: { policy: "prune", names: ["wind"], ...(tokens && { tokens }) } }),
      timestamp,
    });
    const sizeUnder = (turns: readonly Turn[], compaction: Compaction, frame: SentFrame | null) =>
      sizeToSend(
        createTokenMeter(turns),
        { view: projectTurns(turns, [compaction]), compactions: [compaction] },
        frame,
      );
    const now = pruning("2099-01-01T00:00:00Z", 500);
    expect(sizeUnder(TURNS, now, { system: "", tools })).toEqual(sizeOf(TURNS, { system: "", tools: [tools[0]!] }));
    const own = TURNS.map(asOwn);
    expect(sizeUnder(own, now, null)).toMatchObject({
      tokens: sizeOf(own, null).tokens - 500,
      overhead: sizeOf(own, null).overhead - 500,
    });
    // What was recorded since is without it; what an agent sends is not jpg's to prune.
    for (const other of [pruning("2020-01-01T00:00:00Z", 500), pruning("2099-01-01T00:00:00Z")])
      expect(sizeUnder(own, other, null)).toEqual(sizeOf(own, null));
  });

  it("grows with every tool and every word of the system prompt", () => {
    const frames = fc.record({ system: fc.string(), tools: fc.array(fc.record({ name: fc.string() })) });
    fc.assert(
      fc.property(frames, fc.string({ minLength: 8 }), ({ system, tools }, more) => {
        const { tokens } = sizeOf(TURNS, { system, tools });
        expect(sizeOf(TURNS, { system: `${system}${more}`, tools }).tokens).toBeGreaterThan(tokens);
        expect(sizeOf(TURNS, { system, tools: [...tools, { name: more }] }).tokens).toBeGreaterThan(tokens);
      }),
      { numRuns: runs(50) },
    );
  });
});

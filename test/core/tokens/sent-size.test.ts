// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { countFrame, type SentFrame, sizeToSend } from "../../../src/core/model/token-meter.ts";
import { makeCompaction } from "../../helpers/make-compaction.ts";
import { meteredTurns } from "../../helpers/metered-turns.ts";
import { runs } from "../../helpers/runs.ts";
import { createTokenMeter } from "../../helpers/token-meter.ts";

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

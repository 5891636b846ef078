import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/event.ts";
import { listSafeCuts } from "../../src/core/safe-cut.ts";
import { estimateEvents } from "../../src/core/token-estimate.ts";
import type { Turn } from "../../src/core/turn.ts";
import { type ChunkOptions, planChunks, planEvenChunks, type TurnChunk } from "../../src/core/turn-chunks.ts";
import { call, callTurns } from "../helpers/call-conversation.ts";
import { parseConversation } from "../helpers/notation.ts";
import { randomTurns } from "../helpers/random-conversation.ts";

const ten = (): number => 10;

/** `0..2 3:e3.1..3:e3.4`: each part in a word. */
function print(chunks: readonly TurnChunk[]): string {
  const end = (turn: number, event?: string): string => (event === undefined ? `${turn}` : `${turn}:${event}`);
  return chunks
    .map(({ from_turn, to_turn, from_event, to_event }) => `${end(from_turn, from_event)}..${end(to_turn, to_event)}`)
    .join(" ");
}

function eventsOf(chunk: TurnChunk, turns: readonly Turn[]): readonly Event[] {
  return turns.flatMap(({ index, events }) => {
    if (index < chunk.from_turn || index > chunk.to_turn) return [];
    const find = (id: string): number => events.findIndex((event) => event.id === id);
    const first = index === chunk.from_turn && chunk.from_event !== undefined ? find(chunk.from_event) : 0;
    const last = index === chunk.to_turn && chunk.to_event !== undefined ? find(chunk.to_event) : events.length - 1;
    return events.slice(first, last + 1);
  });
}

const options: fc.Arbitrary<ChunkOptions> = fc.record(
  {
    budgetTokens: fc.integer({ min: 0, max: 60 }),
    maxMessages: fc.integer({ min: 0, max: 6 }),
    boundaries: fc.constantFrom("auto" as const, "size" as const),
  },
  { requiredKeys: [] },
);

describe("planChunks", () => {
  it("ends parts where turns end", () => {
    const turns = parseConversation("U A | U A | U A | U A | U A");
    expect(print(planChunks(turns, { maxMessages: 4 }))).toBe("0..1 2..3 4..4");
  });

  it("cuts a turn that fits no part between messages, never between a call and its result", () => {
    const turns = parseConversation("U A | U T t A T T t t A T t A | U A");
    const chunks = planChunks(turns, { budgetTokens: 50, estimate: (event) => (event.type === "turn_start" ? 0 : 10) });
    expect(print(chunks)).toBe("0..0 1..1:e1.4 1:e1.5..1:e1.9 1:e1.10..2");
  });

  it("leaves a turn whole that fits a part of its own", () => {
    const turns = parseConversation("U A | U A A A A | U A");
    expect(print(planChunks(turns, { maxMessages: 5 }))).toBe("0..0 1..1 2..2");
  });

  it("makes one part where nothing limits it", () => {
    expect(print(planChunks(parseConversation("U A | U A")))).toBe("0..1");
  });

  it("makes no part of nothing", () => {
    expect(planChunks([])).toEqual([]);
    expect(planEvenChunks([], 3)).toEqual([]);
  });

  it("makes parts that follow each other, hold every event, and fit unless they cannot be cut", () => {
    fc.assert(
      fc.property(randomTurns, options, (turns, chosen) => {
        const chunks = planChunks(turns, chosen);
        expect(chunks.flatMap((chunk) => eventsOf(chunk, turns))).toEqual(turns.flatMap(({ events }) => events));
        for (const chunk of chunks) {
          const events = eventsOf(chunk, turns);
          expect(chunk.tokens).toBe(estimateEvents(events));
          const isOver =
            chunk.tokens > (chosen.budgetTokens ?? (chosen.boundaries === "auto" ? 50_000 : 1e9)) ||
            chunk.messages > (chosen.maxMessages ?? 1e9);
          if (!isOver) continue;
          expect(chunk.from_turn).toBe(chunk.to_turn);
          const visible = (list: readonly Event[]): number => estimateEvents(list);
          const inner = listSafeCuts(events).filter(
            (cut) => visible(events.slice(0, cut + 1)) > 0 && visible(events.slice(cut + 1)) > 0,
          );
          expect(inner).toEqual([]);
        }
      }),
    );
  });

  it("plans the same parts again", () => {
    fc.assert(
      fc.property(randomTurns, options, (turns, chosen) => {
        expect(planChunks(structuredClone(turns), chosen)).toEqual(planChunks(turns, chosen));
      }),
    );
  });
});

describe("planEvenChunks", () => {
  it("makes as many parts as asked for, of about the same size", () => {
    const turns = parseConversation(Array.from({ length: 12 }, () => "U A").join(" | "));
    expect(print(planEvenChunks(turns, 3, ten))).toBe("0..3 4..7 8..11");
  });

  it("never makes more", () => {
    fc.assert(
      fc.property(randomTurns, fc.integer({ min: 1, max: 8 }), (turns, parts) => {
        const chunks = planEvenChunks(turns, parts);
        expect(chunks.length).toBeLessThanOrEqual(parts);
        expect(chunks.flatMap((chunk) => eventsOf(chunk, turns))).toEqual(turns.flatMap(({ events }) => events));
      }),
    );
  });
});

describe("automatic boundaries", () => {
  const say = (topic: readonly string[], count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${topic[n % topic.length]} ${topic[(n + 1) % topic.length]}`);

  function talk(texts: readonly string[], hour: (turn: number) => number = (turn) => turn / 60): Turn[] {
    return texts.map((text, index) => {
      const timestamp = new Date(Date.UTC(2026, 0, 1) + hour(index) * 3_600_000).toISOString();
      return {
        index,
        events: [
          { type: "turn_start", id: `s${index}`, timestamp },
          { type: "chat_request", id: `u${index}`, timestamp, content: `${text} question` },
          { type: "chat_response", id: `a${index}`, timestamp, message: `${text} answer` },
        ] as Event[],
      };
    });
  }

  const parser = ["parser tokens grammar", "grammar lookahead tokens", "parser recursion grammar"];
  const deploy = ["kubernetes ingress cluster", "cluster rollout ingress", "kubernetes rollout helm"];

  it("ends a part where the topic changes", () => {
    const turns = talk([...say(parser, 9), ...say(deploy, 9)]);
    expect(print(planChunks(turns, { boundaries: "auto", maxMessages: 24 }))).toBe("0..8 9..17");
  });

  it("ends a part where somebody went away for a night", () => {
    const turns = talk(say(parser, 18), (turn) => turn / 60 + (turn >= 7 ? 12 : 0));
    expect(print(planChunks(turns, { boundaries: "auto", maxMessages: 24 }))).toBe("0..6 7..17");
  });

  it("ends a part where reading turns into writing", () => {
    const file = { file_path: "src/a.ts" };
    const reading = [call("Read", file), call("Grep", file)];
    const writing = [call("Edit", file), call("Write", file)];
    const turns = callTurns(...Array.from({ length: 16 }, (_, index) => (index < 8 ? reading : writing)));
    expect(print(planChunks(turns, { boundaries: "auto", maxMessages: 20 }))).toBe("0..7 8..15");
  });

  it("cuts ten thousand calls of one turn", () => {
    const [turn] = parseConversation(`U ${"T:Bash t A ".repeat(10_000)}`);
    const chunks = planChunks([turn!], { boundaries: "auto" });
    expect(chunks.length).toBeGreaterThan(190);
    expect(chunks.length).toBeLessThan(1000);
  });
});

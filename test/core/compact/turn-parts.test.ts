// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutEvenParts, cutParts, type PartOptions, type TurnPart } from "../../../src/core/compact/turn-parts.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { listSafeCuts } from "../../../src/core/conversation/tool-pairing.ts";
import { call, callTurns } from "../../helpers/call-conversation.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { randomTurns } from "../../helpers/random-conversation.ts";

const ten = (): number => 10;

/** `0..2 3:e3.1..3:e3.4`: each part in a word. */
function print(cuts: readonly TurnPart[]): string {
  const end = (turn: number, event?: string): string => (event === undefined ? `${turn}` : `${turn}:${event}`);
  return cuts
    .map(({ from_turn, to_turn, from_event, to_event }) => `${end(from_turn, from_event)}..${end(to_turn, to_event)}`)
    .join(" ");
}

function eventsOf(part: TurnPart, turns: readonly Turn[]): readonly Event[] {
  return turns.flatMap(({ index, events }) => {
    if (index < part.from_turn || index > part.to_turn) return [];
    const find = (id: string): number => events.findIndex((event) => event.id === id);
    const first = index === part.from_turn && part.from_event !== undefined ? find(part.from_event) : 0;
    const last = index === part.to_turn && part.to_event !== undefined ? find(part.to_event) : events.length - 1;
    return events.slice(first, last + 1);
  });
}

const options: fc.Arbitrary<PartOptions> = fc.record(
  {
    budgetTokens: fc.integer({ min: 0, max: 60 }),
    maxMessages: fc.integer({ min: 0, max: 6 }),
    boundaries: fc.constantFrom("auto" as const, "size" as const),
  },
  { requiredKeys: [] },
);

describe("cutParts", () => {
  it("ends parts where turns end", () => {
    const turns = parseConversation("U A | U A | U A | U A | U A");
    expect(print(cutParts(turns, { maxMessages: 4 }))).toBe("0..1 2..3 4..4");
  });

  it("cuts a turn that fits no part between messages, never between a call and its result", () => {
    const turns = parseConversation("U A | U T t A T T t t A T t A | U A");
    const cuts = cutParts(turns, { budgetTokens: 50, estimate: (event) => (event.type === "turn_start" ? 0 : 10) });
    expect(print(cuts)).toBe("0..0 1..1:e1.4 1:e1.5..1:e1.9 1:e1.10..2");
  });

  it("leaves a turn whole that fits a part of its own", () => {
    const turns = parseConversation("U A | U A A A A | U A");
    expect(print(cutParts(turns, { maxMessages: 5 }))).toBe("0..0 1..1 2..2");
  });

  it("weighs each part and names the events at which it is cut", () => {
    const turns = parseConversation("U A | U T t A A");
    const estimate = (event: Event): number => (event.type === "turn_start" ? 0 : 10);
    expect(cutParts(turns, { budgetTokens: 30, estimate })).toEqual([
      { from_turn: 0, to_turn: 0, tokens: 20, messages: 2 },
      { from_turn: 1, to_turn: 1, to_event: "e1.3", tokens: 30, messages: 1 },
      { from_turn: 1, to_turn: 1, from_event: "e1.4", tokens: 20, messages: 2 },
    ]);
  });

  const SEVEN = "A A A A A A A";
  it.each([
    ["a turn that just fits stays whole, though little stands before it", `U | U ${SEVEN}`, "0..0 1..1"],
    ["a turn that does not fit is added to what is too little for a part", `U | U ${SEVEN} A A`, "0..1:e1.7 1:e1.8..1"],
    ["a quarter of a part is enough to end it", `U A | U ${SEVEN} A A`, "0..0 1..1:e1.8 1:e1.9..1"],
    ["a turn of several messages is not cut for the next one", `U A A | U ${SEVEN}`, "0..0 1..1"],
    ["turns before it do not make a turn too large", `U ${SEVEN} | U | U ${SEVEN}`, "0..0 1..1 2..2"],
    ["the end of a turn is rather taken than a fuller part", `U A A | U ${SEVEN} A A`, "0..0 1..1:e1.8 1:e1.9..1"],
  ])("%s", (_what, notation, expected) => {
    const parts = expected.replace("1:..", "1..");
    const turns = parseConversation(notation);
    expect(print(cutParts(turns, { maxMessages: 8 }))).toBe(parts);
    const estimate = (event: Event): number => (event.type === "turn_start" ? 0 : 10);
    expect(print(cutParts(turns, { budgetTokens: 80, estimate }))).toBe(parts);
    expect(print(cutParts(turns, { budgetTokens: 80, maxMessages: 1000, estimate }))).toBe(parts);
    expect(print(cutParts(turns, { budgetTokens: 100_000, maxMessages: 8, estimate }))).toBe(parts);
  });

  it("makes one part where nothing limits it", () => {
    expect(print(cutParts(parseConversation("U A | U A")))).toBe("0..1");
  });

  it("makes no part of nothing", () => {
    expect(cutParts([])).toEqual([]);
    expect(cutEvenParts([], 3)).toEqual([]);
  });

  it("makes parts that follow each other, hold every event, and fit unless they cannot be cut", () => {
    fc.assert(
      fc.property(randomTurns, options, (turns, chosen) => {
        const cuts = cutParts(turns, chosen);
        expect(cuts.flatMap((part) => eventsOf(part, turns))).toEqual(turns.flatMap(({ events }) => events));
        for (const part of cuts) {
          const events = eventsOf(part, turns);
          expect(part.tokens).toBe(estimateEvents(events));
          const isOver =
            part.tokens > (chosen.budgetTokens ?? (chosen.boundaries === "auto" ? 50_000 : 1e9)) ||
            part.messages > (chosen.maxMessages ?? 1e9);
          if (!isOver) continue;
          expect(part.from_turn).toBe(part.to_turn);
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
        expect(cutParts(structuredClone(turns), chosen)).toEqual(cutParts(turns, chosen));
      }),
    );
  });
});

describe("cutEvenParts", () => {
  it("makes as many parts as asked for, of about the same size", () => {
    const turns = parseConversation(Array.from({ length: 12 }, () => "U A").join(" | "));
    expect(print(cutEvenParts(turns, 3, ten))).toBe("0..3 4..7 8..11");
  });

  it("takes the smallest budget that makes so few", () => {
    const one = (event: Event): number => (event.type === "chat_request" ? 1 : 0);
    const turns = parseConversation(Array.from({ length: 12 }, () => "U").join(" | "));
    const parts = (count: number): string => print(cutEvenParts(turns, count, one));
    expect(parts(3)).toBe("0..3 4..7 8..11");
    expect(parts(5)).toBe("0..2 3..5 6..8 9..11");
    expect(parts(1)).toBe("0..11");
    expect(parts(12)).toBe(turns.map(({ index }) => `${index}..${index}`).join(" "));
    expect(parts(99)).toBe(parts(12));
    expect(cutEvenParts(turns, 3, one)[0]).toEqual({ from_turn: 0, to_turn: 3, tokens: 4, messages: 4 });
  });

  it("makes one part of fractions of tokens", () => {
    const turns = parseConversation("U | U | U");
    expect(print(cutEvenParts(turns, 1, () => 0.2))).toBe("0..2");
  });

  it("never makes more", () => {
    fc.assert(
      fc.property(randomTurns, fc.integer({ min: 1, max: 8 }), (turns, parts) => {
        const cuts = cutEvenParts(turns, parts);
        expect(cuts.length).toBeLessThanOrEqual(parts);
        expect(cuts.flatMap((part) => eventsOf(part, turns))).toEqual(turns.flatMap(({ events }) => events));
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
    expect(print(cutParts(turns, { boundaries: "auto", maxMessages: 24 }))).toBe("0..8 9..17");
  });

  it("ends a part where somebody went away for a night", () => {
    const turns = talk(say(parser, 18), (turn) => turn / 60 + (turn >= 7 ? 12 : 0));
    expect(print(cutParts(turns, { boundaries: "auto", maxMessages: 24 }))).toBe("0..6 7..17");
  });

  it("ends a part where reading turns into writing", () => {
    const file = { file_path: "src/a.ts" };
    const reading = [call("Read", file), call("Grep", file)];
    const writing = [call("Edit", file), call("Write", file)];
    const turns = callTurns(...Array.from({ length: 16 }, (_, index) => (index < 8 ? reading : writing)));
    expect(print(cutParts(turns, { boundaries: "auto", maxMessages: 20 }))).toBe("0..7 8..15");
  });

  it("fills each part where nothing changes", () => {
    const turns = talk(Array.from({ length: 60 }, () => "parser tokens grammar"));
    expect(print(cutParts(turns.slice(0, 10), { boundaries: "auto", maxMessages: 8 }))).toBe("0..3 4..7 8..9");
    expect(print(cutParts(turns, { boundaries: "auto" }))).toBe("0..24 25..49 50..59");
    expect(print(cutParts(turns, { boundaries: "auto", estimate: () => 2500 }))).toBe(
      Array.from({ length: 10 }, (_, part) => `${part * 6}..${part * 6 + 5}`).join(" "),
    );
    expect(print(cutParts(turns, { boundaries: "auto", maxMessages: 120 }))).toBe("0..59");
    expect(print(cutParts(turns, { boundaries: "size", estimate: () => 2500 }))).toBe("0..59");
  });

  it("are found where no token is counted, or no message is among the events", () => {
    const turns = talk([...say(parser, 9), ...say(deploy, 9)]);
    const limits = { boundaries: "auto", maxMessages: 24 } as const;
    expect(print(cutParts(turns, { ...limits, budgetTokens: 0, estimate: () => 0 }))).toBe("0..8 9..17");
    const file = { file_path: "src/a.ts" };
    const work = callTurns(
      ...Array.from({ length: 16 }, (_, index) => [call(index < 8 ? "Read" : "Edit", file), call("Bash", {})]),
    ).map(({ index, events }) => ({ index, events: events.filter(({ type }) => !type.startsWith("chat_")) }));
    const calls = {
      boundaries: "auto",
      maxMessages: 0,
      estimate: (event: Event) => (event.type === "turn_start" ? 0 : 10),
    } as const;
    expect(print(cutParts(work, { ...calls, budgetTokens: 400 }))).toBe("0..7 8..15");
  });

  it("cuts ten thousand calls of one turn", () => {
    const [turn] = parseConversation(`U ${"T:Bash t A ".repeat(10_000)}`);
    const cuts = cutParts([turn!], { boundaries: "auto" });
    expect(cuts.length).toBeGreaterThan(190);
    expect(cuts.length).toBeLessThan(1000);
  });
});

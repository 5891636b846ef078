import { describe, expect, it } from "vitest";
import { listBlocks, scoreBoundaries } from "../../../src/core/compact/topics.ts";
import type { Event, Turn } from "../../../src/core/conversation/event.ts";
import { parseConversation, printConversation } from "../../helpers/notation.ts";
import { answer, call, request, result } from "../../helpers/sample-view.ts";

/** Scores to three places, one for each turn of one block. */
function scores(turns: readonly (readonly Event[])[]): readonly number[] {
  const blocks = turns.flatMap((events, index) => {
    const turn: Turn = { index, events };
    return [{ turn, first: 0, last: events.length - 1, tokens: 0, messages: 0, endsTurn: true }];
  });
  return scoreBoundaries(blocks).map((score) => Math.round(score * 1000) / 1000);
}

describe("scoreBoundaries", () => {
  describe("by pauses", () => {
    const minute = 60_000;
    const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();

    it.each([
      ["none for less than half an hour", 30 * minute - 1, 0],
      ["some for half an hour", 30 * minute, 0.15],
      ["some for less than four hours", 240 * minute - 1, 0.15],
      ["most for four hours", 240 * minute, 0.3],
      ["none for a clock that was put back", -600 * minute, 0],
    ])("counts %s", (_, pause, score) => {
      const day = 1440 * minute;
      const turns = [
        [request("a", "1"), { ...answer("b", "2"), timestamp: at(day) }],
        [{ ...request("c", "3"), timestamp: at(day + pause) }, answer("d", "4")],
      ];
      expect(scores(turns)).toEqual([score, 0]);
    });

    it("counts none for times that cannot be read", () => {
      expect(scores([[{ ...request("a", "1"), timestamp: "soon" }], [request("b", "2")]])).toEqual([0, 0]);
    });
  });

  describe("by the kind of work", () => {
    const look = [call("l", "Read", {})];
    const change = [call("c", "Edit", {})];
    const repair = [result("r", "x", "no", true)];
    const plain = [result("p", "x", "yes"), answer("a", "1")];
    const repeat = (count: number, events: readonly Event[]) => Array.from({ length: count }, () => events);

    it.each([
      ["looking turns into changing", look, change],
      ["changing turns into repairing", change, repair],
      ["repairing turns into looking", repair, look],
    ])("is highest where %s", (_, before, after) => {
      expect(scores([...repeat(4, before), ...repeat(4, after)])).toEqual([0, 0, 0.16, 0.2, 0.16, 0, 0, 0]);
    });

    it("compares twelve calls on each side, and needs three", () => {
      const twelfths = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0];
      expect(scores([...repeat(14, look), ...repeat(14, change)])).toEqual(
        twelfths.map((count) => Math.round((200 * count) / 12) / 1000),
      );
      expect(scores([...repeat(3, look), ...repeat(3, change)])).toEqual([0, 0, 0.2, 0, 0, 0]);
      expect(scores([...repeat(2, look), ...repeat(5, change)])).toEqual([0, 0, 0.133, 0.1, 0, 0, 0]);
    });

    it("skips what shows no kind", () => {
      const turns = [...repeat(3, look), plain, ...repeat(3, change)];
      expect(scores(turns)).toEqual([0, 0, 0.2, 0.2, 0, 0, 0]);
      expect(scores(repeat(8, plain))).toEqual(repeat(8, []).map(() => 0));
    });

    it("counts all calls of a block, and only those of the block", () => {
      const [turn] = [{ index: 0, events: [...look, ...look, ...look, ...change, ...change, ...change] }];
      const part = { turn, tokens: 0, messages: 0, endsTurn: false };
      expect(
        scoreBoundaries([
          { ...part, first: 0, last: 2 },
          { ...part, first: 3, last: 5 },
        ])[0],
      ).toBeCloseTo(0.2);
      expect(
        scoreBoundaries([
          { ...part, first: 0, last: 1 },
          { ...part, first: 3, last: 5 },
        ])[0],
      ).toBe(0);
    });
  });

  it("adds topics up with the rest", () => {
    const talk = (words: string, hour: number): Event[] => [
      { ...request("u", words), timestamp: new Date(Date.UTC(2026, 0, 1, hour)).toISOString() },
    ];
    const turns = [talk("parser", 0), talk("parser", 0), talk("cluster", 9), talk("cluster", 9)];
    expect(scores(turns)).toEqual([0, 0.524, 0, 0]);
    expect(scoreBoundaries(listBlocks([], () => 0))).toEqual([]);
  });
});

const one = (): number => 1;

/** The events of each block in notation; `/` after one that ends its turn. */
function blocksOf(notation: string): string {
  return listBlocks(parseConversation(notation), one)
    .map(({ turn, first, last, endsTurn }) => {
      const events = turn.events.slice(first, last + 1);
      return printConversation([{ index: 0, events }]).replace("^ ", "") + (endsTurn ? " /" : "");
    })
    .join(" ; ");
}

describe("listBlocks", () => {
  it("cuts turns between messages, never between a call and its result", () => {
    expect(blocksOf("U A T t A | U")).toBe("U ; A ; T t ; A / ; U /");
    expect(blocksOf("U T T t t A")).toBe("U ; T T t t ; A /");
  });

  it("keeps what no model sees with what precedes it, or at the beginning with what follows", () => {
    expect(blocksOf("N U N N A N N")).toBe("N U ; N N A N N /");
    expect(blocksOf("N N")).toBe("N N /");
    expect(blocksOf("U")).toBe("U /");
    expect(blocksOf("^ U A")).toBe("U ; A /");
  });

  it("says which events of the turn a block has, what they weigh, and how many of them are messages", () => {
    const [turn] = parseConversation("U Q T t R A S");
    const weigh = ({ type }: Event): number => (type === "turn_start" ? 0 : 7);
    expect(listBlocks([turn!], weigh)).toEqual([
      { turn, first: 0, last: 1, tokens: 7, messages: 1, endsTurn: false },
      { turn, first: 2, last: 2, tokens: 7, messages: 1, endsTurn: false },
      { turn, first: 3, last: 4, tokens: 14, messages: 0, endsTurn: false },
      { turn, first: 5, last: 5, tokens: 7, messages: 0, endsTurn: false },
      { turn, first: 6, last: 6, tokens: 7, messages: 1, endsTurn: false },
      { turn, first: 7, last: 7, tokens: 7, messages: 0, endsTurn: true },
    ]);
  });

  it("makes none of a turn without events", () => {
    expect(listBlocks([{ index: 0, events: [] }], one)).toEqual([]);
  });
});

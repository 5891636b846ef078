import { describe, expect, it } from "vitest";
import { listBlocks } from "../../../src/core/compact/topics.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { parseConversation, printConversation } from "../../helpers/notation.ts";

const one = (): number => 1;

/** The events of each block, as they are noted; `/` behind one that ends its turn. */
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

  it("leaves what no model sees with what stands before it, or behind it at the beginning", () => {
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

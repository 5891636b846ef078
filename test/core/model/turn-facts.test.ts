// What is counted of a turn and what is not.

import { expect, it } from "vitest";
import { isMessage } from "../../../src/core/conversation/event.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { turnFacts } from "../../../src/core/model/usage.ts";
import { parseConversation } from "../../helpers/notation.ts";

it("counts turn_starts and notes as events, but no unknown kinds, and neither reasoning nor harness requests as messages", () => {
  const turns = parseConversation("U R T t A N X | S Q D A");
  expect(turns.map((turn) => turnFacts(turn).events)).toEqual([7, 5]);
  expect(turns.flatMap(({ events }) => events).filter(isMessage)).toHaveLength(4);
  expect(turns.map((turn) => turnFacts(turn).messages)).toEqual([2, 2]);
});

it("names each tool that is called once", () => {
  const turns = parseConversation("U T:grep t T:read t T:grep t | U A");
  expect(turns.map((turn) => turnFacts(turn).tools)).toEqual([["grep", "read"], []]);
});

it("names each tool that is defined once, and of no turn that defines none", () => {
  const delta = (...tools: readonly unknown[]) =>
    ({ type: "config_delta", id: "d", timestamp: "", delta: { tools } }) as const;
  const facts = [[delta("ls", "cat"), delta("ls", { name: "make" })], [delta("ls", "rm")], [delta()]].map(
    (events, index) => turnFacts({ index, events }),
  );
  expect(facts.map(({ defines }) => defines)).toEqual([["ls", "cat", "make"], ["ls", "rm"], undefined]);
});

it("counts the tokens of all events, by kind too", () => {
  for (const turn of parseConversation("U R T t A N X | S Q D A")) {
    const { tokens, kinds } = turnFacts(turn);
    expect(tokens).toBe(estimateEvents(turn.events));
    expect(Object.values(kinds).reduce((sum, count) => sum + count, 0)).toBe(tokens);
  }
});

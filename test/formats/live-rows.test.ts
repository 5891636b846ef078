// @module-tag law
// A view as the messages of a running agent: everything that a model is sent is in them, once and in order, and what the agent still
// has of its own is only named.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Event, Turn, View } from "../../src/core/conversation/event.ts";
import { project } from "../../src/core/conversation/projection.ts";
import { type LiveRow, liveRows } from "../../src/formats/live-rows.ts";
import { parseConversation } from "../helpers/notation.ts";
import { randomConversation } from "../helpers/random-conversation.ts";

const plain = (turns: readonly Turn[]): View => ({
  turns: turns.map(({ index, events }) => ({ origin: { kind: "kept", turn: index }, events })),
});

/** Rows as one word each: `=id` kept, else texts, calls and results. */
function words(rows: readonly LiveRow[]): string[] {
  return rows.map((row) => {
    if ("handle" in row) return `=${row.handle}`;
    const calls = row.toolUses.map(({ tool_use_id }) => `T:${tool_use_id}`);
    const results = (row.toolResults ?? []).map(({ tool_use_id, isError }) => `t:${tool_use_id}${isError ? "!" : ""}`);
    return [row.role, ...(row.text === "" ? [] : [row.text.split("\n").join(" / ")]), ...calls, ...results].join(" ");
  });
}

function rowsOf(notation: string, { inLoop = false, has = (_: Event): boolean => true } = {}): string[] {
  const turns = parseConversation(notation);
  const events = turns.flatMap((turn) => turn.events);
  const handles = new Set(events.filter(has).map(({ id }) => id));
  const unchanged = new Set(events.map(({ id }) => id));
  return words(liveRows(plain(turns), { handles, handleOf: (event) => event, unchanged, before, inLoop }));
}

const before = (): undefined => undefined;

const MIND = (event: number): string => `user mind e0.${event}`;
const hidden = (event: Event): Event =>
  event.metadata?.["origin"] === "harness"
    ? ({ ...event, metadata: { ...event.metadata, is_meta: true } } as Event)
    : event;
const isRequest = ({ type }: Event): boolean => type === "chat_request";

describe("the rows of a view", () => {
  it("keep requests by name and build answers and results, without reasoning", () => {
    expect(rowsOf("U R A T t A | U A", { has: isRequest })).toEqual([
      "=e0.1",
      "assistant say e0.3",
      "assistant T:c1",
      "user t:c1",
      "assistant say e0.6",
      "=e1.1",
      "assistant say e1.2",
    ]);
  });

  it("build a request that the agent no longer has", () => {
    expect(rowsOf("U A", { has: () => false })).toEqual(["user ask e0.1", "assistant say e0.2"]);
  });

  it("leave out what the harness adds, unless the agent has a row of it", () => {
    expect(rowsOf("U S A", { has: ({ id }) => id === "e0.1" })).toEqual(["=e0.1", "assistant say e0.3"]);
    expect(rowsOf("U S A", { has: isRequest })).toEqual(["=e0.1", "=e0.2", "assistant say e0.3"]);
  });

  it.each([
    [
      "drops them with the row before them",
      "U T t S A",
      ["e0.1", "e0.3"],
      ["=e0.1", "assistant T:c1", "user t:c1", MIND(4)],
    ],
    ["keeps them with the row before them", "U S A", ["e0.1"], ["=e0.1"]],
    ["keeps them at the start of its context", "S U A", ["e0.2"], ["=e0.2"]],
    ["has no row of them", "U S A", [], ["user ask e0.1", MIND(2)]],
  ])("build the hidden words of the harness unless the agent adds them: it %s", (_, notation, kept, expected) => {
    const turns = parseConversation(notation).map((turn) => ({ ...turn, events: turn.events.map(hidden) }));
    const events = turns.flatMap((turn) => turn.events).filter(({ type }) => type !== "turn_start");
    const handleOf = (event: string): string | undefined => (kept.length === 0 ? undefined : event);
    const previous = new Map(events.map(({ id }, at) => [id, events[at - 1]?.id]));
    const known = { handles: new Set(kept), handleOf, unchanged: new Set(events.map(({ id }) => id)) };
    const rows = liveRows(plain(turns), { ...known, before: (event) => previous.get(event), inLoop: false });
    expect(words(rows).slice(0, -1)).toEqual(expected);
  });

  it("answer a call that has no result", () => {
    expect(rowsOf("U T | U A", { has: isRequest })).toEqual([
      "=e0.1",
      "assistant T:c1",
      "user t:c1!",
      "=e1.1",
      "assistant say e1.2",
    ]);
  });

  it("join the results of calls in a row, and errors stay errors", () => {
    expect(rowsOf("U T t T t! A", { has: isRequest })).toEqual([
      "=e0.1",
      "assistant T:c1",
      "user t:c1",
      "assistant T:c2",
      "user t:c2!",
      "assistant say e0.6",
    ]);
  });

  it("in the middle of a turn, keep that turn's answers whole: their reasoning is wanted back", () => {
    expect(rowsOf("U R A | U R A T t", { inLoop: true })).toEqual([
      "=e0.1",
      "assistant say e0.3",
      "=e1.1",
      "=e1.2",
      "=e1.3",
      "=e1.4",
      "user t:c1",
    ]);
  });

  it("name the newest copy of a row", () => {
    const turns = parseConversation("U A");
    const context = { handles: new Set(["copy"]), unchanged: new Set(["e0.1"]), before, inLoop: false };
    const handleOf = (event: string): string | undefined => (event === "e0.1" ? "copy" : undefined);
    expect(words(liveRows(plain(turns), { ...context, handleOf }))).toEqual(["=copy", "assistant say e0.2"]);
  });

  it("build a request that a compaction changed, although the agent has its row", () => {
    const turns = parseConversation("U A");
    const context = { handles: new Set(["e0.1"]), unchanged: new Set<string>(), before, inLoop: false };
    expect(words(liveRows(plain(turns), { ...context, handleOf: (event) => event }))).toEqual([
      "user ask e0.1",
      "assistant say e0.2",
    ]);
  });
});

describe("laws of the rows", () => {
  it("hold every request, text and call of the view once, in order, and a result for each call", () => {
    fc.assert(
      fc.property(randomConversation, fc.boolean(), fc.boolean(), ({ turns, compactions }, hasRows, inLoop) => {
        const view = project({
          turnCount: turns.length,
          turns: new Map(turns.map((turn) => [turn.index, turn])),
          compactions,
        });
        const raw = new Map(turns.flatMap(({ events }) => events.map((event) => [event.id, event] as const)));
        const shown = view.turns.flatMap(({ events }) => events);
        const unchanged = new Set(shown.filter((event) => raw.get(event.id) === event).map(({ id }) => id));
        const handles = new Set(hasRows ? raw.keys() : []);
        const rows = liveRows(view, { handles, handleOf: (event) => event, unchanged, before, inLoop });
        const given = rows.flatMap((row): string[] => {
          if ("handle" in row) return [`id ${row.handle}`];
          const texts = row.role === "user" && row.toolResults !== undefined ? [] : [`text ${row.role}`];
          return [...(row.text === "" ? [] : texts), ...row.toolUses.map(({ tool_use_id }) => `call ${tool_use_id}`)];
        });
        const expected = shown.flatMap((event): string[] => {
          if (event.type === "tool_call_request") return [`call ${event.call_id}`, `id ${event.id}`];
          if (event.type === "chat_response" && typeof event.message === "string")
            return ["text assistant", `id ${event.id}`];
          if (event.type === "chat_response") return [`id ${event.id}`];
          return event.type === "chat_request" ? ["text user", `id ${event.id}`] : [];
        });
        // Every row comes from the view, in its order.
        let at = -1;
        for (const word of given) {
          at = expected.indexOf(word, at + 1);
          expect(at).toBeGreaterThanOrEqual(0);
        }
        const calls = shown.filter(({ type }) => type === "tool_call_request").length;
        const built = rows.flatMap((row) => ("handle" in row ? [] : row.toolUses));
        const kept = rows.filter((row) => "handle" in row && raw.get(row.handle)?.type === "tool_call_request");
        expect(built.length + kept.length).toBe(calls);
        const results = rows.flatMap((row) => ("handle" in row ? [] : (row.toolResults ?? [])));
        expect(results.length).toBeGreaterThanOrEqual(built.length);
      }),
    );
  });
});

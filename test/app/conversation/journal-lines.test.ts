// @module-tag law
// A journal replays from any of its beginnings, wherever a crash cut it.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  formatJournalLine,
  type JournalHead,
  type JournalLine,
  replayJournal,
} from "../../../src/app/conversation/journal.ts";
import type { ChatResponse, Event } from "../../../src/core/conversation/event.ts";

const HEAD: JournalHead = {
  journal: 1,
  branch: "pier-k3f9/main",
  turn: 3,
  start: "e0",
  parent: "a".repeat(40),
  prev: "b".repeat(40),
  writer: { pid: 4711, started: "99", place: "here" },
};
const timestamp = "2026-05-01T12:00:00.000Z";

/** What is written of one event: a text in pieces and then whole, or an event at once, perhaps written again. */
const writtenEvent = fc.oneof(
  fc.record({
    kind: fc.constantFrom("message" as const, "reasoning" as const),
    pieces: fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 }),
    again: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("call" as const), pieces: fc.constant([]), again: fc.boolean() }),
);

interface Written {
  readonly lines: readonly JournalLine[];
  readonly event: Event;
}

function write(
  { kind, pieces, again }: { kind: string; pieces: readonly string[]; again: boolean },
  index: number,
): Written {
  const base = { id: `e${index}`, timestamp };
  if (kind === "call") {
    const event: Event = { type: "tool_call_request", ...base, call_id: "c", name: "ls", arguments: {} };
    return { lines: [{ event }, ...(again ? [{ event }] : [])], event };
  }
  const event = { type: "chat_response", ...base, [kind]: pieces.join(""), metadata: { model: "m" } } as ChatResponse;
  const open = { ...event, [kind]: "" } as ChatResponse;
  const usage = { ...event, metadata: { model: "m", usage: { input: 1 } } } as ChatResponse;
  const deltas = pieces.map((delta) => ({ delta, id: event.id }));
  return {
    lines: [{ open }, ...deltas, { event }, ...(again ? [{ event: usage }] : [])],
    event: again ? usage : event,
  };
}

const journal = fc.array(writtenEvent, { maxLength: 6 }).map((specs) => {
  const written = specs.map(write);
  return { lines: written.flatMap(({ lines }) => lines), events: written.map(({ event }) => event) };
});

const textOf = (event: Event | undefined): string => {
  const { message, reasoning } = (event ?? {}) as ChatResponse;
  return String(message ?? reasoning ?? "");
};
const withoutMetadata = (event: Event | undefined): object => ({ ...event, metadata: undefined });

describe("a journal", () => {
  it("replays to its events", () => {
    fc.assert(
      fc.property(journal, ({ lines, events }) => {
        const text = [HEAD, ...lines, { complete: true as const }].map(formatJournalLine).join("");
        expect(replayJournal(text)).toEqual({ head: HEAD, events, isComplete: true });
      }),
    );
  });

  it("cut at any byte replays to the beginning of its events; what streamed is marked and begins the whole text", () => {
    fc.assert(
      fc.property(journal, fc.double({ min: 0, max: 1, noNaN: true }), ({ lines, events }, at) => {
        const bytes = Buffer.from([HEAD, ...lines].map(formatJournalLine).join(""));
        const replay = replayJournal(bytes.subarray(0, Math.floor(at * bytes.length)).toString("utf8"));
        if (replay === null) return;
        expect(replay.isComplete).toBe(false);
        for (const [index, event] of replay.events.entries()) {
          const whole = events.find(({ id }) => id === event.id);
          if (event.metadata?.["interrupted"] === true) {
            // What nothing came of is left out, so only the last one may be unfinished.
            expect(index).toBe(replay.events.length - 1);
            expect(textOf(event)).not.toBe("");
            expect(textOf(whole).startsWith(textOf(event))).toBe(true);
          } else expect(withoutMetadata(event)).toEqual(withoutMetadata(whole));
        }
        const ids = events.map(({ id }) => id).filter((id) => replay.events.some((event) => event.id === id));
        expect(replay.events.map(({ id }) => id)).toEqual(ids);
      }),
    );
  });

  it("written twice over replays to the same", () => {
    fc.assert(
      fc.property(journal, ({ lines }) => {
        const once = [HEAD, ...lines].map(formatJournalLine).join("");
        const twice =
          once +
          lines
            .filter((line) => "event" in line)
            .map(formatJournalLine)
            .join("");
        expect(replayJournal(twice)).toEqual(replayJournal(once));
      }),
    );
  });

  it("holds what its last head says", () => {
    const moved = { ...HEAD, turn: 4, prev: "c".repeat(40) };
    expect(replayJournal(formatJournalLine(HEAD) + formatJournalLine(moved))?.head).toEqual(moved);
  });

  it("ends at an invalid line", () => {
    const { lines, event } = write({ kind: "message", pieces: ["a"], again: false }, 1);
    const text = [HEAD, ...lines].map(formatJournalLine).join("");
    for (const damage of ["\0\0\0\n", "{}\n", '{"event":{"type":"chat_request","id":"x"}}\n', "[1]\n"]) {
      expect(replayJournal(`${text}${damage}${formatJournalLine({ complete: true })}`)).toEqual({
        head: HEAD,
        events: [event],
        isComplete: false,
      });
    }
    expect(replayJournal("")).toBeNull();
    expect(replayJournal('{"journal":2}\n')).toBeNull();
    expect(replayJournal(formatJournalLine(HEAD).trimEnd())).toBeNull();
  });
});

it("a head that jpg did not write is refused, since what it names would reach git and processes", () => {
  const strange = [
    { writer: null },
    { writer: { pid: "1", started: "1", place: "x" } },
    { parent: `${"a".repeat(40)}\nreset refs/heads/x` },
    { prev: "--all" },
    { turn: -1 },
    { root: { format: 1 } },
  ];
  for (const changed of strange) {
    const line = JSON.stringify({ ...HEAD, ...changed });
    expect([changed, replayJournal(`${line}\n`)]).toEqual([changed, null]);
  }
  expect(replayJournal(formatJournalLine(HEAD))?.head).toEqual(HEAD);
});

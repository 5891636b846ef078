// @module-tag law
// What holds of every conversation: all is found in all, nothing in nothing, never less in more, and in context never more than
// anywhere.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { figuresOf, findInsane } from "../../../bench/hindsight/figures.ts";
import { measureRow, openCut } from "../../../bench/hindsight/measure.ts";
import { listNeededFacts } from "../../../bench/hindsight/needed-facts.ts";
import { expectRandom } from "../../../bench/hindsight/random-drops.ts";
import { ROWS } from "../../../bench/hindsight/rows.ts";
import { readView } from "../../../bench/hindsight/score.ts";
import { visibleEvents } from "../../../bench/hindsight/stretch.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { estimateEvent, estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { runs } from "../../helpers/runs.ts";
import { type Said, saidEvents, saidTurns } from "../../helpers/said-events.ts";

const word = fc.constantFrom(
  "openTill",
  "closeTill",
  "src/till.ts",
  "till.ts",
  "app/src/till.ts",
  "a1b2c3d",
  "a1b2c3d4e5",
  "4096",
  "the",
  "drawer",
  "is stuck\n",
  "Error: the drawer of the till is stuck\n",
);
const words = fc.array(word, { maxLength: 12 }).map((list) => list.join(" "));
const said: fc.Arbitrary<Said> = fc.oneof(
  words.map((user) => ({ user })),
  words.map((harness) => ({ harness })),
  words.map((agent) => ({ agent })),
  words.map((thought) => ({ thought })),
  fc
    .tuple(fc.constantFrom("Read", "Bash", "Edit"), words, words, fc.boolean())
    .map(([call, command, result, fails]) => ({
      call,
      args: { file_path: "src/till.ts", command },
      result,
      ...(fails && { failed: true as const }),
    })),
);
const conversation = fc.record({
  past: fc.array(said, { minLength: 1, maxLength: 12 }),
  future: fc.array(said, { minLength: 1, maxLength: 12 }),
});

/** What hindsight knows of a conversation. */
function evidenceOf({ past, future }: { readonly past: readonly Said[]; readonly future: readonly Said[] }) {
  const reader = createFactReader();
  const events = saidEvents(past, "p");
  return { past: events, reader, facts: listNeededFacts({ past: events, future: saidEvents(future, "f") }, reader) };
}

describe("views", () => {
  it("show all when they are the past, and nothing when they are empty", () => {
    fc.assert(
      fc.property(conversation, (drawn) => {
        const evidence = evidenceOf(drawn);
        const all = evidence.facts.map((_, position) => position);
        const raw = readView(evidence.past, evidence);
        expect([...raw.anywhere].sort((a, b) => a - b)).toEqual(all);
        expect([...raw.inContext].sort((a, b) => a - b)).toEqual(all);
        expect(readView([], evidence).anywhere.size).toBe(0);
      }),
    );
  });

  it("never show less for an event more", () => {
    fc.assert(
      fc.property(conversation, fc.infiniteStream(fc.constantFrom(0, 1, 2)), (drawn, choices) => {
        const evidence = evidenceOf(drawn);
        const levels = evidence.past.map(() => choices.next().value as number);
        const [small, large] = [1, 2].map((level) =>
          readView(
            evidence.past.filter((_, at) => (levels[at] ?? 0) < level),
            evidence,
          ),
        );
        for (const fact of small!.anywhere) expect(large!.anywhere.has(fact)).toBe(true);
        for (const fact of small!.inContext) expect(large!.inContext.has(fact)).toBe(true);
      }),
    );
  });

  it("never show more in context than anywhere, whatever stands in an event's place", () => {
    fc.assert(
      fc.property(conversation, words, fc.nat(), (drawn, text, at) => {
        const evidence = evidenceOf(drawn);
        const place = evidence.past[at % evidence.past.length]!;
        const stands: Event = { type: "chat_response", id: place.id, timestamp: place.timestamp, message: text };
        const { anywhere, inContext } = readView([stands], evidence);
        for (const fact of inContext) expect(anywhere.has(fact)).toBe(true);
      }),
    );
  });
});

describe("needed facts", () => {
  it("stand in the past where it is said that they do, each once", () => {
    fc.assert(
      fc.property(conversation, (drawn) => {
        const { past, reader, facts } = evidenceOf(drawn);
        expect(new Set(facts.map(({ fact }) => fact)).size).toBe(facts.length);
        for (const { fact, sources } of facts) {
          expect(sources.length).toBeGreaterThan(0);
          for (const [at, event] of past.entries()) {
            const text = fact.slice(fact.indexOf(" ") + 1);
            const stands = fact.startsWith("error ")
              ? reader.text(event).includes(text)
              : reader.shown(event).has(fact);
            expect(sources.includes(at)).toBe(stands);
          }
        }
      }),
    );
  });
});

describe("chance", () => {
  it("shows all facts in all tokens, and between none and all in fewer", () => {
    fc.assert(
      fc.property(conversation, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, share) => {
        const { past, facts } = evidenceOf(drawn);
        const read = expectRandom(facts, { past, count: estimateEvent });
        expect(read(estimateEvents(past))).toBe(facts.length);
        expect(read(share * estimateEvents(past))).toBeGreaterThanOrEqual(0);
        expect(read(share * estimateEvents(past))).toBeLessThanOrEqual(facts.length);
      }),
    );
  });
});

describe("rows", () => {
  const long = fc.record({
    turns: fc.array(fc.array(said, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 }),
    future: fc.array(said, { minLength: 1, maxLength: 6 }),
  });

  it("pass the checks on any conversation: raw shows all, nothing shows nothing, no count is impossible", {
    tags: ["slow"],
  }, () => {
    fc.assert(
      fc.property(long, ({ turns: lists, future }) => {
        const turns = saidTurns([{ user: "openTill src/till.ts 4096" }], ...lists, [{ agent: "x ".repeat(22_000) }]);
        const session = { name: "invented", agent: "pi", turns, compactions: [] };
        const events = saidEvents([...future, { agent: "openTill" }], "f");
        const cut = { session, name: "invented", turns, past: visibleEvents(turns), future: events };
        const open = openCut(cut);
        for (const row of ROWS) {
          const { tokens, all, needles } = measureRow(row, open);
          for (const counts of [all, needles]) {
            expect(counts.shown + counts.hidden).toBe(counts.needed);
            expect(counts.inContext).toBeLessThanOrEqual(counts.shown);
            for (const found of Object.values(counts.found)) expect(found).toBeLessThanOrEqual(counts.hidden);
          }
          expect(tokens).toBeGreaterThanOrEqual(0);
        }
        const figures = ["raw", "nothing"].map((name) => {
          const row = ROWS.find((candidate) => candidate.name === name)!;
          return figuresOf(row, [[measureRow(row, open)]], estimateEvents(cut.past));
        });
        if (open.needles.size > 0 && open.facts.length > 0) expect(findInsane(figures)).toEqual([]);
      }),
      { numRuns: runs(25) },
    );
  });
});

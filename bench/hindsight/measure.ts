// Measures every row at every cut, and adds the counts up: what a row shows of what was needed, against what chance and masking
// show at its size.
import { rankWeight } from "../../src/app/look/search.ts";
import type { Event } from "../../src/core/conversation/event.ts";
import { estimateEvent } from "../../src/core/conversation/token-estimate.ts";
import { type CountTokens, maskingCurve } from "./baselines.ts";
import type { Cut } from "./cut.ts";
import { createFactReader, type FactReader } from "./fact-reader.ts";
import { isNeedle, listNeededFacts, type NeededFact } from "./needed-facts.ts";
import { expectRandom } from "./random-drops.ts";
import { FIRST_HITS, type Recovery, searchFacts } from "./recovery.ts";
import type { Row } from "./rows.ts";
import { readView } from "./score.ts";
import { staleTokens } from "./stale.ts";

/** Counts of a row at one cut; all of them add up over cuts. */
export interface RowCounts {
  readonly tokens: number;
  /** Of the view that are content of a file which was changed later. */
  readonly staleTokens: number;
  readonly all: FactCounts;
  readonly needles: FactCounts;
}

/** Numbers of facts; those that chance and masking show are expected ones. */
export interface FactCounts {
  readonly needed: number;
  readonly shown: number;
  readonly inContext: number;
  /** Shown by as many tokens chosen at random. */
  readonly random: number;
  /** Shown by masking results, of as many tokens. */
  readonly masked: number;
  /** Not shown, and of them found again by search. */
  readonly hidden: number;
  readonly found: Readonly<Record<Way, number>>;
}

/** A way to search. */
export type Way = "asPhrase" | "byRarestWord" | "ranked";

/** A cut with what hindsight knows of it: worked out once for all rows. */
export interface OpenCut {
  readonly cut: Cut;
  readonly reader: FactReader;
  readonly count: CountTokens;
  readonly facts: readonly NeededFact[];
  readonly needles: ReadonlySet<number>;
  readonly recoveries: readonly Recovery[];
  readonly expected: Readonly<Record<"all" | "needles", { readonly random: ReadSize; readonly masked: ReadSize }>>;
}

type ReadSize = (size: number) => number;

/** Works out what was needed. */
export function openCut(cut: Cut): OpenCut {
  const reader = createFactReader(cut.session.cwd);
  const count = countOnce();
  const facts = listNeededFacts(cut, reader);
  const expect = (some: readonly NeededFact[]) => ({
    random: expectRandom(some, { past: cut.past, count }),
    masked: maskingCurve(some, cut.past, count),
  });
  return {
    cut,
    reader,
    count,
    facts,
    needles: new Set(facts.flatMap((fact, position) => (isNeedle(fact) ? [position] : []))),
    recoveries: searchFacts(cut, facts, reader),
    expected: { all: expect(facts), needles: expect(facts.filter(isNeedle)) },
  };
}

/** Measures a row at a cut. */
export function measureRow({ view }: Pick<Row, "view">, open: OpenCut): RowCounts {
  const { cut, reader, count, facts, needles, recoveries, expected } = open;
  const events = view({ turns: cut.turns, past: cut.past, reader, count });
  const tokens = events.reduce((sum, event) => sum + count(event), 0);
  const { anywhere, inContext } = readView(events, { past: cut.past, facts, reader });
  const standing = new Set(events);
  const weigh = (at: number): number => {
    const event = cut.past[at] as Event;
    return rankWeight(event.type, standing.has(event) ? "shown" : "hidden");
  };
  const isRanked = (position: number): boolean => {
    const hits = recoveries[position]?.rank(weigh, FIRST_HITS) ?? [];
    return hits.some((at) => facts[position]?.sources.includes(at));
  };
  const counts = (positions: readonly number[], { random, masked }: OpenCut["expected"]["all"]): FactCounts => {
    const hidden = positions.filter((position) => !anywhere.has(position));
    const found = (way: Exclude<Way, "ranked">): number =>
      hidden.filter((position) => recoveries[position]?.[way]).length;
    return {
      needed: positions.length,
      shown: positions.length - hidden.length,
      inContext: positions.filter((position) => inContext.has(position)).length,
      random: random(tokens),
      masked: masked(tokens),
      hidden: hidden.length,
      found: {
        asPhrase: found("asPhrase"),
        byRarestWord: found("byRarestWord"),
        ranked: hidden.filter(isRanked).length,
      },
    };
  };
  return {
    tokens,
    staleTokens: staleTokens(events, cut.turns, count),
    all: counts([...facts.keys()], expected.all),
    needles: counts([...needles], expected.needles),
  };
}

/** Adds counts up. */
export function sumCounts(counts: readonly RowCounts[]): RowCounts {
  const sum = (read: (one: RowCounts) => number): number => counts.reduce((total, one) => total + read(one), 0);
  const facts = (which: "all" | "needles"): FactCounts => ({
    needed: sum((one) => one[which].needed),
    shown: sum((one) => one[which].shown),
    inContext: sum((one) => one[which].inContext),
    random: sum((one) => one[which].random),
    masked: sum((one) => one[which].masked),
    hidden: sum((one) => one[which].hidden),
    found: {
      asPhrase: sum((one) => one[which].found.asPhrase),
      byRarestWord: sum((one) => one[which].found.byRarestWord),
      ranked: sum((one) => one[which].found.ranked),
    },
  });
  return {
    tokens: sum(({ tokens }) => tokens),
    staleTokens: sum((one) => one.staleTokens),
    all: facts("all"),
    needles: facts("needles"),
  };
}

/** Estimates each event once. */
function countOnce(): CountTokens {
  const known = new WeakMap<Event, number>();
  return (event) => {
    const tokens = known.get(event) ?? estimateEvent(event);
    known.set(event, tokens);
    return tokens;
  };
}

// What dropping events at random would have kept, at any size: the height from which a view has to be judged, for whoever keeps half
// of a conversation blindly keeps about half of what is needed.
import type { Event } from "../../src/core/conversation/event.ts";
import { createCurve, factsByEvent, type ReadCurve } from "./curve.ts";
import type { NeededFact } from "./needed-facts.ts";
import { createRandom } from "./random.ts";

/** The five draws that are averaged, fixed: the same session gives the same numbers. */
export const SEEDS: readonly number[] = [11, 23, 37, 53, 71];

/** What is dropped from. */
export interface DropFacts {
  readonly past: readonly Event[];
  /** Tokens of an event. */
  readonly count: (event: Event) => number;
  readonly seeds?: readonly number[];
}

/** Gives how many of some needed facts are left, on the average of the draws, where events are dropped until a size is reached. */
export function expectRandom(facts: readonly NeededFact[], { past, count, seeds = SEEDS }: DropFacts): ReadCurve {
  const held = factsByEvent(facts, past);
  const curves = seeds.map((seed) =>
    createCurve(
      shuffle(past.length, seed).map((at) => ({
        tokens: count(past[at] as Event),
        facts: held[at] as readonly number[],
      })),
    ),
  );
  return (size) => curves.reduce((sum, read) => sum + read(size), 0) / curves.length;
}

/** The positions from 0 to `length` - 1 in an order that the seed alone decides. */
export function shuffle(length: number, seed: number): readonly number[] {
  const order = Array.from({ length }, (_, position) => position);
  const random = createRandom(seed);
  for (let last = length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] as number, order[last] as number];
  }
  return order;
}

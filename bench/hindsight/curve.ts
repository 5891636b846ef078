// How many of some facts are shown as a view grows piece by piece: read at a size, it says what that way of choosing keeps there.
import type { Event } from "../../src/core/conversation/event.ts";
import type { NeededFact } from "./needed-facts.ts";

/** What is added to a view: its tokens and the positions of the facts that it shows. */
export interface Piece {
  readonly tokens: number;
  readonly facts: readonly number[];
}

/** How many facts are shown in so many tokens; rises with them. */
export type ReadCurve = (size: number) => number;

/** Adds pieces up in their order. Of the piece that fits in part its facts count by that part, so that any size is met exactly. */
export function createCurve(pieces: Iterable<Piece>): ReadCurve {
  const steps: { readonly tokens: number; readonly facts: number }[] = [{ tokens: 0, facts: 0 }];
  const shown = new Set<number>();
  let tokens = 0;
  for (const piece of pieces) {
    for (const fact of piece.facts) shown.add(fact);
    tokens += piece.tokens;
    steps.push({ tokens, facts: shown.size });
  }
  return (size) => {
    const next = firstAbove(steps, size);
    const [before, after] = [steps[next - 1], steps[next]];
    if (before === undefined) return 0;
    if (after === undefined) return before.facts;
    return before.facts + ((size - before.tokens) / (after.tokens - before.tokens)) * (after.facts - before.facts);
  };
}

function firstAbove(steps: readonly { readonly tokens: number }[], size: number): number {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.tokens ?? 0) > size) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The positions of facts by the position of the event that holds them. */
export function factsByEvent(facts: readonly NeededFact[], past: readonly Event[]): readonly (readonly number[])[] {
  const held: number[][] = past.map(() => []);
  for (const [fact, { sources }] of facts.entries()) for (const source of sources) held[source]?.push(fact);
  return held;
}

// How far a figure hangs on which sessions were at hand: the sessions are drawn anew many times, with repeats.
import { createRandom } from "./random.ts";

const DRAWS = 400;
const SEED = 5;
/** Share of the draws left out at each end. */
const TAIL = 0.05;

/** Gives the bounds between which nine of ten draws lie. `groups` = what is added up, by session. */
export function spreadOf<One>(
  groups: readonly (readonly One[])[],
  figure: (all: readonly One[]) => number,
): readonly [number, number] {
  const random = createRandom(SEED);
  const draws = Array.from({ length: DRAWS }, () =>
    figure(groups.flatMap(() => groups[Math.floor(random() * groups.length)] ?? [])),
  ).sort((a, b) => a - b);
  const at = (share: number): number => draws[Math.round(share * (DRAWS - 1))] ?? Number.NaN;
  return [at(TAIL), at(1 - TAIL)];
}

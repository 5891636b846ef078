// How much each part measures, and how often: in full, which is what the targets are for, or as little as shows that it still runs.
// A part is given its own entry, and reads nothing of this elsewhere.

/**
 * Rounds of variants that take turns: how many are measured, and whether one that is not goes before them.
 * @typedef {{ measured: number, warmUp: boolean }} Rounds
 */

/** What the targets are for. `repetitions` = rounds of what takes long; what takes little is measured more often. */
export function fullSizes(repetitions) {
  const rounds = { measured: repetitions, warmUp: true };
  const more = { measured: repetitions * 2 + 1, warmUp: true };
  const most = { measured: repetitions * 4 + 1, warmUp: true };
  const few = { measured: Math.min(3, repetitions), warmUp: false };
  return {
    start: { rounds: most },
    view: { rounds: more },
    // Made-up sessions of 4 and 8 MB.
    live: { rounds: more, madeTurns: 1300 },
    import: { rounds: few, minBytes: 105e6 },
    growth: {
      rounds: few,
      viewRounds: more,
      shortTurns: 100,
      longTurns: 10_000,
      grown: { turns: 546, resultWords: 9500 },
    },
    list: { rounds, conversations: 2000 },
    // A result of each turn: 100 MB together.
    search: { rounds: few, turns: 500, resultChars: 200_000 },
    // Lines of a turn's result: about 100 MB in all.
    push: { rounds: few, conversations: 1000, lines: 420 },
    fsck: { rounds: few, copies: 1 },
    // A made-up session of 4 MB, all of which the model is sent.
    query: { rounds: more, madeTurns: 1300 },
    // Cycles at a small window, and at four fifths of one of 200k.
    hindsight: { cycleSizes: [40_000, 160_000], cycles: 20 },
  };
}

const ONCE = { measured: 1, warmUp: false };

/** As little as shows that a part runs, on the made-up corpus; its figures say nothing. */
export const TINY = {
  start: { rounds: ONCE },
  view: { rounds: ONCE },
  live: { rounds: ONCE, madeTurns: 10 },
  import: { rounds: ONCE, minBytes: 1_000_000 },
  growth: { rounds: ONCE, viewRounds: ONCE, shortTurns: 50, longTurns: 120, grown: { turns: 5, resultWords: 100 } },
  list: { rounds: ONCE, conversations: 20 },
  search: { rounds: ONCE, turns: 10, resultChars: 2000 },
  push: { rounds: ONCE, conversations: 5, lines: 20 },
  fsck: { rounds: ONCE, copies: 1 },
  // Its first round is never counted.
  query: { rounds: { measured: 1, warmUp: true }, madeTurns: 20 },
  hindsight: { cycleSizes: [40_000], cycles: 1 },
};

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
  const few = { measured: Math.min(3, repetitions), warmUp: true };
  return {
    start: { rounds: most },
    projection: { runs: repetitions, longRuns: few.measured, longBytes: 38e6 },
    commands: { rounds: more },
    list: { rounds, conversations: 10_000 },
    // Five copies of the corpus are some 100 MB of objects.
    fsck: { rounds, copies: 5, manyRounds: few, conversations: 10_000 },
    growth: {
      rounds,
      viewRounds: more,
      appendRounds: most,
      shortTurns: 100,
      longTurns: 10_000,
      grown: { turns: 546, resultWords: 9500 },
    },
    sync: { runs: repetitions, files: 1000 },
    watch: { turns: repetitions, files: 1000, pauseMs: 1000, idleMs: 40_000 },
    hooks: { runs: 40, megabytes: [1, 100] },
    // Lines of a turn's result: about 100 MB in all, and about 30 MB in the conversation that is redacted.
    sharing: { rounds, conversations: 1000, lines: 420, longLines: 120_000 },
    repository: {},
    import: {
      rounds: { measured: repetitions, warmUp: false },
      longRounds: { measured: few.measured, warmUp: false },
      minBytes: 105e6,
    },
    tokens: {},
    extract: { rounds },
    strategies: { runs: repetitions, costlyTokens: 100_000 },
    // Sessions below `leastBytes` would have to be repeated so often that they are not like a long one.
    pages: { openings: repetitions, turns: 10_000, steps: 60, fileBytes: 5_000_000, leastBytes: 1_000_000 },
    // Cycles at a small window, and at four fifths of one of 200k.
    hindsight: { cycleSizes: [40_000, 160_000], cycles: 20 },
    // A made-up session of 4 MB, all of which the model is sent.
    query: { rounds: more, madeTurns: 1300 },
    // A result of each turn: 100 MB together.
    search: { rounds, turns: 500, resultChars: 200_000 },
    kills: { runs: repetitions * 40 },
  };
}

const ONCE = { measured: 1, warmUp: false };

/** As little as shows that a part runs, on the made-up corpus; its figures say nothing. */
export const TINY = {
  start: { rounds: ONCE },
  projection: { runs: 1, longRuns: 1, longBytes: 500_000 },
  commands: { rounds: ONCE },
  list: { rounds: ONCE, conversations: 20 },
  fsck: { rounds: ONCE, copies: 1, manyRounds: ONCE, conversations: 20 },
  growth: {
    rounds: ONCE,
    viewRounds: ONCE,
    appendRounds: ONCE,
    shortTurns: 50,
    longTurns: 120,
    grown: { turns: 5, resultWords: 100 },
  },
  sync: { runs: 1, files: 5 },
  watch: { turns: 1, files: 5, pauseMs: 100, idleMs: 100 },
  // One that is copied and one that is linked.
  hooks: { runs: 1, megabytes: [1, 10] },
  sharing: { rounds: ONCE, conversations: 5, lines: 20, longLines: 1000 },
  repository: {},
  import: { rounds: ONCE, longRounds: ONCE, minBytes: 1_000_000 },
  tokens: {},
  extract: { rounds: ONCE },
  strategies: { runs: 1, costlyTokens: 20_000 },
  pages: { openings: 1, turns: 200, steps: 2, fileBytes: 500_000, leastBytes: 100_000 },
  hindsight: { cycleSizes: [40_000], cycles: 1 },
  // Its first round is never counted.
  query: { rounds: { measured: 1, warmUp: true }, madeTurns: 20 },
  search: { rounds: ONCE, turns: 10, resultChars: 2000 },
  kills: { runs: 2 },
};

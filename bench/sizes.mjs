// How much each part measures, and how often. A part is given its own entry, and reads nothing of this elsewhere.

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
    growth: { rounds, viewRounds: more, appendRounds: most, longTurns: 10_000 },
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

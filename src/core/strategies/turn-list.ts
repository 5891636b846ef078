// A list of turns as a person writes it: `3,5-7`. Turned into one range, because a compaction covers one.
import { userError } from "../errors.ts";
import type { TurnRange } from "../turn-range.ts";

/**
 * Parses a list of turns into the range they make, 0-based, inclusive. Throws `bad_turns` for a list that cannot be read
 * and `turns_not_contiguous` when there are gaps.
 */
export function parseTurnList(text: string): TurnRange {
  const runs = joinRuns(text.split(",").map((word) => parseRun(word.trim(), text)));
  const [only] = runs;
  if (only !== undefined && runs.length === 1) return only;
  throw userError(
    "turns_not_contiguous",
    `--turns ${text} names ${runs.length} runs of turns, and one compaction covers one run.`,
    {
      hints: [
        "Run it once for each:",
        ...runs.map((run) => `jpg compact --strategy classify-tangents --turns ${formatRun(run)}`),
      ],
    },
  );
}

function parseRun(word: string, text: string): TurnRange {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(word);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? from : Number(match[2]);
  if (match !== null && from <= to) return { from, to };
  throw userError("bad_turns", `--turns takes turn positions like 3,5-7; got "${text}".`, {
    hints: ["see the turns: jpg print"],
  });
}

/** Sorts runs and joins those that touch. */
function joinRuns(runs: readonly TurnRange[]): readonly TurnRange[] {
  const joined: TurnRange[] = [];
  for (const run of [...runs].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && run.from <= last.to + 1)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, run.to) };
    else joined.push(run);
  }
  return joined;
}

function formatRun({ from, to }: TurnRange): string {
  return from === to ? String(from) : `${from}-${to}`;
}

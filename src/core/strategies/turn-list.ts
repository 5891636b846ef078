// A list of turns as a person writes it: `3,5-7`.
import { userError } from "../errors.ts";
import { joinRuns, type TurnRange } from "../range/turn-range.ts";

/** Parses a list of turns into runs, 0-based, inclusive, ascending and apart from each other. Throws `bad_turns`. */
export function parseTurnList(text: string): readonly TurnRange[] {
  return joinRuns(text.split(",").map((word) => parseRun(word.trim(), text)));
}

function parseRun(word: string, text: string): TurnRange {
  const match = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(word);
  const from = Number(match?.[1]);
  const to = match?.[2] === undefined ? from : Number(match[2]);
  if (match !== null && from <= to) return { from, to };
  throw userError("bad_turns", `--turns takes turn positions like 3,5-7; got "${text}".`, {
    hints: ["`jpg print` shows the turns."],
  });
}

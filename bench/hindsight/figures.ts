// The figures of the table from the counts of its rows, and the checks without which no row counts.
import type { RowCounts } from "./measure.ts";
import { sumCounts } from "./measure.ts";
import type { RowGroup } from "./rows.ts";
import { spreadOf } from "./spread.ts";

/** A row of the table; all numbers are percent, `lift` and `above…` points of percent. `NaN` = there was nothing to count. */
export interface Figures {
  readonly name: string;
  readonly group: RowGroup;
  /** Tokens of the view ÷ those of the past. */
  readonly size: number;
  readonly recall: number;
  readonly lift: number;
  /** Nine of ten draws of the sessions give a lift between these. */
  readonly liftSpread: readonly [number, number];
  readonly needleRecall: number;
  readonly needleLift: number;
  readonly inContext: number;
  readonly needlesInContext: number;
  /** `inContext` less what masking results shows at that size. */
  readonly aboveMasking: number;
  /** Of what it hides: found by `jpg search` among the first five, with the rarest word, with the phrase. */
  readonly recovery: number;
  readonly recoveryByPhrase: number;
  /** The same by `jpg search --rank`. */
  readonly recoveryRanked: number;
  /** Of the view. */
  readonly stale: number;
}

/** Gives the figures of a row, of which `sessions` holds the counts of every cut, session by session. */
export function figuresOf(
  { name, group }: { readonly name: string; readonly group: RowGroup },
  sessions: readonly (readonly RowCounts[])[],
  pastTokens: number,
): Figures {
  const { tokens, staleTokens, all, needles } = sumCounts(sessions.flat());
  return {
    name,
    group,
    size: percent(tokens, pastTokens),
    recall: percent(all.shown, all.needed),
    lift: liftOf(sessions.flat()),
    liftSpread: spreadOf(sessions, liftOf),
    needleRecall: percent(needles.shown, needles.needed),
    needleLift: percent(needles.shown - needles.random, needles.needed),
    inContext: percent(all.inContext, all.needed),
    needlesInContext: percent(needles.inContext, needles.needed),
    aboveMasking: percent(all.inContext - all.masked, all.needed),
    recovery: percent(all.found.byRarestWord, all.hidden),
    recoveryByPhrase: percent(all.found.asPhrase, all.hidden),
    recoveryRanked: percent(all.found.ranked, all.hidden),
    stale: percent(staleTokens, tokens),
  };
}

/** Says what is wrong with the rows; empty = they count. */
export function findInsane(rows: readonly Figures[]): readonly string[] {
  const problems = rows
    .filter(({ size }) => !(size >= 0 && size <= 100))
    .map(({ name, size }) => `${name}: ${size.toFixed(2)} % of the past's tokens, expected 100 % or less`);
  const check = (wanted: string, expected: number): void => {
    const row = rows.find(({ name }) => name === wanted);
    const figures = [row?.recall, row?.needleRecall, row?.inContext, row?.needlesInContext];
    if (figures.every((figure) => figure === expected)) return;
    problems.push(`${wanted}: recalls ${figures.join(", ")} %, expected ${expected} % of each`);
  };
  check("raw", 100);
  check("nothing", 0);
  return problems;
}

function liftOf(counts: readonly RowCounts[]): number {
  const { all } = sumCounts(counts);
  return percent(all.shown - all.random, all.needed);
}

function percent(part: number, whole: number): number {
  return (100 * part) / whole;
}

// The turn range: two turn positions, 0-based, both inclusive, and the same range cut at events inside its end turns.

/** Turn positions, 0-based, both inclusive; `from <= to` unless a function says otherwise. */
export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/** A turn range that may begin or end inside a turn. Absent event = the end turn is covered whole. */
export interface CutRange extends TurnRange {
  /** Id of the first event covered in turn `from`. */
  readonly fromEvent?: string;
  /** Id of the last event covered in turn `to`. */
  readonly toEvent?: string;
}

/** Whether two ranges share a turn. Ranges that only touch (`0..2` and `3..5`) do not. */
export function rangesIntersect(a: TurnRange, b: TurnRange): boolean {
  return a.from <= b.to && b.from <= a.to;
}

/** Whether every turn of `inner` is in `outer`; equal ranges contain each other. */
export function rangeContains(outer: TurnRange, inner: TurnRange): boolean {
  return outer.from <= inner.from && inner.to <= outer.to;
}

/** Sorts ranges, and joins those that share turns or follow each other. */
export function joinRuns(ranges: readonly TurnRange[]): readonly TurnRange[] {
  const joined: TurnRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && range.from <= last.to + 1)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else joined.push(range);
  }
  return joined;
}

/** Names turns in a sentence: `turn 3`, `turns 3..7`. Raw positions, 0-based, inclusive. */
export function sayTurns(from: number, to: number): string {
  return from === to ? `turn ${from}` : `turns ${from}..${to}`;
}

/** Formats a range as `0..12`, with event bounds as `3:EVENT..12:EVENT`. */
export function formatTurnRange(range: CutRange): string {
  return `${formatEnd(range.from, range.fromEvent)}..${formatEnd(range.to, range.toEvent)}`;
}

function formatEnd(turn: number, event: string | undefined): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

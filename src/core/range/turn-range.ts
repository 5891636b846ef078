// The turn range: two turn positions, 0-based, both inclusive, and the same range cut at events inside its end turns.
import { userError } from "../errors.ts";

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

/** Formats a range as `0..12`, with event bounds as `3:EVENT..12:EVENT`. */
export function formatTurnRange(range: CutRange): string {
  return `${formatEnd(range.from, range.fromEvent)}..${formatEnd(range.to, range.toEvent)}`;
}

function formatEnd(turn: number, event: string | undefined): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

const RANGE = /^(\d{1,9})(?::(\S+?))?\.\.(\d{1,9})(?::(\S+))?$/;
const SINGLE = /^\d{1,9}$/;

/** Parses `0..12`, `3:EVENT..12:EVENT` or `5` (= `5..5`). Throws `bad_range` for anything else and for an inverted range. */
export function parseTurnRange(text: string): CutRange {
  const trimmed = text.trim();
  if (SINGLE.test(trimmed)) return { from: Number(trimmed), to: Number(trimmed) };
  const match = RANGE.exec(trimmed);
  const from = Number(match?.[1]);
  const to = Number(match?.[3]);
  if (match === null || from > to) {
    throw userError("bad_range", `cannot read "${text}" as a turn range: expected FIRST..LAST with FIRST <= LAST`, {
      hints: ["turns are counted from 0 and both ends are included: 0..12, or 5 for one turn"],
    });
  }
  return {
    from,
    ...(match[2] === undefined ? {} : { fromEvent: match[2] }),
    to,
    ...(match[4] === undefined ? {} : { toEvent: match[4] }),
  };
}

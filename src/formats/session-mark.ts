// Where a file that grew may be read from, and what a format has to know of the lines before. Plain data that a cache keeps.

/** What is known of a file's first lines. */
export interface SessionMark {
  /** The first line that is read again, 0-based: a turn opens there. */
  readonly line: number;
  /** That turn, 0-based, at least 1. */
  readonly turn: number;
  /** What the format has to know, its own; survives JSON. */
  readonly state: unknown;
  /** Names that stand on the lines before, as the format keeps them. */
  readonly names: Uint8Array;
}

// What changed in a view, as it is quoted for people: in the message of a compaction's commit, and in a review.

/** One event that a model sees differently, or no more, or only now. */
export interface ViewChange {
  /** Where it stands, e.g. `turn 3` or `turns 0..12: summary k3f9q2`. */
  readonly turn: string;
  /** E.g. `tool result Read src/a.ts`. Names in it are the conversation's. */
  readonly title: string;
  /** Estimates; 0 where it is not there. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** The text that a model saw; null = it was not there. */
  readonly before: string | null;
  /** The text that it sees now; null = it is not there. */
  readonly after: string | null;
}

/** The changes that weigh most in tokens, largest first. */
export interface LargestChanges {
  readonly largest: readonly ViewChange[];
  /** How many there are in all. */
  readonly count: number;
}

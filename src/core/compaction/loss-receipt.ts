// The loss receipt: what a compaction takes from the model's sight, counted by kind of fact. Stored in the compaction and
// in the body of its commit, so that a reviewer sees the price without running anything.

/** The kinds of facts that are counted, in the order in which they are shown. */
export const FACT_KINDS = [
  "files",
  "commands",
  "numbers",
  "shas",
  "issues",
  "errors",
  "identifiers",
  "urls",
  "requests",
  "pins",
] as const;

export type FactKind = (typeof FACT_KINDS)[number];

/** Where the facts of one kind that the covered events hold are after the compaction. visible + summary + pointer + hidden = total. */
export interface FactCounts {
  /** Different facts that the covered events show before: what is hidden already is not lost again. */
  readonly total: number;
  /** Still somewhere in the view. */
  readonly visible: number;
  /** Of `visible`, files of which only the end of the path is, such as the base name, and no other of them ends so; absent = 0. */
  readonly by_name?: number;
  /** Not visible, but in the text of the summary. */
  readonly summary: number;
  /** Neither, but a stub that stands where it was names the event to fetch it from. */
  readonly pointer: number;
  /** Seen no more; still in the conversation itself. */
  readonly hidden: number;
  /**
   * Of `total`: the first covered event that showed it shows it no more, while a later turn that is kept in the view
   * still mentions it, in full, by the end of its path, or by the first digits of a SHA.
   */
  readonly mentioned_later: number;
}

/** A fact whose source is gone although a later turn that is kept in the view still mentions it. */
export interface MentionedFact {
  readonly kind: FactKind;
  /** The fact itself, shortened to 120 characters. */
  readonly text: string;
  /** Position of the first later turn that mentions it, 0-based. */
  readonly turn: number;
}

/** The loss receipt. Kinds without facts are absent. */
export interface LossReceipt {
  readonly facts: Readonly<Partial<Record<FactKind, FactCounts>>>;
  /** At most 20, by kind and then in order of appearance; at most 5 of a kind, so that no kind crowds out the others. */
  readonly mentioned_later: readonly MentionedFact[];
}

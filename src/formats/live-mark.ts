// The mark of a compaction that jpg makes inside a running agent: a text that the agent stores in its session and never sends. It
// says which record of jpg's the agent's next boundary, or the edits next to it, stand for. Anybody may write one: check it before
// believing it.

/** What a mark says. */
export interface LiveMark {
  readonly kind: "compact" | "undo";
  /** Id of the compaction that was made, or undone. */
  readonly compaction: string;
  /** The commit that did it. */
  readonly commit: string;
  /** Messages of the answer that the agent installs; 0 for edits and summaries. */
  readonly rows: number;
}

/** A mark in a session, in the order of the file. */
export interface FoundLiveMark extends LiveMark {
  /** Id of its line. */
  readonly line: string;
  /** Whether the agent installed the answer that it announces. */
  readonly isInstalled: boolean;
}

/** A compaction that was undone while the agent ran: jpg's own, or the agent's. */
export interface LiveUndo {
  /** Id of the compaction. */
  readonly compaction: string;
  /** Turn during or after which it was undone, 0-based. */
  readonly turn: number;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
}

/** What a session says of compactions that jpg made while its agent ran. */
export interface LiveMarks {
  readonly marks: readonly FoundLiveMark[];
  /** On the path that the agent follows, oldest first. */
  readonly undone: readonly LiveUndo[];
  /**
   * The id under which the agent's context holds the row of an event now: a row that a compaction kept is copied under a new id.
   * `undefined` = no row of the context is the event's own.
   */
  handleOf(event: string): string | undefined;
}

/** Version of the mark; a reader ignores others. */
const VERSION = "1";
const MARK = /\[jpg (\d{1,9}) (compact|undo) ([a-z0-9-]{1,128}) ([0-9a-f]{7,64}) (\d{1,9})\]$/;
/** Characters at the end of a text that a mark may fill. */
const LONGEST_MARK = 256;

/** Writes the text to store: words for people, then the mark. */
export function formatLiveMark({
  words,
  kind,
  compaction,
  commit,
  rows,
}: LiveMark & { readonly words: string }): string {
  return `${words.trimEnd()} [jpg ${VERSION} ${kind} ${compaction} ${commit} ${rows}]`.trimStart();
}

/** Reads the mark at the end of a text; null if it has none of this version. Never throws. */
export function readLiveMark(text: string): LiveMark | null {
  const [, version, kind, compaction, commit, rows] = MARK.exec(text.slice(-LONGEST_MARK).trimEnd()) ?? [];
  if (version !== VERSION || compaction === undefined || commit === undefined) return null;
  return { kind: kind === "undo" ? "undo" : "compact", compaction, commit, rows: Number(rows) };
}

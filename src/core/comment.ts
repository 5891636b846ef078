// Comments of people on a turn or an event of it. Each is a record under meta/ and stands for itself, so that those of two people
// come together without a conflict; one that is taken back is named by a later record, or its file is gone.
import { defined } from "./defined.ts";
import { userError } from "./errors.ts";

/** Longest comment, characters (code points). */
const LONGEST = 10_000;

/** What somebody said about a turn. */
export interface Comment {
  /** Of its record. */
  readonly id: string;
  readonly timestamp: string;
  /** Position, 0-based. */
  readonly turn: number;
  /** Id of the event that is meant; absent = the whole turn. */
  readonly event?: string;
  readonly text: string;
}

/** A record under meta/ as far as comments go; records that speak of something else hold neither. */
export interface CommentRecord {
  readonly id: string;
  readonly timestamp: string;
  readonly comment?: unknown;
  /** Id of the record whose comment is taken back. */
  readonly uncomment?: unknown;
}

/** Gives the comments in force in the order of the records; damaged ones do not count. */
export function commentsInForce(records: readonly CommentRecord[]): readonly Comment[] {
  const removed = new Set(records.map(({ uncomment }) => uncomment));
  return records.flatMap((record) => (removed.has(record.id) ? [] : (commentOf(record) ?? [])));
}

/** Gives the comment that a record holds; null when it speaks of something else, or is damaged. */
export function commentOf({ id, timestamp, comment }: CommentRecord): Comment | null {
  if (typeof comment !== "object" || comment === null) return null;
  const { turn, event, text } = comment as {
    readonly turn?: unknown;
    readonly event?: unknown;
    readonly text?: unknown;
  };
  if (!Number.isSafeInteger(turn) || Number(turn) < 0 || typeof text !== "string" || text.trim() === "") return null;
  if (event !== undefined && typeof event !== "string") return null;
  return { id, timestamp, turn: Number(turn), ...defined({ event }), text };
}

/** Parses what a person says: its ends trimmed, its lines as they are. Throws `bad_comment`. */
export function parseComment(text: string): string {
  const said = text.replace(/\r\n?/g, "\n").trim();
  const { length } = [...said];
  if (length > 0 && length <= LONGEST) return said;
  const what = length === 0 ? "A comment needs a text." : `The comment has ${length} characters.`;
  throw userError("bad_comment", `${what} Expected 1 to ${LONGEST} characters.`, {
    hints: ['jpg comment 3 "Why was this left out?"', "`-` reads it from standard input."],
  });
}

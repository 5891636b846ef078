// A change of a settings file as text: what is put in is only ever added, so that taking the very same characters out again
// gives back what was there. Pure.

/** A settings file with something put in. */
export interface AddedText {
  readonly text: string;
  /** What was put in, in the order of the file; empty = everything was there. */
  readonly inserted: readonly string[];
}

/** Why something cannot be put into a file; completes "FILE …". */
export interface NotAdded {
  readonly problem: string;
}

/** Something to put in, and where: an offset in characters. */
export interface Insertion {
  readonly at: number;
  readonly text: string;
}

/** Puts one thing in. */
export function insertText(text: string, insertion: Insertion): string {
  return text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at);
}

/** Takes what was put in out again; null where it does not stand there as it was, or not as often. */
export function cutInserted(text: string, inserted: readonly string[]): string | null {
  let left = text;
  // What was put in last may stand within what was put in before.
  for (const piece of [...inserted].reverse()) {
    const at = left.indexOf(piece);
    const again = left.indexOf(piece, at + 1);
    const isMine = inserted.filter((other) => other === piece).length > 1;
    if (at === -1 || (again !== -1 && !isMine)) return null;
    left = left.slice(0, at) + left.slice(at + piece.length);
  }
  return left;
}

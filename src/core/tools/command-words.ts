// A command line as words, without a shell: nothing is expanded, run or redirected.

/** Blanks between words, or one piece of a word: plain, in single quotes, in double quotes, or an escaped character. */
const PIECE = /\s+|[^\s'"\\]+|'[^']*'|"(?:[^"\\]|\\.)*"|\\./sy;

/**
 * Splits a command line into words. Blanks separate; `'…'` and `"…"` hold words together, inside `"…"` a backslash escapes
 * `"` and `\`, outside quotes any character. Everything else, `$` and `~` and `|` too, stands for itself. Null when a quote
 * is not closed or the line ends in a backslash.
 */
export function splitCommandWords(line: string): readonly string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < line.length) {
    const piece = PIECE.exec(line)?.[0];
    if (piece === undefined) return null;
    if (piece.trim() !== "") word = (word ?? "") + unquote(piece);
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

function unquote(piece: string): string {
  switch (piece[0]) {
    case "'":
      return piece.slice(1, -1);
    case '"':
      return piece.slice(1, -1).replace(/\\(["\\])/g, "$1");
    case "\\":
      return piece.slice(1);
    default:
      return piece;
  }
}

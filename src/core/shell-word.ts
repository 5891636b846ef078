// Words of a command line as a POSIX shell reads them.

/** Quotes a text, whatever it holds. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A word as a person would type it: quoted only when it has to be. */
export function shellWord(word: string): string {
  return /^[\w./:@=-]+$/.test(word) ? word : quoteForShell(word);
}

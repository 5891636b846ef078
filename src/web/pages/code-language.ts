// Which language a text is written in, by the name that its writer gave it: only the page's script, which colours it, asks.

const WORD = /^[a-z0-9+#-]{1,20}$/;
/** Endings of files that are code. */
const CODE =
  /\.(?<ending>bash|c|cc|cpp|cs|css|diff|go|h|hpp|html|java|js|json|jsonl|jsx|kt|lua|md|mjs|php|pl|py|rb|rs|scss|sh|sql|swift|toml|ts|tsx|xml|ya?ml|zsh)$/i;

/** The language that a block of code names; null when it names none. */
export function namedLanguage(name: string | undefined): string | null {
  const word = name?.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  return WORD.test(word) ? word : null;
}

/** The language of a file, by its name; null when it is not known to be code. */
export function fileLanguage(path: string): string | null {
  return CODE.exec(path)?.groups?.["ending"]?.toLowerCase() ?? null;
}

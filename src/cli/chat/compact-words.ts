// The words of `/compact`: pure.

/** What they ask for. */
export type CompactWords = { readonly kind: "undo" } | CompactAsk;

export interface CompactAsk {
  readonly kind: "compact" | "preview";
  /** What becomes of old messages. */
  readonly as: "summary" | "strip";
  /** Newest messages that stay; absent = as many as usual. */
  readonly keep?: number;
  /** Who writes the summary. */
  readonly model?: string;
}

/** Reads the words; null when they make no sense. */
export function parseCompactWords(words: readonly string[]): CompactWords | null {
  if (words.length === 1 && words[0] === "undo") return { kind: "undo" };
  let ask: CompactAsk = { kind: "compact", as: "summary" };
  const seen = new Set<string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const read = word === "--model" ? readModel(words[++at]) : readWord(word);
    if (read === null || seen.has(read.what)) return null;
    seen.add(read.what);
    ask = { ...ask, ...read.asks };
  }
  return seen.has("model") && ask.as === "strip" ? null : ask;
}

interface ReadWord {
  readonly what: string;
  readonly asks: Partial<CompactAsk>;
}

function readWord(word: string): ReadWord | null {
  if (word === "--preview") return { what: word, asks: { kind: "preview" } };
  if (word === "strip") return { what: word, asks: { as: "strip" } };
  return /^\d{1,9}$/.test(word) ? { what: "keep", asks: { keep: Number(word) } } : null;
}

function readModel(name: string | undefined): ReadWord | null {
  return name === undefined ? null : { what: "model", asks: { model: name } };
}

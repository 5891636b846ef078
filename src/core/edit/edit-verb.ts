// What a line of a plan may say, each word with its letter, as in the list of `git rebase -i`.

/** What becomes of what a line stands for. */
export type EditVerb = "keep" | "strip" | "truncate" | "omit" | "summarise" | "pin";

/** Longest result that `truncate` leaves whole, characters. */
export const TRUNCATED_CHARS = 2000;

interface VerbWords {
  readonly letter: string;
  /** What it does, for the help below a plan. */
  readonly does: string;
}

/** The verbs, in the order of the help. */
export const EDIT_VERBS: Readonly<Record<EditVerb, VerbWords>> = {
  keep: { letter: "k", does: "leave it as it is" },
  strip: { letter: "s", does: "leave out reasoning, and the arguments and results of calls" },
  truncate: { letter: "t", does: `shorten results of calls to ${TRUNCATED_CHARS} characters` },
  omit: { letter: "o", does: "leave it out" },
  summarise: { letter: "u", does: "replace it with a summary; consecutive lines share one" },
  pin: { letter: "p", does: "keep it through later compactions; any other verb unpins" },
};

const WORDS: ReadonlyMap<string, EditVerb> = new Map<string, EditVerb>([
  ...Object.entries(EDIT_VERBS).flatMap(([verb, { letter }]): [string, EditVerb][] => [
    [verb, verb as EditVerb],
    [letter, verb as EditVerb],
  ]),
  ["summarize", "summarise"],
]);

/** The words that `parseVerb` knows, letters left out. */
export const VERB_WORDS: readonly string[] = [...WORDS.keys()].filter((word) => word.length > 1);

/** Reads a verb or its letter; null for any other word. */
export function parseVerb(word: string): EditVerb | null {
  return WORDS.get(word) ?? null;
}

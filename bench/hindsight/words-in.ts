// All words of a text, by a look at every one: what jpg looks at only where a word is looked for, held against this by a test.

const NAME = /[\p{L}\p{N}_]{2,}/gu;
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
/** A name of one part, as most are, and the longest that is taken apart, characters. */
const ONE_PART = /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+)$/u;
const LONGEST = 200;

/** Gives the words of a text, lower case, those of names such as `readTurn` or `max_size` followed by their parts. */
export function* wordsIn(text: string): Generator<string> {
  for (const [name] of text.matchAll(NAME)) {
    yield name.toLowerCase();
    if (name.length > LONGEST || ONE_PART.test(name)) continue;
    const parts = name.split("_").flatMap((piece) => piece.match(PART) ?? []);
    if (parts.length > 1) for (const part of parts) if (part.length > 1) yield part.toLowerCase();
  }
}

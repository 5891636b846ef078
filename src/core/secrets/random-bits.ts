// Whether a text was made by a generator of secrets or of words: how much likelier the one is than the other, by the pairs of
// letters in it and by the changes between small letters, capitals, digits and signs.

/**
 * Log2 of how much likelier a second letter is behind a first one in random letters than in words, names and paths of code: a
 * row for each first letter, half a bit a step; `I` = equally likely. Counted in 169,000 words of sessions and sources.
 */
const PAIRS: readonly string[] = [
  "LJGHQNGUITOFHFSHTFHEJNONMS",
  "FOLNCNNMIIQENQGORGJNGRQSIQ",
  "GRLQFPQFLTGGLUDMTHKFJTQRMT",
  "FLKJBLMPFQLJKOHKRIHKKNPPMT",
  "HMHGLJMQNQRIIENJMEEGPJLINV",
  "FOLOFHNPCRPHONENRIIIIQQRLR",
  "HONPBMKKEQRKNJGLRGHIIQQQKQ",
  "ELKPCOPOFQQOLNFMQGKHHQPROR",
  "KMHHILJUNUOGIDFKSIGFSKUOUK",
  "KNOMCONNMNMONNFINOBNKOLNNO",
  "HMKJCJMOFOOLLJLGPLEILOMPOP",
  "FNLJDNRRETOFOQFMULHHHMRUJW",
  "DJLIDRRRFLRLHPGFSPHOLRRTOS",
  "GPGGGKFRHSMLMKIKTMFDLJQVPU",
  "MKIHRLLTKNKHGDHHWEKJHKJQOS",
  "DQOLFROKGTQFQQFITFKGHQQTNT",
  "KLLLMLKMMMMJLMMMJLLMALLMML",
  "FNIKCOJRGUJLKJFNVIHHJMQVJS",
  "HPIMDNOIGUKMNOGHRKGDHQMRKU",
  "FOJNDNQGESRMMQGKVGFJJOPPJV",
  "KIKIGMKSITSGHEPHSEFEPSTPTT",
  "DPPPBOOPDQPQOPMPQOPPQPQQPP",
  "GLKMFMNJFPLMNGDLQGFKNOMOPP",
  "HMHLFLNMHNNMMNKFNLLBNNNILN",
  "IKIKJLNMJNNJHEJDOJFFMMLONM",
  "DMMMDMMNJNMNMNCMNMLMLMNNKK",
];

/** In words: how likely each kind of character follows each (small letter, capital, digit, sign), counted in the same words. */
const CHANGES: readonly (readonly number[])[] = [
  [0.855, 0.065, 0.005, 0.075],
  [0.641, 0.307, 0.013, 0.039],
  [0.067, 0.094, 0.65, 0.19],
  [0.651, 0.098, 0.085, 0.165],
];

const [SMALL, CAPITAL, DIGIT, SIGN] = [0, 1, 2, 3] as const;
const EQUAL = "I".charCodeAt(0);
/** Longer values are judged by their beginning, characters. */
const LOOKED_AT = 64;

/** Bits by which a value is likelier random than words; below 0 it is likelier words. A short one cannot have many. */
export function randomBits(value: string): number {
  const text = value.slice(0, LOOKED_AT);
  const likely = likelyKinds(text);
  let bits = 0;
  for (let at = 1; at < text.length; at++) {
    const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
    const [from, to] = [kindOf(before), kindOf(after)];
    bits += Math.log2((likely[to] ?? 1) / (CHANGES[from]?.[to] ?? 1));
    if (from <= CAPITAL && to <= CAPITAL)
      bits += ((PAIRS[letterOf(before)]?.charCodeAt(letterOf(after)) ?? EQUAL) - EQUAL) / 2;
  }
  return bits;
}

/** How likely a generator that uses these characters makes one of each kind. */
function likelyKinds(text: string): readonly number[] {
  const weights = [/[a-z]/.test(text) ? 26 : 0, /[A-Z]/.test(text) ? 26 : 0, 10, 3];
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => weight / sum);
}

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return SMALL;
  if (code >= 65 && code <= 90) return CAPITAL;
  return code >= 48 && code <= 57 ? DIGIT : SIGN;
}

function letterOf(code: number): number {
  return (code | 32) - 97;
}

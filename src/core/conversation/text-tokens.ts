// Estimates tokens of a text from its characters in one pass. The cost of a character depends on its script, because tokenizers
// know some scripts well and others hardly; ASCII text costs by its kind, and more where it looks like noise (base64, hashes)
// or has many digits and signs. Measured with o200k_base. No copy of the text is made.

/** The sums of one pass over texts. Characters are UTF-16 code units. */
export interface TextTally {
  /** ASCII characters outside dense runs; of a long run of one blank or sign only the beginning. */
  plain: number;
  /** Digits and signs among `plain`, each run of one sign once. */
  signs: number;
  /** Letters and digits in long runs that mix both, as base64, hashes and ids do. */
  dense: number;
  /** Characters that are not ASCII. */
  other: number;
  /** Tokens of `other`. */
  otherTokens: number;
}

/** Tokens of a dense character: base64 takes 0.68, hexadecimal digits 0.56. */
const DENSE_TOKENS = 0.65;
/**
 * In text with many digits and signs (CSV, JSON, dumps of numbers) a plain character costs NOISY_TOKENS, and a digit or sign
 * SIGN_TOKENS more.
 */
const NOISY_TOKENS = 0.15;
const SIGN_TOKENS = 0.5;
/** Tokens by which the noisy estimate must be higher: a few signs in a short text prove nothing. */
const NOISE_SLACK = 5;
/** The shortest run that can be dense, and the length from which a few digits among letters are enough. */
const DENSE_RUN = 8;
const LONG_RUN = 16;
/** Characters of English prose in a token. */
const PROSE_CHARS = 4;
/** Fewest characters of ASCII text in a token: code, logs and JSON. */
const LEAST_CHARS = 2.7;
/** Factor for tokens of noise and other scripts where an estimate must not be too low. */
const MARGIN = 1.25;

/** Kinds of characters; SIGN and CONTROL minus BLANK is how many signs one of them counts for. */
const [LETTER, DIGIT, BLANK, SIGN, CONTROL, OTHER] = [0, 1, 2, 3, 5, 6];
const KINDS = new Uint8Array(0x10000).fill(OTHER);
for (let code = 0; code < 0x80; code += 1) KINDS[code] = kindOf(String.fromCharCode(code));

/**
 * Hundredths of a token that a code unit costs, by script, from a code unit on. Medians of texts in that script, between
 * everyday sentences and translated programs. Of a surrogate pair the first half counts for both.
 */
const SCRIPTS: readonly (readonly [from: number, hundredths: number])[] = [
  [0x80, 100], // accented Latin, including the higher cost of plain letters in these languages
  [0x250, 180], // phonetic signs
  [0x300, 170], // combining marks
  [0x370, 42], // Greek
  [0x400, 35], // Cyrillic
  [0x530, 38], // Armenian
  [0x590, 120], // Hebrew points
  [0x5d0, 45], // Hebrew
  [0x600, 38], // Arabic
  [0x64b, 80], // Arabic vowels
  [0x660, 40],
  [0x700, 205], // Syriac, Thaana, N’Ko and others
  [0x900, 40], // Devanagari
  [0x980, 42], // Bengali
  [0xa00, 63], // Gurmukhi
  [0xa80, 45], // Gujarati
  [0xb00, 110], // Odia
  [0xb80, 40], // Tamil
  [0xc00, 49], // Telugu
  [0xc80, 43], // Kannada
  [0xd00, 41], // Malayalam
  [0xd80, 62], // Sinhala
  [0xe00, 47], // Thai
  [0xe80, 185], // Lao
  [0xf00, 155], // Tibetan
  [0x1000, 58], // Burmese
  [0x10a0, 38], // Georgian
  [0x1100, 250], // conjoining Jamo, Ethiopic, Cherokee and others
  [0x1200, 215],
  [0x1380, 250],
  [0x1780, 57], // Khmer
  [0x1800, 250], // Mongolian and others
  [0x1e00, 45], // Vietnamese
  [0x1f00, 120], // polytonic Greek
  [0x2000, 90], // dashes, quotation marks, ellipses
  [0x200b, 150], // joiners and marks of direction
  [0x2010, 90],
  [0x2080, 120], // currencies, letter-like signs, arrows
  [0x2200, 150], // mathematical and technical signs
  [0x2500, 100], // box drawing
  [0x2580, 150], // blocks
  [0x25a0, 100], // marks
  [0x2800, 255], // braille, as spinners are drawn with
  [0x2900, 180],
  [0x3000, 65], // kana and the punctuation of East Asia
  [0x3100, 200], // bopomofo
  [0x3130, 90], // single Hangul letters
  [0x3200, 200],
  [0x3400, 250], // rare ideographs
  [0x4e00, 75], // ideographs
  [0xa000, 250], // Yi and others
  [0xac00, 62], // Hangul
  [0xd7b0, 250],
  [0xd800, 255], // first half of a pair: rare ideographs, scripts of the past
  [0xd83c, 175], // emoji
  [0xd83e, 240], // newer emoji
  [0xd83f, 255],
  [0xdc00, 0], // second half
  [0xe000, 250], // private use: icons of terminals
  [0xf900, 200],
  [0xfe00, 90], // variation selectors
  [0xfe30, 200],
  [0xff00, 80], // full-width forms
  [0xff61, 190], // half-width kana
  [0xffe0, 120],
  [0xfffd, 60], // replacement for what could not be decoded
];

const HUNDREDTHS = new Uint8Array(0x10000);
for (const [from, hundredths] of SCRIPTS) HUNDREDTHS.fill(hundredths, from);

/** Dashes, box drawing and blocks, which form lines: tokenizers have whole lines of them. */
const LINES_FROM = 0x2010;
const LINES_END = 0x25a0;
const LINE_HUNDREDTHS = 10;

/**
 * Length from which a text is sampled, by evenly spread pieces: a command must not wait for a log of 10 MB. Powers of two, so
 * that the scale of ordinary text stays exact.
 */
const SAMPLED_FROM = 64 * 1024;
const PIECES = 16;
const PIECE_CHARS = 2048;

export function createTally(): TextTally {
  return { plain: 0, signs: 0, dense: 0, other: 0, otherTokens: 0 };
}

/** Adds a text to a tally; a long text by the scaled tally of its pieces. */
export function tallyText(tally: TextTally, text: string): void {
  const { length } = text;
  if (length < SAMPLED_FROM) {
    tallyPiece(tally, text);
    return;
  }
  const sample = createTally();
  for (let piece = 0; piece < PIECES; piece += 1) {
    const from = Math.floor((piece * (length - PIECE_CHARS)) / (PIECES - 1));
    tallyPiece(sample, text.slice(from, from + PIECE_CHARS));
  }
  const scale = length / (PIECES * PIECE_CHARS);
  for (const key of Object.keys(sample) as (keyof TextTally)[]) tally[key] += sample[key] * scale;
}

function tallyPiece(tally: TextTally, text: string): void {
  const { length } = text;
  const { dense } = tally;
  let [signs, other, hundredths] = [0, 0, 0];
  let [before, same, repeated] = [0, 0, 0];
  for (let at = 0; at < length; ) {
    const code = text.charCodeAt(at);
    const kind = KINDS[code] as number;
    if (kind <= DIGIT) {
      at = tallyRun(tally, text, at);
      before = 0;
      continue;
    }
    at += 1;
    same = code === before ? same + 1 : 0;
    before = code;
    if (kind === OTHER) {
      other += 1;
      hundredths += same > 0 && isLine(code) ? LINE_HUNDREDTHS : (HUNDREDTHS[code] as number);
    } else if (same === 0) signs += kind - BLANK;
    else if (same >= LONG_RUN) repeated += 1;
  }
  tally.plain += length - other - repeated - (tally.dense - dense);
  tally.signs += signs;
  tally.other += other;
  tally.otherTokens += hundredths / 100;
}

/** Adds the letters and digits from a position on; returns the position after them. */
function tallyRun(tally: TextTally, text: string, start: number): number {
  const { length } = text;
  let end = start;
  let digits = 0;
  for (; end < length; end += 1) {
    const kind = KINDS[text.charCodeAt(end)] as number;
    if (kind > DIGIT) break;
    digits += kind;
  }
  if (digits === 0) return end;
  if (isDense(end - start, digits)) tally.dense += end - start;
  else tally.signs += digits;
  return end;
}

/** Tokens of what was tallied, not rounded; `charsPerToken` = plain characters that a token of this kind of text holds. */
export function talliedTokens({ plain, signs, dense, otherTokens }: TextTally, charsPerToken: number): number {
  const noisy = plain * NOISY_TOKENS + signs * SIGN_TOKENS - NOISE_SLACK;
  return Math.max(plain / charsPerToken, noisy) + dense * DENSE_TOKENS + otherTokens;
}

/** Tokens of a text, not rounded; `charsPerToken` = plain characters that a token of this kind of text holds. */
export function textTokens(text: string, charsPerToken: number): number {
  const tally = createTally();
  tallyText(tally, text);
  return talliedTokens(tally, charsPerToken);
}

/**
 * Estimates the tokens of a text on the safe side, rounded up: for deciding whether a request fits a model's window, where too
 * low a number costs a failed call and too high a one only an earlier cut. A character of another script counts one at least.
 */
export function estimateTextTokens(text: string): number {
  const tally = createTally();
  tallyText(tally, text);
  const otherTokens = Math.max(tally.other, MARGIN * tally.otherTokens);
  return Math.ceil(talliedTokens({ ...tally, dense: MARGIN * tally.dense, otherTokens }, LEAST_CHARS));
}

/** Characters of English prose that hold as many tokens as a text: its length where it is ASCII. For budgets in characters. */
export function proseChars(text: string): number {
  const tally = createTally();
  tallyText(tally, text);
  return text.length - tally.other + PROSE_CHARS * tally.otherTokens;
}

/** Letters and digits that form no word: tokenizers know hardly any part of them. Numbers alone do not count. */
function isDense(run: number, digits: number): boolean {
  const letters = run - digits;
  return run >= DENSE_RUN && letters * 8 >= run && digits * (run < LONG_RUN ? 4 : 20) >= run;
}

function isLine(code: number): boolean {
  return code >= LINES_FROM && code < LINES_END;
}

function kindOf(character: string): number {
  if (/[A-Za-z]/.test(character)) return LETTER;
  if (/\d/.test(character)) return DIGIT;
  if (/[ \t\r\n]/.test(character)) return BLANK;
  return /[!-~]/.test(character) ? SIGN : CONTROL;
}

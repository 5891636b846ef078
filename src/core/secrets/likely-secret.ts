// Whether a value can be a secret at all: documentation and tests are full of placeholders, and code has names and paths in the
// same places.

/** Placeholders in issuers' own documentation. */
const DOCUMENTED = /EXAMPLE|x{8,}|X{8,}|\.{3}|…|\*{3}/;
/** Placeholders of other people: a word that says so anywhere, or only words for a secret. */
const PLACEHOLDERS =
  /example|placeholder|change.?(?:me|it)|\byour|your[-_]|x{4,}|dummy|sample|fake|mock|redacted|insert|replace|todo|undefined|\bnull\b|password_here|_here\b|^(?:my|the|our|some|super|test|a|an)?[-_]?(?:secret|password|passw0rd|pass|token|key|postgres|admin|root|user)[-_!\d]*$/i;
/** A call, a choice, a template, a shell variable, a member: the value comes from elsewhere. */
const FROM_ELSEWHERE =
  /^[\w.]*(?:env|config|settings|options|process)\b(?![^\w.[("'-])|[$#%@]\{|\$\(|\{\{|\(\)|^[$%@&#!*]*[A-Za-z_][\w.:]*\(|^!?\w{1,3}\?\w{1,3}\.[a-z]{3,20}\(|^%\w+%$|^<[^<>]*>$|^[A-Za-z_][\w.]*\[[\w"']+\]$|^(?:u?int|float|big(?:u?int)?)\d+|^\$env:|^!(?:secret|Ref|Sub|ENV|vault)\b/i;
/** A constant of a program, an id of a provider's API, a word in place of a password. */
const NAMES = /^[A-Z][A-Z\d]*(?:_[A-Z\d]+)+$|^[a-z]{2,8}_01[1-9A-HJ-NP-Za-km-z]{22}$|^x-(?:oauth-basic|access-token)$/;
/** A variable, a YAML reference, an anchor, a colour: a sign and a name. */
const SIGN_AND_NAME = /^[$%@&#!*]+[A-Za-z_]?[\w-]*(?:\.[\w-]+|\[\w+\])*%?$/;
const COLOUR = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i;
const MEMBER = /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)+[!?]?$/;
/** Bits from which on a word is random and not a name. */
const NO_NAME = 12;

/** Whether a value with the form of an issuer's secret is a placeholder: it says so, or repeats a few characters. */
export function isDocumented(value: string): boolean {
  return value.length <= 200 && (DOCUMENTED.test(value) || new Set(value.slice(-16)).size < 4);
}

/** A placeholder is recognised in the first so many characters. */
const JUDGED_CHARS = 256;

/** Whether somebody may have chosen it as a password: it is no placeholder and no reference. */
export function mayBePassword(whole: string): boolean {
  const value = whole.slice(0, JUDGED_CHARS);
  return !isFromElsewhere(value) && !PLACEHOLDERS.test(value) && !NAMES.test(value) && !isDocumented(value);
}

function isFromElsewhere(value: string): boolean {
  if (FROM_ELSEWHERE.test(value) || COLOUR.test(value)) return true;
  return (SIGN_AND_NAME.test(value) || MEMBER.test(value)) && !isMixed(value.replace(/^\W+/, ""));
}

/** Whether it is random, with a digit, and so no name. */
function isMixed(value: string): boolean {
  return /\d/.test(value) && randomBits(value) >= NO_NAME;
}

/** Whether it is base64 of a name and a possible password. */
export function holdsPassword(value: string): boolean {
  const [, password] = /^[\x20-\x7e]*?:([\x20-\x7e]{3,})$/.exec(decode(value)) ?? [];
  return password !== undefined && mayBePassword(password);
}

/** Decodes base64 to Latin-1 characters; "" when it is none. */
export function decode(value: string): string {
  try {
    return atob(value);
  } catch {
    return ""; // no base64
  }
}

/** Whether it looks generated, or chosen with care: letters and digits, mixed well. */
export function looksRandom(value: string): boolean {
  if (!mayBePassword(value)) return false;
  return /\d/.test(value) && /[a-z]/i.test(value) && entropyOf(value) >= leastEntropy(value.length);
}

/** Whether it has small and capital letters: names of groups, files and versions with digits seldom do. */
export function hasBothCases(value: string): boolean {
  return /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/** Whether it was generated, whatever its name: at least so many bits likelier random than words. */
export function isRandom(value: string, leastBits: number): boolean {
  return mayBePassword(value) && randomBits(value) >= leastBits;
}

/** Random values that are no secrets: a UUID, hexadecimal digits alone, a time, a digest with its name. */
export function isIdOrDigest(value: string): boolean {
  return /^(?:0x)?[0-9a-f-]+$|^[0-9A-F-]+$|^sha\d+[-:]|^\d{4}-\d\d-\d\d/.test(value);
}

/** Entropy in bits per character, from the value's own characters. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** Short values have little entropy: eight different characters have 3 bits each. */
function leastEntropy(length: number): number {
  return length < 12 ? 2.7 : 3;
}

/**
 * Log2 of how much likelier a second letter follows a first one in random letters than in words, names and paths of code: a row
 * for each first letter, half a bit a step; `I` = equally likely. Counted in 169,000 words of sessions and sources.
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

/** Probability in words that a kind of character follows another (small letter, capital, digit, sign), counted in the same words. */
const CHANGES: readonly (readonly number[])[] = [
  [0.855, 0.065, 0.005, 0.075],
  [0.641, 0.307, 0.013, 0.039],
  [0.067, 0.094, 0.65, 0.19],
  [0.651, 0.098, 0.085, 0.165],
];

const [SMALL, CAPITAL, DIGIT, SIGN] = [0, 1, 2, 3] as const;
const EQUAL = "I".charCodeAt(0);
/** Longer values are judged by their beginning, characters. */
const MEASURED_CHARS = 64;

/** Bits by which a value is likelier random than words; below 0 it is likelier words. Short values have few. */
export function randomBits(value: string): number {
  const text = value.slice(0, MEASURED_CHARS);
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

/** Probability of each kind for a generator that uses these characters. */
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

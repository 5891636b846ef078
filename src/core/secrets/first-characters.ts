// Finds where one of many patterns may begin, by its first characters alone: a few lookups in small tables per position, where
// a regular expression would try every pattern.

/** A position where patterns may begin, and their numbers, ascending. */
export interface PatternStart {
  readonly at: number;
  readonly patterns: readonly number[];
}

/** Finds the first position, at or after `from`, at which some of the patterns may begin; null where none does. */
export type StartFinder = (text: string, from: number) => PatternStart | null;

/** Characters of a pattern's beginning that are checked: at each position the first three at once, then the others. */
const PREFIX_CHARS = 8;
const TABLE_CHARS = 3;
/** Bits of a character in the table of the first three: those of ASCII. Other characters, and the end, are 0. */
const BITS = 7;
const ALL = 2 ** BITS;
const MASK = 2 ** (BITS * TABLE_CHARS) - 1;

/** A character or a class, and its repetition; nothing optional. */
const ATOM = /(\[(?:\\.|[^\]\\])*\]|\\.|[^\\()[\]{}|?*+^$.])(?![?*]|\{0)(?:(\+)|\{(\d+)(,\d*)?\})?/y;

/**
 * Creates a finder; each pattern is the source of a regular expression of ASCII characters that begins with at least two
 * characters or classes, and has no alternatives outside groups. The first `tokens` of them begin only where `mayBegin` returns
 * true.
 */
export function createStartFinder(
  patterns: readonly string[],
  { tokens, mayBegin }: { readonly tokens: number; readonly mayBegin: (text: string, at: number) => boolean },
): StartFinder {
  const places = patterns.map(createPlaces());
  const isStart = startsOf(places);
  const isOtherStart = startsOf(places.slice(tokens));
  const byTwo = patternsByTwo(places);
  const fitting = (text: string, at: number): readonly number[] => {
    const two = (codeOf(text.charCodeAt(at)) << BITS) | codeOf(text.charCodeAt(at + 1));
    let found = NO_PATTERNS;
    for (const pattern of byTwo[two] ?? NO_PATTERNS)
      if (fits(places[pattern] ?? [], text, at)) found = [...found, pattern];
    return found;
  };
  return (text, from) => {
    let key = 0;
    for (let next = from; next < text.length; next++) {
      key = ((key << BITS) | codeOf(text.charCodeAt(next))) & MASK;
      if (!hasBit(isStart, key)) continue;
      const at = next - TABLE_CHARS + 1;
      // Inside a long word, where no token begins, usually no other pattern does either.
      if (!hasBit(isOtherStart, key) && !mayBegin(text, at)) continue;
      const found = fitting(text, at);
      if (found.length > 0) return { at, patterns: found };
    }
    return null;
  };
}

const NO_PATTERNS: readonly number[] = [];

function codeOf(unit: number): number {
  return unit < ALL ? unit : 0;
}

/** For each position of a beginning and each character: 1 if the character is allowed there. */
type Places = readonly Uint8Array[];

function fits(places: Places, text: string, at: number): boolean {
  for (let place = 2; place < PREFIX_CHARS; place++)
    if (places[place]?.[codeOf(text.charCodeAt(at + place))] !== 1) return false;
  return true;
}

/** The patterns that may begin with two characters. */
function patternsByTwo(patterns: readonly Places[]): readonly (readonly number[] | undefined)[] {
  const byTwo: (number[] | undefined)[] = [];
  for (const [index, [first = NONE, second = NONE]] of patterns.entries())
    for (const one of codesOf(first))
      for (const two of codesOf(second)) {
        const key = (one << BITS) | two;
        const list = byTwo[key] ?? [];
        list.push(index);
        byTwo[key] = list;
      }
  return byTwo;
}

/** Bits of a word in the table of the first three characters: a bit set small enough for a processor's cache. */
const WORD_BITS = 5;
const WORD_MASK = 2 ** WORD_BITS - 1;

function hasBit(table: Int32Array, key: number): boolean {
  return (((table[key >> WORD_BITS] ?? 0) >>> (key & WORD_MASK)) & 1) === 1;
}

/** The triples of characters that may begin a pattern, a bit each. */
function startsOf(patterns: readonly Places[]): Int32Array {
  const isStart = new Int32Array((MASK + 1) >> WORD_BITS);
  for (const [first = NONE, second = NONE, third = NONE] of patterns) {
    const thirds = codesOf(third);
    for (const one of codesOf(first))
      for (const two of codesOf(second))
        for (const three of thirds) {
          const key = (((one << BITS) | two) << BITS) | three;
          const word = key >> WORD_BITS;
          isStart[word] = (isStart[word] ?? 0) | (1 << (key & WORD_MASK));
        }
  }
  return isStart;
}

function codesOf(allowed: Uint8Array): readonly number[] {
  return [...allowed.keys()].filter((code) => allowed[code] === 1);
}

const NONE = new Uint8Array();

/** Reads the beginnings of patterns; caches the classes, which most patterns share. */
function createPlaces(): (pattern: string) => Places {
  const known = new Map<string, Uint8Array>();
  const charactersAt = (atom: string): Uint8Array => {
    const characters = known.get(atom) ?? charactersOf(atom);
    known.set(atom, characters);
    return characters;
  };
  return (pattern) => {
    const atoms = atomsOf(pattern);
    return Array.from({ length: PREFIX_CHARS }, (_, place) => charactersAt(atoms[place] ?? ANY));
  };
}

/** The first atoms, each repeated as often as it must occur. */
function atomsOf(pattern: string): readonly string[] {
  const atoms: string[] = [];
  ATOM.lastIndex = 0;
  while (atoms.length < PREFIX_CHARS) {
    const [, atom, more, least = "1", most] = ATOM.exec(pattern) ?? [];
    if (atom === undefined) break;
    for (let time = 0; time < Number(least); time++) atoms.push(atom);
    // The position of what follows is not fixed.
    if (more !== undefined || most !== undefined) break;
  }
  if (atoms.length < 2) throw new Error(`${pattern} does not begin with two characters or classes`);
  return atoms;
}

/** Positions on which a pattern says nothing. */
const ANY = "[^]";

/** The characters that an atom matches; the code 0, for all non-ASCII characters, only if it matches any. */
function charactersOf(atom: string): Uint8Array {
  const pattern = new RegExp(`^${atom}$`);
  return Uint8Array.from({ length: ALL }, (_, code) =>
    (code !== 0 || atom === ANY) && pattern.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

// Where one of many patterns may begin, told by its first characters alone: a few looks into small tables for each position of a
// text, where a regular expression would try every pattern at each of them.

/** Where patterns may begin, and which: their numbers, ascending. */
export interface PatternStart {
  readonly at: number;
  readonly patterns: readonly number[];
}

/** Finds the first position, at or behind `from`, at which some of the patterns may begin; null where none does. */
export type StartFinder = (text: string, from: number) => PatternStart | null;

/** Characters of a beginning that are looked at: at each position the first three at once, where these fit all of them. */
const LOOKED_AT = 8;
const AT_ONCE = 3;
/** Bits of a character in the table of the first three: those of ASCII. What is none of it, and the end, stand there as 0. */
const BITS = 7;
const ALL = 2 ** BITS;
const MASK = 2 ** (BITS * AT_ONCE) - 1;

/** A character or a class of them, and how many more of the same may follow; nothing that may be left out. */
const ATOM = /(\[(?:\\.|[^\]\\])*\]|\\.|[^\\()[\]{}|?*+^$.])(?![?*]|\{0)(?:(\+)|\{(\d+)(,\d*)?\})?/y;

/**
 * Creates a finder; each pattern is the source of a regular expression of ASCII characters that begins with two characters or
 * classes at least, and has no alternatives outside of groups. The first `tokens` of them begin only where `mayBegin` says so.
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
      if (!holds(isStart, key)) continue;
      const at = next - AT_ONCE + 1;
      // Within a long word, where no token begins, there is mostly nothing else.
      if (!holds(isOtherStart, key) && !mayBegin(text, at)) continue;
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

/** For each place of a beginning and each character: 1 where that may stand there. */
type Places = readonly Uint8Array[];

function fits(places: Places, text: string, at: number): boolean {
  for (let place = 2; place < LOOKED_AT; place++)
    if (places[place]?.[codeOf(text.charCodeAt(at + place))] !== 1) return false;
  return true;
}

/** Which patterns may begin with two characters. */
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

/** Bits of a word of the table of the first three: it stays so small that a processor keeps it at hand. */
const WORD_BITS = 5;
const WORD_MASK = 2 ** WORD_BITS - 1;

function holds(table: Int32Array, key: number): boolean {
  return (((table[key >> WORD_BITS] ?? 0) >>> (key & WORD_MASK)) & 1) === 1;
}

/** Which three characters may begin a pattern, a bit each. */
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

/** Reads the beginning of one pattern after the other: most have the same few classes. */
function createPlaces(): (pattern: string) => Places {
  const known = new Map<string, Uint8Array>();
  const charactersAt = (atom: string): Uint8Array => {
    const characters = known.get(atom) ?? charactersOf(atom);
    known.set(atom, characters);
    return characters;
  };
  return (pattern) => {
    const atoms = atomsOf(pattern);
    return Array.from({ length: LOOKED_AT }, (_, place) => charactersAt(atoms[place] ?? ANY));
  };
}

/** The first atoms, each as often as it stands there at least. */
function atomsOf(pattern: string): readonly string[] {
  const atoms: string[] = [];
  ATOM.lastIndex = 0;
  while (atoms.length < LOOKED_AT) {
    const [, atom, more, least = "1", most] = ATOM.exec(pattern) ?? [];
    if (atom === undefined) break;
    for (let time = 0; time < Number(least); time++) atoms.push(atom);
    // What follows may stand further back.
    if (more !== undefined || most !== undefined) break;
  }
  if (atoms.length < 2) throw new Error(`${pattern} does not begin with two characters or classes`);
  return atoms;
}

/** Where a pattern says nothing of a place. */
const ANY = "[^]";

/** The characters that an atom stands for; the code 0, which is every other character, only where it is any. */
function charactersOf(atom: string): Uint8Array {
  const pattern = new RegExp(`^${atom}$`);
  return Uint8Array.from({ length: ALL }, (_, code) =>
    (code !== 0 || atom === ANY) && pattern.test(String.fromCharCode(code)) ? 1 : 0,
  );
}

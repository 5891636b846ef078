// Where one of many patterns may begin, told by its first characters alone: a few looks into small tables for each position of a
// text, where a regular expression would try every pattern at each of them.

/** Finds the first position, at or behind `from`, at which one of the patterns may begin; -1 where none does. */
export type StartFinder = (text: string, from: number) => number;

/** Characters of a beginning that are looked at: at each position the first three at once, where these fit all of them. */
const LOOKED_AT = 8;
const AT_ONCE = 3;
/** Bits of a character in the table of the first three: those of ASCII. What is none of it, and the end, stand there as 0. */
const BITS = 7;
const ALL = 2 ** BITS;
const MASK = 2 ** (BITS * AT_ONCE) - 1;
/** A pattern is a bit of a number; where there are more patterns, some share one. */
const PATTERN_BITS = 32;

/** A character or a class of them, and how many more of the same may follow; nothing that may be left out. */
const ATOM = /(\[[^\]]*\]|\\.|[^\\()[\]{}|?*+^$.])(?![?*]|\{0)(?:(\+)|\{(\d+)(,\d*)?\})?/y;

/**
 * Creates a finder; each pattern is the source of a regular expression of ASCII characters that begins with two characters or
 * classes at least, and has no alternatives outside of groups.
 */
export function createStartFinder(patterns: readonly string[]): StartFinder {
  const places = patterns.map(createPlaces());
  const fitting = patternsByPlace(places);
  const isStart = startsOf(places);
  const fits = (text: string, at: number): boolean => {
    let left = -1;
    for (let place = 0; left !== 0 && place < LOOKED_AT; place++)
      left &= fitting[place * ALL + codeOf(text.charCodeAt(at + place))] ?? 0;
    return left !== 0;
  };
  return (text, from) => {
    let key = 0;
    for (let at = from; at < text.length; at++) {
      key = ((key << BITS) | codeOf(text.charCodeAt(at))) & MASK;
      if (isStart[key] === 1 && fits(text, at - AT_ONCE + 1)) return at - AT_ONCE + 1;
    }
    return -1;
  };
}

function codeOf(unit: number): number {
  return unit < ALL ? unit : 0;
}

/** Codes of the characters that may stand at each place of a beginning. */
type Places = readonly Uint8Array[];

/** For each place, and there for each character: the bits of the patterns that may have it. */
function patternsByPlace(patterns: readonly Places[]): Int32Array {
  const fitting = new Int32Array(LOOKED_AT * ALL);
  for (const [index, places] of patterns.entries())
    for (const [place, codes] of places.entries())
      for (const code of codes) {
        const at = place * ALL + code;
        fitting[at] = (fitting[at] ?? 0) | (1 << (index % PATTERN_BITS));
      }
  return fitting;
}

/** Which three characters may begin a pattern. */
function startsOf(patterns: readonly Places[]): Uint8Array {
  const isStart = new Uint8Array(MASK + 1);
  for (const [first = NONE, second = NONE, third = NONE] of patterns)
    for (const one of first)
      for (const two of second) for (const three of third) isStart[(((one << BITS) | two) << BITS) | three] = 1;
  return isStart;
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

/** Codes of the characters that an atom stands for; 0, which is every other character, only where it is any. */
function charactersOf(atom: string): Uint8Array {
  const pattern = new RegExp(`^${atom}$`);
  const codes = Uint8Array.from({ length: ALL }, (_, code) => code);
  return codes.filter((code) => (code !== 0 || atom === ANY) && pattern.test(String.fromCharCode(code)));
}

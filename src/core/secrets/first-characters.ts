// Where one of many patterns may begin, told by its first characters alone: a look into a table for each position of a text, where
// a regular expression would try every pattern at each of them.

/** Finds the first position, at or behind `from`, at which one of the patterns may begin; -1 where none does. */
export type StartFinder = (text: string, from: number) => number;

/** Characters of a beginning that are looked at. */
const LOOKED_AT = 3;
/** Bits of a character in the table: those of ASCII. What is none of it stands there as 0, with which nothing begins. */
const BITS = 7;
const ALL = 2 ** BITS;
const MASK = 2 ** (BITS * LOOKED_AT) - 1;

/** A character or a class of them, and whether more of the same may follow; nothing that may be left out. */
const ATOM = /(\[[^\]]*\]|\\.|[^\\()[\]{}|?*+^$.])(?![?*]|\{0)([+{])?/y;

/**
 * Creates a finder; each pattern is the source of a regular expression of ASCII characters that begins with two characters or
 * classes at least, and has no alternatives outside of groups.
 */
export function createStartFinder(patterns: readonly string[]): StartFinder {
  const isStart = new Uint8Array(MASK + 1);
  for (const pattern of patterns) {
    const [first = [], second = [], third = everything()] = atomsOf(pattern).map(charactersOf);
    for (const one of first)
      for (const two of second) for (const three of third) isStart[(((one << BITS) | two) << BITS) | three] = 1;
  }
  return (text, from) => {
    let key = 0;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      key = ((key << BITS) | (code < ALL ? code : 0)) & MASK;
      if (isStart[key] === 1) return at - LOOKED_AT + 1;
    }
    return -1;
  };
}

function atomsOf(pattern: string): readonly string[] {
  const atoms: string[] = [];
  ATOM.lastIndex = 0;
  while (atoms.length < LOOKED_AT) {
    const match = ATOM.exec(pattern);
    if (match === null) break;
    atoms.push(match[1] ?? "");
    if (match[2] !== undefined) break;
  }
  if (atoms.length < 2) throw new Error(`${pattern} does not begin with two characters or classes`);
  return atoms;
}

/** Codes of the characters that an atom stands for. */
function charactersOf(atom: string): readonly number[] {
  const pattern = new RegExp(`^${atom}$`);
  return everything().filter((code) => pattern.test(String.fromCharCode(code)));
}

/** Codes of ASCII but 0. */
function everything(): readonly number[] {
  return Array.from({ length: ALL - 1 }, (_, before) => before + 1);
}

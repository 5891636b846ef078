// A text as it is compared when spelling is set aside: Unicode forms, upper and lower case, white space, typographic marks, the
// marks of Markdown inside a line, and the commas in numbers. Whatever is left out or changed, a place in the result is known by
// its place in the text.

/** Characters that are made plain, after Unicode normalisation; what maps to nothing is left out. */
const PLAIN: Readonly<Partial<Record<string, string>>> = {
  "`": "",
  "*": "",
  "‘": "'",
  "’": "'",
  "‚": "'",
  "‛": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "‟": '"',
  "«": '"',
  "»": '"',
  "‐": "-",
  "‑": "-",
  "‒": "-",
  "–": "-",
  "—": "-",
  "―": "-",
  "−": "-",
};
/** A character with the marks that combine with it: these are normalised together, and stand at one place. */
const PIECE = /\P{M}\p{M}*|\p{M}+/uy;
const BLANK = /\s/;
/** Words that are plain already but for their capitals, with one blank between them: most of most texts. */
const PLAIN_RUN = /[!-)+-_a-~](?: ?[!-)+-_a-~]){0,999}(?![^\u0000-\u02ff])/y;

/**
 * Gives a text without what spelling alone decides. `places` is filled with the place of each character in `text`: code units,
 * 0-based.
 */
export function normalText(text: string, places?: number[]): string {
  let normal = "";
  let last = "";
  for (const { plain, at, step } of plainPieces(text)) {
    if (plain === "" || (plain === " " && last === " ")) continue;
    last = plain;
    normal += plain;
    for (let unit = 0; places !== undefined && unit < plain.length; unit += 1) places.push(at + unit * step);
  }
  return withoutGroupMarks(normal, places);
}

/** A plain text, and where it comes from: a run of one character each (`step` 1), or all of it from one place (`step` 0). */
interface PlainPiece {
  readonly plain: string;
  readonly at: number;
  readonly step: 0 | 1;
}

function* plainPieces(text: string): Generator<PlainPiece> {
  for (let at = 0; at < text.length; ) {
    const run = matchAt(PLAIN_RUN, text, at);
    const piece = run ?? matchAt(PIECE, text, at) ?? text.charAt(at);
    if (run !== undefined) yield { plain: run.toLowerCase(), at, step: 1 };
    else
      for (const character of piece.normalize("NFKC").toLowerCase())
        yield { plain: plainCharacter(character), at, step: 0 };
    at += piece.length;
  }
}

function plainCharacter(character: string): string {
  return BLANK.test(character) ? " " : (PLAIN[character] ?? character);
}

/** What a sticky expression matches at a place. */
function matchAt(expression: RegExp, text: string, at: number): string | undefined {
  expression.lastIndex = at;
  return expression.exec(text)?.[0];
}

/** `1,234,567` is `1234567`. */
function withoutGroupMarks(text: string, places: number[] | undefined): string {
  const isMark = /(?<=\d),(?=\d{3}(?!\d))/g;
  if (places === undefined) return text.replace(isMark, "");
  let kept = 0;
  let next = 0;
  for (const { index } of text.matchAll(isMark)) {
    while (next < index) places[kept++] = places[next++] ?? 0;
    next += 1;
  }
  while (next < places.length) places[kept++] = places[next++] ?? 0;
  places.length = kept;
  return text.replace(isMark, "");
}

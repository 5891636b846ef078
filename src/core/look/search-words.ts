// Searching the texts of a conversation: for a literal text or a regular expression, with the line of the match, cut to fit.
import { type LineSketch, sketchLines } from "../conversation/merge-sides.ts";
import { messageOf, userError } from "../errors.ts";

/** A parsed pattern. */
export interface TextPattern {
  readonly expression: RegExp;
  /** The pattern for texts in plain form; null when it has none. */
  readonly plain: RegExp | null;
  readonly ignoreCase: boolean;
  /**
   * Every matching text holds one of them: the first in a form that no writer of JSON has reason to escape, the others as jpg
   * writes them. A file without any need not be read. Null when no such strings are known.
   */
  readonly needles: readonly string[] | null;
}

export interface PatternOptions {
  /** Whether the text is a regular expression of JavaScript; default false. */
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
}

/** The line with the first match, with white space and far ends cut. */
export interface MatchedLine {
  readonly line: string;
  /** The match in `line`: characters, 0-based, the end exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Longest line shown, characters, and how much of it may precede the match. */
const LONGEST_LINE = 160;
const BEFORE_MATCH = 60;
/** Needles contain nothing that JSON must or may escape, that `git grep` cannot fold, or that has several forms, as blanks do. */
const UNESCAPED = /[^\u0000-\u0020"\\/<>&'\u007f-\uffff]+/g;
/** Blanks that look like a space: no-break, figure, thin, narrow no-break, ideographic. */
const BLANKS = /[\u00a0\u2007\u2009\u202f\u3000]/g;
/** Invisible characters: soft hyphen, zero-width space, word joiner, byte order mark. */
const UNSEEN: readonly string[] = ["\u00ad", "\u200b", "\u2060", "\ufeff"];
const ANY_UNSEEN = new RegExp(`[${UNSEEN.join("")}]`, "g");
const ASCII = /^[\0-\x7f]*$/;

/** Normalises a text so that texts which look alike are equal: composed (NFC), plain spaces, no invisible characters. */
export function plainForm(text: string): string {
  return ASCII.test(text) ? text : text.normalize("NFC").replace(BLANKS, " ").replace(ANY_UNSEEN, "");
}

/** Parses a pattern. Throws `bad_pattern` for an empty one, and for an invalid expression. */
export function parsePattern(text: string, { regex = false, ignoreCase = false }: PatternOptions = {}): TextPattern {
  if (text === "") throw badPattern("the pattern is empty");
  const flags = ignoreCase ? "iu" : "u";
  if (!regex) {
    const runs = text.normalize("NFC").match(UNESCAPED) ?? [];
    const longest = runs.reduce<string>((best, run) => (run.length > best.length ? run : best), "");
    const plain = plainForm(text);
    return {
      expression: new RegExp(escaped(text), flags),
      plain: plain === "" ? null : new RegExp(escaped(plain), flags),
      ignoreCase,
      needles: longest === "" ? null : [longest, ...UNSEEN],
    };
  }
  try {
    return { expression: new RegExp(text, flags), plain: plainExpression(text, flags), ignoreCase, needles: null };
  } catch (error) {
    throw badPattern(messageOf(error));
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** The expression in plain form; null when that is invalid. */
function plainExpression(text: string, flags: string): RegExp | null {
  const plain = plainForm(text);
  try {
    return plain === "" ? null : new RegExp(plain, flags);
  } catch {
    return null; // an escaped blank, say
  }
}

/** Finds the first match in texts, as they are written or in plain form; null when there is none. */
export function findLine(texts: Iterable<string>, { expression, plain }: TextPattern): MatchedLine | null {
  for (const text of texts) {
    const match = expression.exec(text);
    if (match !== null) return lineAround(text, match.index, match.index + match[0].length);
    const form = plainForm(text);
    const isSame = form === text && plain?.source === expression.source;
    const again = isSame ? null : (plain?.exec(form) ?? null);
    if (again !== null) return lineAround(form, again.index, again.index + again[0].length);
  }
  return null;
}

/** Returns the line at a place of a text, cut to fit; the end is exclusive. */
export function lineAround(text: string, matchFrom: number, matchTo: number): MatchedLine {
  const lineStart = text.lastIndexOf("\n", matchFrom - 1) + 1;
  const nextLine = text.indexOf("\n", matchFrom);
  const lineEnd = nextLine < 0 ? text.length : nextLine;
  const start = Math.max(lineStart, matchFrom - BEFORE_MATCH);
  const end = Math.min(lineEnd, start + LONGEST_LINE);
  const before = tidy(text.slice(start, matchFrom)).trimStart();
  const match = tidy(text.slice(matchFrom, Math.min(matchTo, end)));
  const after = tidy(text.slice(Math.min(matchTo, end), end)).trimEnd();
  const lead = start > lineStart ? "…" : "";
  const from = lead.length + before.length;
  return { line: `${lead}${before}${match}${after}${end < lineEnd ? "…" : ""}`, from, to: from + match.length };
}

/** Collapses white space, and drops half surrogate pairs at the ends. */
function tidy(text: string): string {
  return text.replace(/\s+/g, " ").replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}

function badPattern(reason: string): Error {
  return userError("bad_pattern", `That cannot be searched for: ${reason}.`, {
    hints: ["jpg search 'exact words' · jpg search --regex 'pier|wall'"],
  });
}

/** Escapes a text for a literal match in a regular expression. */
export function escapeForPattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** The words of a search, lower case, with their weights: 1, or less for a part of a name. */
export type SoughtWords = ReadonlyMap<string, number>;

/** A name in a text that contains words of the search. */
interface FoundName {
  /** The words that it is or has as parts, as often as they occur; never empty. */
  readonly words: readonly string[];
  /** Its place: characters, 0-based, the end exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Calls back for every name of a text that contains a word, in order. */
type FindWords = (text: string, onFound: (found: FoundName) => void) => void;

const WORD = /[\p{L}\p{N}_]{2,}/gu;
/** A copy with its own lastIndex: `matchAll` on a shared one would start where another search stopped. */
const NEXT_WORD = new RegExp(WORD);
const PART = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{L}+/gu;
/** Words of one part, as most are: splitting one takes ten times as long as this test. */
const ONE_PART = /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+|\p{N}+)$/u;
/** Longer runs are data, which nobody types: they are not split. Characters. */
const LONGEST_NAME = 200;
const PART_WEIGHT = 0.3;
/** Most words of a search: further ones are ignored. */
const MOST_WORDS = 64;
/** The one letter that becomes two characters in lower case, which no expression folds. */
const DOTTED = { small: "i\u0307", expression: "(?:i\u0307|\u0130)" };

/** Parses the words of a search. Throws `bad_pattern` when there is none. */
export function parseWords(text: string): SoughtWords {
  const whole = [...plainForm(text).matchAll(WORD)].slice(0, MOST_WORDS).map(([word]) => word);
  if (whole.length === 0)
    throw userError("bad_pattern", "There is nothing to rank by: the pattern has no word of two letters or digits.", {
      hints: ["Give words that are near what you look for, or leave --rank out to search for the text as it is."],
    });
  const words = new Map<string, number>(whole.map((word) => [word.toLowerCase(), 1]));
  for (const word of whole) for (const part of partsOf(word)) if (!words.has(part)) words.set(part, PART_WEIGHT);
  return words;
}

/** Creates a finder, equivalent to splitting every name of a text. Linear in the text: it jumps from one possible word to the next. */
export function createWordFinder(words: SoughtWords): FindWords {
  const spelled = [...words.keys()].map((word) => word.replaceAll(DOTTED.small, DOTTED.expression));
  const expression = new RegExp(spelled.join("|"), "giu");
  return (text, tell) => {
    let last = 0;
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      const at = match.index;
      if (isInsidePart(text, at)) {
        expression.lastIndex = at + 1;
        continue;
      }
      const name = isWhole(text, match) ? match : nameAt(text, at, last);
      if (name === null) continue;
      const from = name.index;
      last = from + name[0].length;
      expression.lastIndex = last;
      const found = wordsOf(name[0]).filter((word) => words.has(word));
      if (found.length > 0) tell({ words: found, from, to: last });
    }
  };
}

function wordsOf(name: string): readonly string[] {
  return [name.toLowerCase(), ...partsOf(name)];
}

function partsOf(word: string): readonly string[] {
  if (word.length > LONGEST_NAME || ONE_PART.test(word)) return [];
  const parts = word.split("_").flatMap((piece) => piece.match(PART) ?? []);
  return parts.length < 2 ? [] : parts.filter(({ length }) => length > 1).map((part) => part.toLowerCase());
}

/** The name around a position, searched after the previous one; null when there is none. */
function nameAt(text: string, at: number, last: number): RegExpExecArray | null {
  let start = at;
  while (start > last && !endsName(text.charCodeAt(start - 1))) start -= 1;
  NEXT_WORD.lastIndex = start;
  let name = NEXT_WORD.exec(text);
  while (name !== null && name.index + name[0].length <= at) name = NEXT_WORD.exec(text);
  return name !== null && name.index <= at ? name : null;
}

/** Whether a match is a whole name, as most are. */
function isWhole(text: string, { 0: { length }, index }: RegExpExecArray): boolean {
  const end = index + length;
  return (
    (index === 0 || endsName(text.charCodeAt(index - 1))) && (end === text.length || endsName(text.charCodeAt(end)))
  );
}

/** No part of a name begins between two small letters: quickly rejects the `at` in `data`. */
function isInsidePart(text: string, at: number): boolean {
  return at > 0 && isSmall(text.charCodeAt(at - 1)) && isSmall(text.charCodeAt(at));
}

function isSmall(code: number): boolean {
  return code >= 97 && code <= 122;
}

/** Whether a character certainly separates names; beyond ASCII it may be a letter. */
function endsName(code: number): boolean {
  const isDigit = code >= 48 && code <= 57;
  const isCapital = code >= 65 && code <= 90;
  return code < 128 && !isDigit && !isCapital && !isSmall(code) && code !== 95;
}

// What texts contain of the words of a search: how often, where first, and in which lines.

interface WordHits {
  /** How often each word occurs; absent = never. */
  readonly times: ReadonlyMap<string, number>;
  /** The first name with each of them. */
  readonly first: ReadonlyMap<string, NamePlace>;
  /** The lines with any of them. */
  readonly lines: LineSketch;
}

/** The place of a name: characters, 0-based, the end exclusive. */
export interface NamePlace {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

/** Counts the words in texts in plain form, taken together; their lines are sketched as written. */
export function readWordHits(texts: readonly string[], find: FindWords): WordHits {
  const times = new Map<string, number>();
  const first = new Map<string, NamePlace>();
  const lines: string[] = [];
  for (const written of texts) {
    const text = plainForm(written);
    const lineAt = text === written ? plainLine(text) : writtenLine(text, written);
    let lineEnd = -1;
    find(text, ({ words, from, to }) => {
      for (const word of words) {
        times.set(word, (times.get(word) ?? 0) + 1);
        if (!first.has(word)) first.set(word, { text, from, to });
      }
      if (from <= lineEnd) return;
      const next = text.indexOf("\n", to);
      lineEnd = next < 0 ? text.length : next;
      lines.push(lineAt(from, lineEnd));
    });
  }
  return { times, first, lines: sketchLines(lines) };
}

type LineAt = (from: number, lineEnd: number) => string;

function plainLine(text: string): LineAt {
  return (from, lineEnd) => text.slice(text.lastIndexOf("\n", from) + 1, lineEnd);
}

/** Returns lines of the original of a text in plain form, by line number; must be called in ascending order. */
function writtenLine(text: string, written: string): LineAt {
  const lines = written.split("\n");
  let [at, line] = [0, 0];
  return (from) => {
    for (let next = text.indexOf("\n", at); next >= 0 && next < from; next = text.indexOf("\n", at)) {
      at = next + 1;
      line += 1;
    }
    return lines[line] ?? "";
  };
}

// Ranks texts by words (BM25): rare words weigh more, repetition helps little. The first places show different things: a word
// counts less in a text when better texts have it too, and a text that shows nothing new is listed under the better one. The
// constants were chosen by hindsight (docs/decisions/looking.md).

/** The texts that are ranked. Positions are 0-based. */
export interface RankedTexts {
  /** Length of each text, characters. */
  readonly lengths: readonly number[];
  /** How often each text contains a word; undefined = none does. */
  holding(word: string): ReadonlyMap<number, number> | undefined;
  /** Factor of a text's score, > 0. */
  weigh(at: number): number;
  /** Whether a better text shows everything of the words that a text shows. */
  isShownBy(at: number, better: number): boolean;
}

export interface RankedText {
  readonly at: number;
  /** Texts listed under this one: they show only what it shows. */
  readonly alike: readonly number[];
}

/** How soon a repeated word stops counting, how much long texts are held back, how much more rare words weigh. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.2;
const RARITY = 1.3;
/** How much less a word counts for each better text that contains it: 1, 2/3, 1/2, 2/5, … of its weight. */
const FAMILIARITY = 0.5;
/** Places with different things; after them texts are ordered by their own scores. */
const PLACES = 20;

/** Ranks the texts that contain any of the words, best first; of equal ones the later first. `most` = how many to return. */
export function rankTexts(
  words: SoughtWords,
  texts: RankedTexts,
  most: number = Number.POSITIVE_INFINITY,
): readonly RankedText[] {
  const ranked: RankedText[] = [];
  const familiar = new Map<string, number>();
  let left = scoreTexts(words, texts);
  while (left.length > 0 && ranked.length < Math.min(most, PLACES)) {
    const best = bestOf(left, familiar);
    const others = left.filter((text) => text !== best);
    const alike = new Set(others.filter(({ at }) => texts.isShownBy(at, best.at)));
    ranked.push({ at: best.at, alike: [...alike].map(({ at }) => at) });
    for (const { word } of best.parts) familiar.set(word, (familiar.get(word) ?? 0) + 1);
    left = others.filter((text) => !alike.has(text));
  }
  return [...ranked, ...left.map(({ at }) => ({ at, alike: [] }))].slice(0, most);
}

interface ScoredText {
  readonly at: number;
  readonly weight: number;
  /** What each word adds, before the weight. */
  readonly parts: { readonly word: string; readonly score: number }[];
  score: number;
}

/** The texts that contain a word, best first, each scored by itself. */
function scoreTexts(words: SoughtWords, { lengths, holding, weigh }: RankedTexts): readonly ScoredText[] {
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
  const scored = new Map<number, ScoredText>();
  for (const [word, share] of words) {
    const places = holding(word);
    if (places === undefined) continue;
    const rarity = Math.log(1 + (lengths.length - places.size + 0.5) / (places.size + 0.5)) ** RARITY;
    for (const [at, times] of places) {
      const length = 1 - LENGTH_SHARE + (LENGTH_SHARE * (lengths[at] ?? 0)) / Math.max(1, average);
      const repeated = (times * (SATURATION + 1)) / (times + SATURATION * length);
      const text = scored.get(at) ?? { at, weight: weigh(at), parts: [], score: 0 };
      scored.set(at, text);
      text.parts.push({ word, score: share * rarity * repeated });
    }
  }
  const nothing = new Map<string, number>();
  for (const text of scored.values()) text.score = scoreOf(text, nothing);
  return [...scored.values()].sort((a, b) => b.score - a.score || b.at - a.at);
}

/** The best of texts, which are ordered by their own scores, given the familiar words. */
function bestOf(texts: readonly ScoredText[], familiar: ReadonlyMap<string, number>): ScoredText {
  let [best] = texts as readonly [ScoredText, ...ScoredText[]];
  let bestScore = scoreOf(best, familiar);
  for (const text of texts) {
    if (text.score < bestScore) break;
    const score = scoreOf(text, familiar);
    if (score < bestScore || (score === bestScore && text.at <= best.at)) continue;
    best = text;
    bestScore = score;
  }
  return best;
}

function scoreOf({ parts, weight }: ScoredText, familiar: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const { word, score: own } of parts) score += own / (1 + FAMILIARITY * (familiar.get(word) ?? 0));
  return score * weight;
}

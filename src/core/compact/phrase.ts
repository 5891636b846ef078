// A phrase looked for in texts: as it stands, or with spelling set aside. Nothing is guessed: two texts match that have the same
// characters once `normalText` has made both plain.
import { userError } from "../errors.ts";
import { lineAround, type MatchedLine } from "../look/search-words.ts";
import { normalText } from "./words.ts";

/** A phrase that is ready to be looked for. */
export interface Phrase {
  readonly exact: string;
  /** Its normal text without blanks at its ends; empty = it matches only as it stands. */
  readonly normal: string;
  /** What every text must hold, in small letters and without marks of Markdown, to match at all; empty = nothing is known. */
  readonly needle: string;
}

/** Where a phrase stands in texts: the line of the first place, and how many there are. */
export interface PhraseMatch extends MatchedLine {
  /** `exact` = as it was typed; `normalised` = spelling aside. */
  readonly match: "exact" | "normalised";
  /** How often, without overlaps. */
  readonly times: number;
}

/** Parses a phrase. Throws `bad_phrase` for one without a character to look for. */
export function parsePhrase(text: string): Phrase {
  if (text.trim() === "") {
    throw userError("bad_phrase", "There is nothing to trace: the phrase is empty.", {
      hints: ['jpg trace "the words that were said"'],
    });
  }
  const normal = normalText(text).trim();
  return { exact: text, normal, needle: needleOf(normal) };
}

/** Looks a phrase up in texts, each by itself; null where it stands in none. */
export function findPhrase(texts: Iterable<string>, phrase: Phrase): PhraseMatch | null {
  const all = [...texts];
  return findExact(all, phrase) ?? findNormal(all, phrase);
}

function findExact(texts: readonly string[], { exact }: Phrase): PhraseMatch | null {
  const first = texts.find((text) => text.includes(exact));
  if (first === undefined) return null;
  const from = first.indexOf(exact);
  const times = texts.reduce((sum, text) => sum + countIn(text, exact), 0);
  return { ...lineAround(first, from, from + exact.length), match: "exact", times };
}

function findNormal(texts: readonly string[], phrase: Phrase): PhraseMatch | null {
  let times = 0;
  let line: MatchedLine | null = null;
  for (const text of texts) {
    if (!mayMatch(text, phrase)) continue;
    const found = countIn(normalText(text), phrase.normal);
    times += found;
    if (found > 0) line ??= lineOf(text, phrase.normal);
  }
  return line === null ? null : { ...line, match: "normalised", times };
}

/** The map of places is made only for a text that matches. */
function lineOf(text: string, normal: string): MatchedLine {
  const places: number[] = [];
  const from = normalText(text, places).indexOf(normal);
  return lineAround(text, places[from] ?? 0, places[from + normal.length] ?? text.length);
}

/** What costs little to ask, and is true of every text that matches with spelling aside. */
function mayMatch(text: string, { normal, needle }: Phrase): boolean {
  if (normal === "") return false;
  if (needle === "") return true;
  const small = text.normalize("NFKC").toLowerCase();
  return (/[`*]/.test(small) ? small.replace(/[`*]/g, "") : small).includes(needle);
}

/** The longest run of plain letters; without letters the end of the longest number, which no comma parts. */
function needleOf(normal: string): string {
  const longest = (runs: readonly string[]): string =>
    runs.reduce<string>((best, run) => (run.length > best.length ? run : best), "");
  return longest(normal.match(/[a-z]+/g) ?? []) || longest(normal.match(/[0-9]+/g) ?? []).slice(-3);
}

function countIn(text: string, part: string): number {
  let times = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) times += 1;
  return times;
}

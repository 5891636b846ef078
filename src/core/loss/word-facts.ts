// The facts that single words of a text are: files, numbers, SHAs, issues, identifiers and URLs. Linear in the text: every
// character is looked at a bounded number of times, and long words are passed over.
import type { FactKind } from "../compaction/loss-receipt.ts";
import { formatNumber, numberAt } from "./number-word.ts";
import { hasFileExtension, pathOf } from "./path-word.ts";
import { COLON, DIGIT, DOT, LOWER, OTHER, SLASH, scanWords, UNDERSCORE, UPPER } from "./word-scan.ts";

/** Takes a fact; the same one may come again. */
export type AddFact = (kind: FactKind, fact: string) => void;

/** Longest word looked into, and longest URL taken, in characters: what is longer is data. */
const LONGEST_WORD = 440;
const LONGEST_URL = 2000;
const SHORTEST_IDENTIFIER = 5;

const SHA = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}$/;
const ISSUE = /#([1-9]\d{0,4})$/;
const TICKET = /^(?!(?:UTF|SHA|ISO|AES|RSA|MD|CP|HTTP|TLS|GPT)-)[A-Z][A-Z0-9]{1,9}-\d{1,6}$/;
const SCOPED = /^[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+$/;
const MEMBER = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;
/** What a name of capitals and digits alone, such as `B33B3`, has not. */
const SMALL_OR_BAR = /[a-z_]/;
const HUMP = /[a-z0-9][A-Z]/;
const SNAKE = /^_*[A-Za-z][A-Za-z0-9]*_+[A-Za-z0-9]/;
const PIECES = /\w+/g;
const URL_END = /[\s"'`<>|\\^{}\u0000-\u001f\u2010-\u201f\u2026\u3000-\u303f]/g;

/** Gives every fact of a text that is one word, in order. */
export function scanFacts(text: string, add: AddFact): void {
  scanWords(text, (start, end, traits) => {
    // Most words of prose: nothing but small letters, or one capital before them.
    if (traits === LOWER || traits === DOT || traits === OTHER) return end;
    if (traits & COLON && traits & SLASH) {
      const urlEnd = takeUrl(text, start, { end, add });
      if (urlEnd > end) return urlEnd;
    }
    if (end - start <= LONGEST_WORD) takeWord(text, { start, end: trimEnd(text, start, end), traits }, add);
    return end;
  });
}

interface Word {
  readonly start: number;
  readonly end: number;
  readonly traits: number;
}

function takeWord(text: string, { start, end, traits }: Word, add: AddFact): void {
  if (end - start < 2) return;
  if (traits & DIGIT && takeNumbered(text, { start, end, traits }, add)) return;
  if (traits & (SLASH | DOT)) {
    const isBare = (traits & (SLASH | COLON | OTHER)) === 0;
    const path = isBare && !hasFileExtension(text, start, end) ? null : pathOf(text.slice(start, end));
    if (path !== null) {
      add("files", path);
      return;
    }
  }
  if (end - start >= SHORTEST_IDENTIFIER - 1 && mayName(traits)) takeNames(text, { start, end, traits }, add);
}

function mayName(traits: number): boolean {
  return (traits & (LOWER | UPPER)) === (LOWER | UPPER) || (traits & (UNDERSCORE | COLON | DOT)) !== 0;
}

/** Takes a SHA, an issue or a number; whether the word was one. */
function takeNumbered(text: string, { start, end, traits }: Word, add: AddFact): boolean {
  // Too few digits, with no unit behind them.
  if (traits === DIGIT && end - start < 3 && text.charCodeAt(end) !== 0x20) return false;
  if ((traits & ~(COLON | DOT)) === (LOWER | DIGIT) && end - start >= 7 && end - start <= 40) {
    const word = text.slice(start, end);
    if (SHA.test(word)) {
      add("shas", word);
      return true;
    }
  }
  const number = numberAt(text, start, end);
  if (number !== null) {
    add("numbers", formatNumber(number));
    return true;
  }
  return (traits & OTHER) !== 0 && takeIssue(text.slice(start, end), add);
}

function takeIssue(word: string, add: AddFact): boolean {
  const issue = ISSUE.exec(word);
  if (issue !== null) add("issues", `#${issue[1]}`);
  else if (TICKET.test(word)) add("issues", word);
  else return false;
  return true;
}

function takeNames(text: string, { start, end, traits }: Word, add: AddFact): void {
  const word = text.slice(start, end);
  if (traits & COLON && SCOPED.test(word)) add("identifiers", word);
  else if (traits & DOT && text.startsWith("()", end) && MEMBER.test(word)) add("identifiers", `${word}()`);
  if ((traits & (UPPER | UNDERSCORE)) === 0) return;
  if ((traits & ~(LOWER | UPPER | DIGIT | UNDERSCORE)) === 0) takeName(word, add);
  else for (const piece of word.match(PIECES) ?? []) takeName(piece, add);
}

/** camelCase, PascalCase of two humps or more, snake_case. */
function takeName(name: string, add: AddFact): void {
  if (name.length < SHORTEST_IDENTIFIER || name.charCodeAt(0) < 0x41 || !SMALL_OR_BAR.test(name)) return;
  if (HUMP.test(name) || SNAKE.test(name)) add("identifiers", name);
}

/** Sentences end words with marks that are no part of them. */
function trimEnd(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && isEndMark(text.charCodeAt(last - 1))) last -= 1;
  return last;
}

function isEndMark(code: number): boolean {
  return code === 0x2e || code === 0x3a || code === 0x2d;
}

/** Takes the URL that begins in the word, which reaches further than the word; gives its end, or 0 when there is none. */
function takeUrl(text: string, start: number, { end, add }: { readonly end: number; readonly add: AddFact }): number {
  const mark = text.slice(start, Math.min(end, start + 40)).indexOf("://");
  if (mark < 1) return 0;
  const scheme = /[a-z][a-z0-9+]*$/.exec(text.slice(start, start + mark))?.[0];
  if (scheme === undefined) return 0;
  const from = start + mark - scheme.length;
  URL_END.lastIndex = end;
  const stop = URL_END.exec(text)?.index ?? text.length;
  const url = text.slice(from, Math.min(stop, from + LONGEST_URL + 1));
  const trimmed = url.replace(/[.,;:!?)\]*_]{1,9}$/, "");
  if (url.length <= LONGEST_URL && trimmed.length > scheme.length + 3) add("urls", trimmed);
  return Math.max(stop, end + 1);
}

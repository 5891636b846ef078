// The facts in one event, by kind: what a reader may need again and a shortened view may lose. Deterministic, and linear in the texts of
// the event.
import type { FactKind } from "../conversation/compaction.ts";
import { type Event, isUserRequest } from "../conversation/event.ts";
import { filesNamed, textsOf } from "./hidden-content.ts";
import { COLON, DIGIT, DOT, LOWER, OTHER, SLASH, scanWords, UNDERSCORE, UPPER } from "./words.ts";

/** Facts by kind, each once, in order of appearance; kinds without facts are absent. */
export type Facts = ReadonlyMap<FactKind, ReadonlySet<string>>;

/** Returns the facts of an event as a model is sent it, without commands (they need the view, see hidden-content.ts) and pins. */
export function factsOf(event: Event): Facts {
  const facts = new Map<FactKind, Set<string>>();
  const add = (kind: FactKind, fact: string): void => {
    const known = facts.get(kind);
    if (known === undefined) facts.set(kind, new Set([fact]));
    else known.add(fact);
  };
  if (event.type === "tool_call_request")
    for (const file of filesNamed(event.arguments)) add("files", normalPath(file));
  for (const text of textsOf(event)) scanFacts(text, add);
  for (const line of errorLines(event)) add("errors", line);
  for (const sentence of requestSentences(event)) add("requests", sentence);
  return facts;
}

/** Returns the facts of a plain text that are single words. */
export function factsOfText(text: string): Facts {
  return factsOf({ type: "chat_response", id: "", timestamp: "", message: text });
}

/** Characters of a line that are checked for the beginning of an error. */
const LINE_START = 160;
const ERROR_LINE =
  /^(?:(?:fatal )?error(?:\[\w{1,12}\])?[: ]|[\w.$]{0,80}(?:Error|Exception)\b(?: \[\w{1,40}\])?:|panic(?:ked)?[: ]|panicked at|Traceback \(|fatal: |npm ERR!|thread '[^']{1,80}' panicked|AssertionError\b)/i;
/** A failed test, as vitest, jest, go and pytest print it. */
const FAILED_TEST = /^(?:--- FAIL: |FAIL(?:ED)?[ \t]{1,2}\S|[×✗✘✖] \S)/;
const ERROR_INSIDE = /^\S{1,100}: (?:fatal )?error\b/;
/** Many tools begin the result of a failed call with its exit code alone; the error is what follows. */
const EXIT_CODE = /^\s*exit(?:ed with)? (?:code|status):? \d{1,3}\.?[ \t]*(?:\r?\n|$)/i;
/** Every such line contains one of these; searched first, because most texts have none. */
const ERROR_SIGN = /err(?:or|!)|exception|panic|traceback|fatal/gi;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** Bounds of a piece of a text: `text.slice(start, end)`, without blanks at its ends. */
export type VisitPiece = (start: number, end: number) => void;

/**
 * Returns the first lines of the errors in the result of a call; those of other events are quotations. Where a failed result has no line
 * that looks like an error, it is the first that names a failed test, or the first of all.
 */
export function errorLines(event: Event): readonly string[] {
  if (event.type !== "tool_call_response") return [];
  const lines: string[] = [];
  for (const text of textsOf(event)) {
    scanSigned(text, (start, end) => {
      const head = text.slice(start, Math.min(end, start + LINE_START));
      if (ERROR_LINE.test(head) || ERROR_INSIDE.test(head)) lines.push(text.slice(start, end));
    });
  }
  return lines.length === 0 && event.is_error ? failureOf(textsOf(event)) : lines;
}

/** The first line that names a failed test, or that is not blank, past an exit code that stands alone; empty if there is none. */
function failureOf(texts: readonly string[]): readonly string[] {
  const lines = texts.flatMap((text) => linesOf(text.replace(EXIT_CODE, "")));
  const line = lines.find((one) => FAILED_TEST.test(one)) ?? lines[0];
  return line === undefined ? [] : [line];
}

function linesOf(text: string): readonly string[] {
  const lines: string[] = [];
  scanLines(text, (start, end) => lines.push(text.slice(start, end)));
  return lines;
}

/** Visits the lines in which an error may begin. */
function scanSigned(text: string, visit: VisitPiece): void {
  let found = nextSign(text, 0);
  while (found >= 0) {
    const newline = text.indexOf("\n", found);
    const end = newline < 0 ? text.length : newline;
    visitTrimmed(text, { start: text.lastIndexOf("\n", found) + 1, end }, visit);
    found = nextSign(text, end + 1);
  }
}

function nextSign(text: string, from: number): number {
  ERROR_SIGN.lastIndex = from;
  return ERROR_SIGN.exec(text)?.index ?? -1;
}

/** Returns the sentences of a request that a person typed, not a harness or a summary. */
export function requestSentences(event: Event): readonly string[] {
  if (!isUserRequest(event)) return [];
  const sentences: string[] = [];
  for (const text of textsOf(event)) {
    scanSentences(text, (start, end) => {
      const sentence = text.slice(start, end);
      if (HAS_WORD.test(sentence)) sentences.push(sentence);
    });
  }
  return sentences;
}

/** Visits the lines of a text that are not blank. */
export function scanLines(text: string, visit: VisitPiece): void {
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    visitTrimmed(text, { start: at, end }, visit);
    at = end + 1;
  }
}

/** Visits the sentences of a text: a line ends one, and so does a full stop, ! or ? before a blank. */
export function scanSentences(text: string, visit: VisitPiece): void {
  scanLines(text, (lineStart, lineEnd) => {
    let start = lineStart;
    for (let at = lineStart; at < lineEnd; at += 1) {
      const isEnd = isSentenceEnd(text.charCodeAt(at)) && isBlank(text.charCodeAt(at + 1));
      if (!isEnd) continue;
      visitTrimmed(text, { start, end: at + 1 }, visit);
      start = at + 1;
    }
    visitTrimmed(text, { start, end: lineEnd }, visit);
  });
}

/** Visits the lines of a text, the sentences that are not whole lines, and code spans in a line. */
export function scanPieces(text: string, visit: VisitPiece): void {
  scanLines(text, (start, end) => {
    visit(start, end);
    let open = -1;
    let from = start;
    for (let at = start; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x60) {
        if (open >= 0) visitTrimmed(text, { start: open, end: at }, visit);
        open = at + 1;
      } else if (isSentenceEnd(code) && isBlank(text.charCodeAt(at + 1))) {
        visitTrimmed(text, { start: from, end: at + 1 }, visit);
        from = at + 1;
      }
    }
    if (from > start) visitTrimmed(text, { start: from, end }, visit);
  });
}

function visitTrimmed(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  visit: VisitPiece,
) {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  if (from < to) visit(from, to);
}

function isSentenceEnd(code: number): boolean {
  return code === 0x2e || code === 0x21 || code === 0x3f;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

/** Extensions that make a bare name a file; after a slash any extension does. */
const EXTENSIONS: ReadonlySet<string> = new Set(
  (
    "astro bash bat c cc cfg cjs clj cmake conf cpp cs css csv cts cxx d dart diff ex exs fish go gql gradle graphql h hcl " +
    "hpp hs htm html ini ipynb java jl js json json5 jsonc jsonl jsx kt kts less lock log lua m md mdx mjs ml mm mod mts nix " +
    "patch php pl png pdf proto ps1 py pyi r rb rs rst sass scala scss sh sql sum svelte svg swift tcl tex tf tmpl toml ts " +
    "tsv tsx txt vue wasm xml yaml yml zig zsh jpg jpeg gif webp"
  ).split(" "),
);
/** Characters that are not in paths, but in places in a file. */
const MARKED = /[:#%]/;
const EXTENSION = /^[A-Za-z][A-Za-z0-9]{0,7}$/;
const PLACE = /(?::\d{1,9}){1,2}(?:-\d{1,9})?$|#L\d{1,9}(?:-L?\d{1,9})?$/;
/** Marks that end words of prose, and slashes after a directory. */
const END_MARKS = ".:-/";
/** The system's own, the same on every machine: `/dev/null`. */
const DEVICE = /^\/(?:dev|proc|sys)(?:\/|$)/;
/** Longest word accepted as a path, characters. */
const LONGEST = 400;

/**
 * Returns the path that a word is, without a leading `./` and a trailing place in the file (`:12:3`, `#L12`); null when it is none. A path
 * is absolute with at least two segments, or ends in a name with an extension; a bare name needs a known extension.
 */
export function pathOf(word: string): string | null {
  if (word.length > LONGEST + 24) return null;
  const path = withoutEndMarks(normalPath(MARKED.test(word) ? word.replace(PLACE, "") : word));
  if (path.length > LONGEST || MARKED.test(path) || path.includes("//") || DEVICE.test(path)) return null;
  const slash = path.lastIndexOf("/");
  if (slash > 0 && (path.startsWith("/") || path.startsWith("~/")) && path.indexOf("/", 1) > 0) return path;
  const dot = path.lastIndexOf(".");
  const extension = path.slice(dot + 1);
  if (dot < slash + 2 || !EXTENSION.test(extension)) return null;
  return slash >= 0 || EXTENSIONS.has(extension) ? path : null;
}

/** Removes end marks, also from what is left of a last segment: a path that was found is found again in itself. */
function withoutEndMarks(path: string): string {
  let end = path.length;
  while (end > 0 && END_MARKS.includes(path.charAt(end - 1))) end -= 1;
  return path.slice(0, end);
}

/** Whether a word without slashes and marks can be a file: quicker than `pathOf`, and checked before it. */
function hasFileExtension(text: string, start: number, end: number): boolean {
  const dot = text.lastIndexOf(".", end - 1);
  return dot > start && EXTENSIONS.has(text.slice(dot + 1, end));
}

/** Removes a leading `./` and trailing slashes from a path. */
export function normalPath(path: string): string {
  const start = path.startsWith("./") ? 2 : 0;
  let end = path.length;
  while (end > start + 1 && path.endsWith("/", end)) end -= 1;
  return path.slice(start, end);
}

/** Returns the ends of a path that begin at a segment, longest first, the base name last, without the path itself. */
export function pathEnds(path: string): readonly string[] {
  const ends: string[] = [];
  for (let at = path.indexOf("/"); at >= 0 && at < path.length - 1; at = path.indexOf("/", at + 1))
    ends.push(path.slice(at + 1));
  return ends;
}

// Finds the facts that are single words of a text: files, numbers, SHAs, issues, identifiers and URLs. Linear in the text: every character
// is read a bounded number of times, and long words are skipped.

/** Receives a fact, possibly more than once. */
type AddFact = (kind: FactKind, fact: string) => void;

/** Longest word read, and longest URL accepted, characters: anything longer is data. */
const LONGEST_WORD = 440;
const LONGEST_URL = 2000;
const SHORTEST_IDENTIFIER = 5;

const SHA = /^(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}$/;
const ISSUE = /#([1-9]\d{0,4})$/;
const TICKET = /^(?!(?:UTF|SHA|ISO|AES|RSA|MD|CP|HTTP|TLS|GPT)-)[A-Z][A-Z0-9]{1,9}-\d{1,6}$/;
const SCOPED = /^[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+$/;
const MEMBER = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$/;
/** A name without these is only capitals and digits, such as `B33B3`. */
const SMALL_OR_BAR = /[a-z_]/;
const HUMP = /[a-z0-9][A-Z]/;
const SNAKE = /^_*[A-Za-z][A-Za-z0-9]*_+[A-Za-z0-9]/;
const PIECES = /\w+/g;
const URL_END = /[\s"'`<>|\\^{}\u0000-\u001f\u2010-\u201f\u2026\u3000-\u303f]/g;

/** Reports every fact of a text that is one word, in order. */
export function scanFacts(text: string, add: AddFact): void {
  scanWords(text, (start, end, traits) => {
    // Most words of prose: only small letters, or one capital before them.
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

/** Reports a SHA, an issue or a number; returns whether the word was one. */
function takeNumbered(text: string, { start, end, traits }: Word, add: AddFact): boolean {
  // Too few digits, with no unit after them.
  if (traits === DIGIT && end - start < 3 && text.charCodeAt(end) !== 0x20) return false;
  if ((traits & ~(COLON | DOT)) === (LOWER | DIGIT) && end - start >= 7 && end - start <= 40) {
    const word = text.slice(start, end);
    if (SHA.test(word)) {
      if (!isPartOfUuid(text, { start, end })) add("shas", word);
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

/** Characters of the first and the last group of a UUID. */
const FIRST_OF_UUID = 8;
const LAST_OF_UUID = 12;

/**
 * Whether a word is a group of a UUID: the first one before a hyphen, as in `3f2504e0-…`, or one of a whole UUID that the text has, too,
 * as tools print abbreviated ids.
 */
function isPartOfUuid(text: string, { start, end }: { readonly start: number; readonly end: number }): boolean {
  const length = end - start;
  if (length === FIRST_OF_UUID && text.charAt(end) === "-") return true;
  if (length !== FIRST_OF_UUID && length !== LAST_OF_UUID) return false;
  const word = text.slice(start, end);
  const wanted = length === FIRST_OF_UUID ? `${word}-` : `-${word}`;
  const from = length === FIRST_OF_UUID ? 0 : UUID_LENGTH - LAST_OF_UUID - 1;
  let tries = MOST_TRIES;
  for (let at = text.indexOf(wanted); at >= 0 && tries > 0; at = text.indexOf(wanted, at + 1)) {
    if (at >= from && UUID.test(text.slice(at - from, at - from + UUID_LENGTH))) return true;
    tries -= 1;
  }
  return false;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UUID_LENGTH = 36;
/** Places searched for the whole of it, so that no text takes long. */
const MOST_TRIES = 4;

function takeIssue(word: string, add: AddFact): boolean {
  const issue = ISSUE.exec(word);
  if (issue !== null) add("issues", `#${issue[1]}`);
  else if (TICKET.test(word)) add("issues", word);
  else return false;
  return true;
}

function takeNames(text: string, { start: first, end, traits }: Word, add: AddFact): void {
  // In text that was escaped once more, `\nThis` is a line feed and a word.
  const start = text.charAt(first - 1) === "\\" && ESCAPED.includes(text.charAt(first)) ? first + 1 : first;
  const word = text.slice(start, end);
  if (traits & COLON && SCOPED.test(word)) add("identifiers", word);
  else if (traits & DOT && text.startsWith("()", end) && MEMBER.test(word)) add("identifiers", `${word}()`);
  if ((traits & (UPPER | UNDERSCORE)) === 0) return;
  if ((traits & ~(LOWER | UPPER | DIGIT | UNDERSCORE)) === 0) takeName(word, add);
  else for (const piece of word.match(PIECES) ?? []) takeName(piece, add);
}

const ESCAPED = "nrt";

/** camelCase, PascalCase of at least two humps, snake_case. */
function takeName(name: string, add: AddFact): void {
  if (name.length < SHORTEST_IDENTIFIER || name.charCodeAt(0) < 0x41 || !SMALL_OR_BAR.test(name)) return;
  if (HUMP.test(name) || SNAKE.test(name)) add("identifiers", name);
}

/** Removes marks of the sentence from the end of a word. */
function trimEnd(text: string, start: number, end: number): number {
  let last = end;
  while (last > start && isEndMark(text.charCodeAt(last - 1))) last -= 1;
  return last;
}

function isEndMark(code: number): boolean {
  return code === 0x2e || code === 0x3a || code === 0x2d;
}

/** Reports the URL that begins in the word and extends past it; returns its end, or 0 when there is none. */
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

// Which words are numbers worth remembering: at least three digits, or fewer with a unit. Line numbers of listings and timestamps do not
// count.

const NUMBER = /^[-+~]?(\d{1,20}(?:[,_]\d{3}){0,6}(?:\.\d{1,20})?)(%|[A-Za-z]{1,5})?$/;
const UNITS: ReadonlySet<string> = new Set(
  "% ns us ms s sec secs min mins h hrs b kb mb gb tb kib mib gib tib k m g px em rem x hz khz mhz ghz fps".split(" "),
);
/** Units that follow a blank; `s` and `x` alone would be words. */
const UNIT_WORDS: ReadonlySet<string> = new Set(
  (
    "ns ms sec secs second seconds min mins minute minutes hour hours day days bytes kb mb gb tb kib mib gib tib " +
    "tokens percent px hz khz mhz ghz fps"
  ).split(" "),
);
/** Longest number with its unit, characters. */
const LONGEST_NUMBER = 48;
/** Fewest digits of a number without a unit, not counting leading zeros. */
const FEWEST_DIGITS = 3;
/** Seconds and milliseconds since 1970, from 2017 to 2033. */
const TIMESTAMP = /^1[5-9]\d{8}(?:\d{3})?$/;

/** Years as they are in dates and copyright lines. */
const YEAR = /^(?:19[789]\d|20[0-3]\d)$/;
const SHORT_TIMES: ReadonlySet<string> = new Set("ns us ms s sec secs second seconds".split(" "));

/** How long something took, such as `0.004s`: another run takes another time. A limit that somebody chose is a whole number. */
function isMeasuredTime(digits: string, unit: string): boolean {
  return digits.includes(".") && SHORT_TIMES.has(unit);
}

/** A number in comparable form: digits without group marks, and its unit in lower case. */
interface NumberWord {
  /** Without sign and group marks, e.g. `1234.5`. */
  readonly digits: string;
  /** Empty = none. */
  readonly unit: string;
}

/** Returns the number that `text.slice(start, end)` is, with a unit in it or in the next word; null when it is none. */
function numberAt(text: string, start: number, end: number): NumberWord | null {
  if (end - start > LONGEST_NUMBER || !mayBeNumber(text.charCodeAt(start))) return null;
  const match = NUMBER.exec(text.slice(start, end));
  if (match === null) return null;
  const [, written = "", attached = ""] = match;
  const unit = attached === "" ? unitAfter(text, end) : attached.toLowerCase();
  if (attached !== "" && !UNITS.has(unit)) return null;
  const digits = match[0].length > FEWEST_DIGITS ? written.replace(/[,_]/g, "") : written;
  if (unit !== "") return isMeasuredTime(digits, unit) ? null : { digits, unit };
  const tooFew = digits.replace(".", "").replace(/^0+/, "").length < FEWEST_DIGITS;
  return tooFew || TIMESTAMP.test(digits) || YEAR.test(digits) || isLineNumber(text, start, end)
    ? null
    : { digits, unit };
}

/** Formats a number as a fact: `1234`, `45%`, `12 ms`, `3x`; `numberAt` reads it back. */
function formatNumber({ digits, unit }: NumberWord): string {
  return UNIT_WORDS.has(unit) ? `${digits} ${unit}` : `${digits}${unit}`;
}

/** A digit, or a sign before one. */
function mayBeNumber(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x7e;
}

function unitAfter(text: string, end: number): string {
  if (text.charCodeAt(end) !== 0x20) return "";
  let stop = end + 1;
  while (stop < end + 10 && isLetter(text.charCodeAt(stop))) stop += 1;
  const word = text.slice(end + 1, stop).toLowerCase();
  return UNIT_WORDS.has(word) ? word : "";
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

/** At the start of a line and followed by what listings put between number and text. */
function isLineNumber(text: string, start: number, end: number): boolean {
  const next = text[end];
  if (next !== "→" && next !== "\t" && next !== "|" && next !== "│" && next !== ":") return false;
  let before = start - 1;
  while (before >= start - 12 && text.charCodeAt(before) === 0x20) before -= 1;
  return before < 0 || text.charCodeAt(before) === 0x0a;
}

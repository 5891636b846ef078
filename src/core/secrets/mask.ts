// Masks secrets that are known by their text, in texts and in lines of JSON: in each form in which they may be written.
import { encodeBase64 } from "../json.ts";
import { escapeForPattern } from "../look/search-words.ts";
import { forHost, forHostLine } from "../safe-text.ts";

/** Characters shown of its beginning at most: the marks of issuers, such as `sk-ant-` or `ghp_`, and no more than a fifth of it. */
const SHOWN = 7;

/** Gives a sample for people, e.g. `ghp_… (40 characters)`; of a short one nothing but its length. */
export function sampleOf(secret: string): string {
  const shown = secret.slice(0, Math.min(SHOWN, Math.floor(secret.length / 5))).replace(/[^A-Za-z0-9_-].*$/s, "");
  return `${shown}… (${secret.length} characters)`;
}

/** Shorter strings hold no secret, characters with their quotes. */
const SHORTEST = 6;

/** A number as JSON writes it, or nearly. */
const NUMBER = /-?\d[\d.eE+-]*/g;

/** Masks the strings and numbers of a line; `names` = whole strings that stand for something else, by what they are. What is no JSON is masked as a text. */
export function maskLine(line: string, masker: TextMasker, names: ReadonlyMap<string, string> = new Map()): string {
  if (!/^\s*[{["]/.test(line)) return masker.mask(line);
  // What goes over several parts first: each of them has a piece of it only.
  const joined = holdsParts(line) ? maskParts(line, masker) : line;
  const masked = maskStrings(joined, masker, names);
  return masked === line ? line : withoutProof(line, masked);
}

function maskStrings(line: string, masker: TextMasker, names: ReadonlyMap<string, string>): string {
  let masked = "";
  let from = 0;
  let behind = 0;
  const put = (start: number, end: number, text: string): void => {
    masked += line.slice(from, start) + text;
    from = end;
  };
  const putNumbers = (end: number): void => {
    const between = line.slice(behind, end);
    const other = between.length < SHORTEST ? between : maskNumbers(between, masker);
    if (other !== between) put(behind, end, other);
  };
  for (let open = line.indexOf('"'); open >= 0; ) {
    const close = closingQuote(line, open);
    if (close < 0) break;
    const end = close + 1;
    putNumbers(open);
    if (end - open >= SHORTEST) {
      const value = textOf(line.slice(open, end));
      const other = names.get(value) ?? masker.mask(value);
      if (other !== value) put(open, end, JSON.stringify(other));
    }
    behind = end;
    open = line.indexOf('"', end);
  }
  putNumbers(line.length);
  return from === 0 ? line : masked + line.slice(from);
}

/** A number that holds a secret, a card's say, becomes a string: no number says that it is a mask. */
function maskNumbers(text: string, { mask }: TextMasker): string {
  return text.replace(NUMBER, (number) => {
    const other = mask(number);
    return other === number ? number : JSON.stringify(other);
  });
}

function closingQuote(line: string, open: number): number {
  for (let close = line.indexOf('"', open + 1); close >= 0; close = line.indexOf('"', close + 1)) {
    let slashes = 0;
    while (line[close - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return close;
  }
  return -1;
}

function textOf(token: string): string {
  const inner = token.slice(1, -1);
  if (!inner.includes("\\")) return inner;
  const value = parse(token);
  return typeof value === "string" ? value : inner;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function holdsParts(line: string): boolean {
  const first = line.indexOf('"text"');
  return first >= 0 && line.includes('"text"', first + 1);
}

interface TextPart {
  text: string;
}

/** Masks what begins in one part of a content and ends in a later one. */
function maskParts(line: string, masker: TextMasker): string {
  const value = parse(line);
  let isChanged = false;
  for (const parts of partsIn(value)) if (maskAcross(parts, masker)) isChanged = true;
  return isChanged ? JSON.stringify(value) : line;
}

/** The texts of each content in a line that has several. */
export function textsOfContents(line: string): readonly (readonly string[])[] {
  return holdsParts(line) ? [...partsIn(parse(line))].map((parts) => parts.map(({ text }) => text)) : [];
}

/** The text parts of each list in a value. */
function* partsIn(value: unknown): Generator<TextPart[]> {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== "object" || next === null) continue;
    const parts = Array.isArray(next) ? next.filter(isTextPart) : [];
    if (parts.length > 1) yield parts;
    for (const inner of Object.values(next)) waiting.push(inner);
  }
}

/** Whether a value is a part of a content that is a text. */
export function isTextPart(value: unknown): value is TextPart {
  return typeof value === "object" && value !== null && "text" in value && typeof value.text === "string";
}

function maskAcross(parts: readonly TextPart[], masker: TextMasker): boolean {
  const spans = masker.spans(parts.map(({ text }) => text).join(""));
  let start = 0;
  let isChanged = false;
  for (const part of parts) {
    const end = start + part.text.length;
    const own = spans.flatMap((span) => spanWithin(span, start, end));
    if (own.length > 0) {
      part.text = replaceSpans(part.text, own);
      isChanged = true;
    }
    start = end;
  }
  return isChanged;
}

/** The part of a span between two positions; its mask stands where it begins. */
function spanWithin({ start, end, mask }: MaskedSpan, from: number, to: number): readonly MaskedSpan[] {
  if (end <= from || start >= to) return [];
  return [{ start: Math.max(start, from) - from, end: Math.min(end, to) - from, mask: start >= from ? mask : "" }];
}

interface Reasoned {
  readonly reasoning?: unknown;
  readonly metadata?: { signature?: unknown; encrypted?: unknown };
}

/** A provider's signature vouches for a reasoning word by word: where a word changed it goes. */
function withoutProof(before: string, after: string): string {
  if (!after.includes('"reasoning"')) return after;
  const [old, event] = [parse(before), parse(after)] as [Reasoned | undefined, Reasoned | undefined];
  const metadata = event?.metadata;
  if (typeof metadata !== "object" || metadata === null) return after;
  const isSame = JSON.stringify(old?.reasoning) === JSON.stringify(event?.reasoning);
  if (isSame || (metadata.signature === undefined && metadata.encrypted === undefined)) return after;
  delete metadata.signature;
  delete metadata.encrypted;
  return JSON.stringify(event);
}

/** A part of a text that a mask stands for, UTF-16 units, `end` exclusive. */
interface MaskedSpan {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

interface TextMasker {
  /** What is to be masked in a text, in order, none overlapping. */
  spans(text: string): readonly MaskedSpan[];
  /** The text with masks. One without secrets is returned as it is. */
  mask(text: string): string;
}

export interface Masker extends TextMasker {
  /** The same of a text whose lines may have been cut, as in a commit's message. */
  maskLines(text: string): string;
}

/** A cut text gives a secret away from so many of its characters on. */
const LEAST_CUT = 8;

/** Creates a masker; `masks` = masks by secret, each secret not empty. */
export function createMasker(masks: ReadonlyMap<string, string>): Masker {
  const forms = formsOf(masks);
  // The longest first: one may be a part of another.
  const secrets = [...forms.keys()].sort((a, b) => b.length - a.length);
  const pattern = secrets.length === 0 ? null : new RegExp(secrets.map(escapeForPattern).join("|"), "g");
  const cuttable = secrets.filter((secret) => secret.length > LEAST_CUT);
  const whole = (text: string): MaskedSpan[] =>
    pattern === null
      ? []
      : [...text.matchAll(pattern)].map(({ 0: secret, index }) => spanOf(index, index + secret.length, secret));
  const spanOf = (start: number, end: number, secret: string): MaskedSpan => ({
    start,
    end,
    mask: forms.get(secret) ?? "",
  });
  const cut = (text: string, ends: RegExp): MaskedSpan[] =>
    cutsOf(text, ends).flatMap(({ ends, begins }) =>
      cuttable.flatMap((secret) => [
        ...(ends === undefined ? [] : beginningBefore(text, secret, ends).map((start) => spanOf(start, ends, secret))),
        ...(begins === undefined ? [] : endBehind(text, secret, begins).map((end) => spanOf(begins, end, secret))),
      ]),
    );
  const spans = (text: string, ends = DOTS): readonly MaskedSpan[] => {
    if (text.length < 4 || pattern === null) return [];
    const found = [...whole(text), ...cut(text, ends)];
    const plain = meantText(text);
    if (plain !== null)
      for (const { start, end, mask } of [...whole(plain.text), ...cut(plain.text, ends)])
        found.push({ ...plain.placeOf(start, end), mask });
    return joinSpans(found);
  };
  return {
    spans: (text) => spans(text),
    mask: (text) => replaceSpans(text, spans(text)),
    maskLines: (text) => replaceSpans(text, spans(text, DOTS_AND_LINES)),
  };
}

/** Secrets as they are, and as they stand in messages for hosts, with blanks behind signs. */
function formsOf(masks: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const forms = new Map(masks);
  for (const [secret, mask] of masks)
    for (const form of [forHost(secret), forHostLine(secret)]) if (!forms.has(form)) forms.set(form, mask);
  return forms;
}

/** Gives a text with masks in it. */
export function replaceSpans(text: string, spans: readonly MaskedSpan[]): string {
  if (spans.length === 0) return text;
  let masked = "";
  let from = 0;
  for (const { start, end, mask } of spans) {
    masked += text.slice(from, start) + mask;
    from = end;
  }
  return masked + text.slice(from);
}

/** Of spans that overlap one is made, with the mask of the one that begins first, and of those the longest. */
function joinSpans(found: readonly MaskedSpan[]): readonly MaskedSpan[] {
  if (found.length < 2) return found;
  const joined: MaskedSpan[] = [];
  for (const span of found.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1);
    if (last === undefined || span.start >= last.end) joined.push(span);
    else if (span.end > last.end) joined[joined.length - 1] = { ...last, end: span.end };
  }
  return joined;
}

/** Where a text may have been cut: a part of it ends at `ends`, or begins at `begins`. */
interface Cut {
  readonly ends?: number;
  readonly begins?: number;
}

const DOTS = /…|\.{3}/g;
const DOTS_AND_LINES = /…|\.{3}|\n/g;

function cutsOf(text: string, marks: RegExp): readonly Cut[] {
  // A subject of a commit is cut where it ends, and a line end is behind it.
  const cuts: Cut[] = [{ begins: 0, ends: text.trimEnd().length }, { ends: text.search(/\n|$/) }];
  for (const { 0: dots, index } of text.matchAll(marks)) cuts.push({ ends: index, begins: index + dots.length });
  return cuts;
}

/** Where a secret's beginning begins that ends at a position, the longest; none where it does not stand there. */
function beginningBefore(text: string, secret: string, end: number): readonly number[] {
  const from = Math.max(0, end - secret.length);
  const tail = text.slice(from, end);
  const mark = secret.slice(0, LEAST_CUT);
  for (let at = tail.indexOf(mark); at >= 0; at = tail.indexOf(mark, at + 1))
    if (secret.startsWith(tail.slice(at))) return [from + at];
  return [];
}

/** Where a secret's end ends that begins at a position, the longest. */
function endBehind(text: string, secret: string, begin: number): readonly number[] {
  const head = text.slice(begin, begin + secret.length);
  const mark = secret.slice(-LEAST_CUT);
  for (let at = head.lastIndexOf(mark); at >= 0; at = at === 0 ? -1 : head.lastIndexOf(mark, at - 1))
    if (secret.endsWith(head.slice(0, at + LEAST_CUT))) return [begin + at + LEAST_CUT];
  return [];
}

// A text as it was meant: without what colours a terminal's text, and with the escapes of JSON, however deep, put back into
// characters. Every position is known in the text that it was made of, so that what is found here can be taken out there.

/** A text and where it came from. */
interface MeantText {
  readonly text: string;
  /** Where characters `start` to `end` (exclusive) stand in the original text, UTF-16 units. */
  placeOf(start: number, end: number): { readonly start: number; readonly end: number };
}

/** A colour of a terminal, or an escape: a JSON text inside a JSON text has more backslashes, all of which are looked at once. */
const WRITTEN = /\u001b\[[\d;]*[mK]|(?<!\\)\\+(?:u([0-9a-fA-F]{4})|([nrt"'/]))/g;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A part of the original text: as it is, or written as one character or none. */
interface Part {
  /** Where it begins in the plain text, and in the original. */
  readonly at: number;
  readonly from: number;
  readonly end: number;
  readonly isWritten: boolean;
}

/** Resolves a text; null when it is plain already. */
export function meantText(text: string): MeantText | null {
  if (!text.includes("\\") && !text.includes("\u001b[")) return null;
  const parts: Part[] = [];
  let plain = "";
  let from = 0;
  const add = (end: number, isWritten: boolean, characters: string): void => {
    if (end > from) parts.push({ at: plain.length, from, end, isWritten });
    plain += characters;
    from = end;
  };
  for (const match of text.matchAll(WRITTEN)) {
    add(match.index, false, text.slice(from, match.index));
    add(match.index + match[0].length, true, characterOf(match[1], match[2]));
  }
  if (parts.length === 0) return null;
  add(text.length, false, text.slice(from));
  return {
    text: plain,
    placeOf: (start, end) => ({ start: placeOf(parts, start).start, end: placeOf(parts, end - 1).end }),
  };
}

function characterOf(code: string | undefined, letter: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return letter === undefined ? "" : (LETTERS[letter] ?? letter);
}

/** Where one character stands. */
function placeOf(parts: readonly Part[], position: number): { readonly start: number; readonly end: number } {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((parts[middle]?.at ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  const part = parts[low];
  if (part === undefined) return { start: position, end: position + 1 };
  if (part.isWritten) return { start: part.from, end: part.end };
  const start = part.from + position - part.at;
  return { start, end: start + 1 };
}

/** A shorter piece of base64 is in other data by chance, characters. */
const LEAST_BASE64 = 8;

const ENTITIES: readonly Readonly<Record<string, string>>[] = [
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#x27;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;" },
];

/**
 * Lists the forms of a text, itself first, each once: URL-encoded, HTML-escaped, in upper and lower case, and what is sure of its
 * base64, wherever it begins in what was encoded. Texts of 4 characters and more.
 */
export function writtenForms(text: string): readonly string[] {
  const cased = [text, text.toUpperCase(), text.toLowerCase()];
  const forms = cased.flatMap((one) => [one, ...encodedInUrl(one), ...ENTITIES.map((names) => escapedBy(names, one))]);
  return [...new Set([...forms, ...base64Forms(text)])];
}

function encodedInUrl(text: string): readonly string[] {
  const bytes = [...new TextEncoder().encode(text)];
  const percent = (isPlain: RegExp): string =>
    bytes
      .map((byte) => {
        const char = String.fromCharCode(byte);
        return isPlain.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
      })
      .join("");
  // Encoders differ in what they leave alone (encodeURIComponent, encodeURI, RFC 3986, forms).
  const encoded = [/[\w.~-]/, /[\w.!~*'()-]/, /[\w.!~*'();/?:@&=+$,#-]/].map(percent);
  const all = encoded.flatMap((one) => [one, one.replaceAll("%20", "+")]);
  return all.flatMap((one) => [one, one.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

function escapedBy(names: Readonly<Record<string, string>>, text: string): string {
  return text.replace(/[&<>"']/g, (char) => names[char] ?? char);
}

/** By how many bytes are before it in its group of three: characters that depend on neighbours are left out at both ends. */
function base64Forms(text: string): readonly string[] {
  const bytes = new TextEncoder().encode(text);
  const forms = [0, 1, 2].flatMap((before) => {
    const encoded = encodeBase64(Uint8Array.of(...new Uint8Array(before), ...bytes)).replace(/=+$/, "");
    const isWhole = (before + bytes.length) % 3 === 0;
    const sure = encoded.slice(before === 0 ? 0 : before + 1, isWhole ? undefined : -1);
    return [sure, sure.replaceAll("+", "-").replaceAll("/", "_")];
  });
  return forms.filter((form) => form.length >= LEAST_BASE64);
}

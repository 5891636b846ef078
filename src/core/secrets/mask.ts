// Masks known secrets in texts and in lines of JSON, in every form in which they may be written.
import { encodeBase64 } from "../json.ts";
import { escapeForPattern } from "../look/search-words.ts";
import { forHost, forHostLine } from "../safe-text.ts";

/** Most characters shown of a secret: enough for the marks of issuers, such as `sk-ant-` or `ghp_`, and at most a fifth of it. */
const SHOWN = 7;

/** Returns a sample for people, e.g. `ghp_… (40 characters)`; of a short one only its length. */
export function sampleOf(secret: string): string {
  const shown = secret.slice(0, Math.min(SHOWN, Math.floor(secret.length / 5))).replace(/[^A-Za-z0-9_-].*$/s, "");
  return `${shown}… (${secret.length} characters)`;
}

/** Shorter strings hold no secret, characters with their quotes. */
const SHORTEST = 6;

/** A number as JSON writes it, or nearly. */
const NUMBER = /-?\d[\d.eE+-]*/g;

/** Masks the strings and numbers of a line of JSON; other lines as a text. `names` = replacements of whole strings. */
export function maskLine(line: string, masker: TextMasker, names: ReadonlyMap<string, string> = new Map()): string {
  if (!/^\s*[{["]/.test(line)) return masker.mask(line);
  // First secrets that span several parts: each part has only a piece of them.
  const joined = holdsParts(line) ? maskParts(line, masker) : line;
  const masked = maskStrings(joined, masker, names);
  return masked === line ? line : withoutStaleSignature(line, masked);
}

function maskStrings(line: string, masker: TextMasker, names: ReadonlyMap<string, string>): string {
  let masked = "";
  let from = 0;
  let after = 0;
  const put = (start: number, end: number, text: string): void => {
    masked += line.slice(from, start) + text;
    from = end;
  };
  const putNumbers = (end: number): void => {
    const between = line.slice(after, end);
    const other = between.length < SHORTEST ? between : maskNumbers(between, masker);
    if (other !== between) put(after, end, other);
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
    after = end;
    open = line.indexOf('"', end);
  }
  putNumbers(line.length);
  return from === 0 ? line : masked + line.slice(from);
}

/** A number that holds a secret, e.g. a card number, becomes a string: no number shows that it is a mask. */
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

/** Masks secrets that begin in one part of a content and end in a later one. */
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
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== "object" || next === null) continue;
    const parts = Array.isArray(next) ? next.filter(isTextPart) : [];
    if (parts.length > 1) yield parts;
    for (const inner of Object.values(next)) pending.push(inner);
  }
}

/** Whether a value is a text part of a content. */
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

/** The part of a span between two positions; its mask goes where the span begins. */
function spanWithin({ start, end, mask }: MaskedSpan, from: number, to: number): readonly MaskedSpan[] {
  if (end <= from || start >= to) return [];
  return [{ start: Math.max(start, from) - from, end: Math.min(end, to) - from, mask: start >= from ? mask : "" }];
}

interface Reasoned {
  readonly reasoning?: unknown;
  readonly metadata?: { signature?: unknown; encrypted?: unknown };
}

/** A provider's signature covers the exact words of a reasoning: removes it when they changed. */
function withoutStaleSignature(before: string, after: string): string {
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

/** A masked part of a text, UTF-16 units, `end` exclusive. */
interface MaskedSpan {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

interface TextMasker {
  /** The spans to mask in a text, in order, not overlapping. */
  spans(text: string): readonly MaskedSpan[];
  /** The masked text. One without secrets is returned as it is. */
  mask(text: string): string;
}

export interface Masker extends TextMasker {
  /** Like mask, for a text whose lines may have been cut, e.g. a commit message. */
  maskLines(text: string): string;
}

/** Fewest characters of a secret at a cut that are masked. */
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
        ...(begins === undefined ? [] : endAfter(text, secret, begins).map((end) => spanOf(begins, end, secret))),
      ]),
    );
  const spans = (text: string, ends = DOTS): readonly MaskedSpan[] => {
    if (text.length < 4 || pattern === null) return [];
    const found = [...whole(text), ...cut(text, ends)];
    const plain = unescapedText(text);
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

/** Secrets as they are, and as messages for hosts contain them, with blanks after signs. */
function formsOf(masks: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const forms = new Map(masks);
  for (const [secret, mask] of masks)
    for (const form of [forHost(secret), forHostLine(secret)]) if (!forms.has(form)) forms.set(form, mask);
  return forms;
}

/** Replaces spans of a text by their masks. */
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

/** Joins overlapping spans into one, with the mask of the one that begins first, and of those the longest. */
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
  // A commit subject is cut at its end, which a line end follows.
  const cuts: Cut[] = [{ begins: 0, ends: text.trimEnd().length }, { ends: text.search(/\n|$/) }];
  for (const { 0: dots, index } of text.matchAll(marks)) cuts.push({ ends: index, begins: index + dots.length });
  return cuts;
}

/** The start of the longest beginning of a secret that ends at a position; empty when there is none. */
function beginningBefore(text: string, secret: string, end: number): readonly number[] {
  const from = Math.max(0, end - secret.length);
  const tail = text.slice(from, end);
  const mark = secret.slice(0, LEAST_CUT);
  for (let at = tail.indexOf(mark); at >= 0; at = tail.indexOf(mark, at + 1))
    if (secret.startsWith(tail.slice(at))) return [from + at];
  return [];
}

/** The end of the longest end of a secret that begins at a position; empty when there is none. */
function endAfter(text: string, secret: string, begin: number): readonly number[] {
  const head = text.slice(begin, begin + secret.length);
  const mark = secret.slice(-LEAST_CUT);
  for (let at = head.lastIndexOf(mark); at >= 0; at = at === 0 ? -1 : head.lastIndexOf(mark, at - 1))
    if (secret.endsWith(head.slice(0, at + LEAST_CUT))) return [begin + at + LEAST_CUT];
  return [];
}

// A text without terminal colours and with JSON escapes resolved, however deep. Positions map back to the original text, so
// that what is found here can be removed there.

interface UnescapedText {
  readonly text: string;
  /** The place of characters `start` to `end` (exclusive) in the original text, UTF-16 units. */
  placeOf(start: number, end: number): { readonly start: number; readonly end: number };
}

/** A terminal colour, or an escape with any number of backslashes: JSON inside JSON has more. */
const ENCODED = /\u001b\[[\d;]*[mK]|(?<!\\)\\+(?:u([0-9a-fA-F]{4})|([nrt"'/]))/g;
const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/** A part of the original text: literal, or an encoding of one character or none. */
interface Part {
  /** Its position in the plain text, and its start in the original. */
  readonly at: number;
  readonly from: number;
  readonly end: number;
  readonly isEncoded: boolean;
}

/** Unescapes a text; null when it is plain already. */
export function unescapedText(text: string): UnescapedText | null {
  if (!text.includes("\\") && !text.includes("\u001b[")) return null;
  const parts: Part[] = [];
  let plain = "";
  let from = 0;
  const add = (end: number, isEncoded: boolean, characters: string): void => {
    if (end > from) parts.push({ at: plain.length, from, end, isEncoded });
    plain += characters;
    from = end;
  };
  for (const match of text.matchAll(ENCODED)) {
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

/** The place of one character in the original text. */
function placeOf(parts: readonly Part[], position: number): { readonly start: number; readonly end: number } {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((parts[middle]?.at ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  const part = parts[low];
  if (part === undefined) return { start: position, end: position + 1 };
  if (part.isEncoded) return { start: part.from, end: part.end };
  const start = part.from + position - part.at;
  return { start, end: start + 1 };
}

/** Shorter pieces of base64 occur in other data by chance, characters. */
const LEAST_BASE64 = 8;

const ENTITIES: readonly Readonly<Record<string, string>>[] = [
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#x27;" },
  { "&": "&amp;", "<": "&lt;", ">": "&gt;" },
];

/**
 * Lists the forms of a text, itself first, each once: URL-encoded, HTML-escaped, in upper and lower case, and the part of its
 * base64 that is certain at each alignment. Texts of 4 characters and more.
 */
export function encodedForms(text: string): readonly string[] {
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

/** By the number of bytes before it in its group of three; omits characters at both ends that depend on neighbours. */
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

// Masks a line of JSON without writing it anew: its strings are replaced where they stand, names of fields too, and numbers that
// are a secret; everything else (order, padding, forms of numbers, fields that stand there twice) stays as it is.
import { type MaskedSpan, replaceSpans, type TextMasker } from "./masker.ts";

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

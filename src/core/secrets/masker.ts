// Puts masks in the place of secrets that are known by their text: wherever they stand, also where they are written with
// escapes, and where a text was cut in the middle of one.
import { forHost, forHostLine } from "../host-text.ts";
import { escapeForPattern } from "../text-pattern.ts";
import { meantText } from "./meant-text.ts";

/** A part of a text that a mask stands for, UTF-16 units, `end` exclusive. */
export interface MaskedSpan {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

export interface TextMasker {
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

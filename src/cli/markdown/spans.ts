// Text in pieces of one colour each, wrapped at the width of a terminal: words stay whole where they fit, indentation stays, and
// beside a wide character (CJK, emoji) a line may end anywhere.
import { forTerminal, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { charactersOf, displayWidth } from "../frame/display-width.ts";
import type { Paint } from "../frame/style.ts";

/** A piece of text; a line feed in it ends the line. */
export interface Span {
  readonly text: SafeText;
  readonly paint: Paint;
}

/** A word, which no line is broken in, or a run of blanks. */
interface Atom {
  readonly spans: readonly Span[];
  readonly width: number;
  readonly isBlank: boolean;
}

/** Wraps spans into lines of at most `width` (>= 2) columns, colours in them. Blanks at the ends of lines go. */
export function wrapSpans(spans: readonly Span[], width: number): readonly SafeText[] {
  return linesOf(spans).flatMap((line) => wrapLine(atomsOf(line), width).map(paintLine));
}

/** Columns of the widest line of spans. */
export function widthOfSpans(spans: readonly Span[]): number {
  return Math.max(...linesOf(spans).map(widthOf));
}

function widthOf(line: readonly Span[]): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

function linesOf(spans: readonly Span[]): readonly (readonly Span[])[] {
  const lines: Span[][] = [[]];
  for (const { text, paint } of spans)
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push({ text: forTerminal(part), paint });
    }
  return lines;
}

/** A word may have several colours. */
function atomsOf(line: readonly Span[]): readonly Atom[] {
  const atoms: Atom[] = [];
  let spans: Span[] = [];
  const end = (isBlank: boolean): void => {
    if (spans.length > 0) atoms.push({ spans, width: widthOf(spans), isBlank });
    spans = [];
  };
  for (const { text, paint } of line)
    for (const piece of piecesOf(text)) {
      if (piece.kind !== "narrow") end(false);
      spans.push({ text: piece.text, paint });
      if (piece.kind !== "narrow") end(piece.kind === "blank");
    }
  end(false);
  return atoms;
}

interface Piece {
  readonly text: SafeText;
  readonly kind: "blank" | "narrow" | "wide";
}

function piecesOf(text: SafeText): readonly Piece[] {
  return text
    .split(/( +)/)
    .map(forTerminal)
    .flatMap((part): readonly Piece[] => {
      if (part === "") return [];
      if (part.startsWith(" ")) return [{ text: part, kind: "blank" }];
      if (ASCII.test(part)) return [{ text: part, kind: "narrow" }];
      return charactersOf(part).map((character) => ({
        text: character.text,
        kind: character.width > 1 ? "wide" : "narrow",
      }));
    });
}

const ASCII = /^[\x20-\x7e]*$/;

function wrapLine(atoms: readonly Atom[], width: number): readonly (readonly Span[])[] {
  const lines: (readonly Span[])[] = [];
  let line: readonly Span[] = [];
  let used = 0;
  let blank: Atom | null = null;
  const feed = (next: readonly Span[]): void => {
    lines.push(line);
    line = next;
    used = widthOf(next);
  };
  for (const atom of atoms) {
    if (atom.isBlank) {
      blank = atom;
      continue;
    }
    const before: number = blank?.width ?? 0;
    if (used > 0 && used + before + atom.width > width) {
      feed([]);
      blank = null;
    }
    // The indentation of a line stays while it leaves room.
    const indent = used > 0 || before < width / 2 ? (blank?.spans ?? []) : [];
    const [first = [], ...rest] = cutSpans([...indent, ...atom.spans], width - used);
    line = [...line, ...first];
    used += widthOf(first);
    blank = null;
    for (const piece of rest) feed(piece);
  }
  return [...lines, line];
}

/** Cuts what is wider than there is room. */
function cutSpans(spans: readonly Span[], room: number): readonly (readonly Span[])[] {
  if (widthOf(spans) <= room) return [spans];
  const lines: Span[][] = [[]];
  let used = 0;
  for (const { text, paint } of spans)
    for (const character of charactersOf(text)) {
      if (used > 0 && used + character.width > room) {
        lines.push([]);
        used = 0;
      }
      lines.at(-1)?.push({ text: character.text, paint });
      used += character.width;
    }
  return lines;
}

/** Neighbours of one colour are coloured together. */
function paintLine(line: readonly Span[]): SafeText {
  const joined: Span[] = [];
  for (const span of line) {
    const last = joined.at(-1);
    if (last?.paint === span.paint) joined[joined.length - 1] = { ...last, text: safe`${last.text}${span.text}` };
    else joined.push(span);
  }
  return joinSafe(
    joined.map(({ text, paint }) => paint(text)),
    "",
  );
}

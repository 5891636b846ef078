// Markdown blocks as lines of a terminal: paragraphs, lists, code, tables, in pieces of one colour each.
import { stripVTControlCharacters } from "node:util";
import type { Token, Tokens } from "marked";
import { forTerminal, joinSafe, linesForTerminal, type SafeText, safe } from "../../core/safe-text.ts";
import {
  charactersOf,
  cutWidth,
  displayWidth,
  fitWidth,
  onlyColors,
  type Paint,
  type Style,
  unpainted,
} from "../frame/terminal.ts";

/** A piece of text; a line feed in it ends the line. */
interface Span {
  readonly text: SafeText;
  readonly paint: Paint;
}

/** A word, which is not broken, or a run of blanks. */
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
function widthOfSpans(spans: readonly Span[]): number {
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

/** Cuts spans that are wider than the room. */
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

/** Paints a line, neighbours of one colour together. */
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

/** Renders blocks with an empty line between them. */
export function renderBlocks(tokens: readonly Token[], rendering: MarkdownRendering): readonly SafeText[] {
  return tokens
    .filter(({ type }) => type !== "space")
    .flatMap((token, index): readonly SafeText[] => {
      const lines = renderBlock(token, rendering);
      return index === 0 ? lines : ["", ...lines];
    });
}

export function renderBlock(token: Token, rendering: MarkdownRendering): readonly SafeText[] {
  const { style, width, ascii } = rendering;
  switch (token.type) {
    case "heading":
      return wrapSpans(headingSpans(token as Tokens.Heading, style), width);
    case "code":
      return renderCode(token as Tokens.Code, rendering);
    case "list":
      return renderItems(token as Tokens.List, rendering);
    case "blockquote": {
      const mark = style.faint(ascii ? safe`| ` : safe`│ `);
      return renderBlocks(token.tokens ?? [], narrower(rendering, 2)).map((line) => safe`${mark}${line}`);
    }
    case "table":
      return renderTableBlock(token as Tokens.Table, rendering);
    case "hr":
      return [style.faint(forTerminal((ascii ? "-" : "─").repeat(Math.min(width, RULE))))];
    default:
      return wrapSpans(textSpans(token, style), width);
  }
}

/** Columns of a horizontal rule. */
const RULE = 40;
const INDENT = "  ";

/** Narrows the rendering by some columns, for the content of a block. */
function narrower(rendering: MarkdownRendering, columns: number): MarkdownRendering {
  return { ...rendering, width: Math.max(2, rendering.width - columns) };
}

/** Without colours a heading keeps its marks. */
function headingSpans({ depth, tokens }: Tokens.Heading, style: Style): readonly Span[] {
  const mark: readonly Span[] = style.enabled ? [] : [{ text: forTerminal(`${"#".repeat(depth)} `), paint: unpainted }];
  return [...mark, ...inlineSpans(tokens, style, style.heading)];
}

function textSpans(token: Token, style: Style): readonly Span[] {
  if ("tokens" in token && token.tokens !== undefined) return inlineSpans(token.tokens, style);
  return [{ text: forTerminal(token.raw.replace(/\n+$/, "")), paint: unpainted }];
}

/** For a single empty line, and after unclosed code, the lexer returns one line feed too many. */
function renderCode({ lang = "", text }: Tokens.Code, rendering: MarkdownRendering): readonly SafeText[] {
  const lines = text === "" ? [] : linesForTerminal(text.replace(/\n$/, ""));
  return [...codeLabel(lang, rendering), ...lines.flatMap((line) => renderCodeLine(line, rendering))];
}

/** The line above code: its language, if it says one. */
export function codeLabel(language: string, rendering: MarkdownRendering): readonly SafeText[] {
  if (language === "") return [];
  const { style, width } = narrower(rendering, INDENT.length);
  return [style.faint(safe`${INDENT}${fitWidth(forTerminal(language), width)}`)];
}

/** Renders a line of code; wraps one that is too wide. */
export function renderCodeLine(line: SafeText, rendering: MarkdownRendering): readonly SafeText[] {
  if (line === "") return [""];
  const { style, width } = narrower(rendering, INDENT.length);
  return cutWidth(line, width).map((piece) => safe`${INDENT}${style.id(piece)}`);
}

function renderItems({ items, ordered, start }: Tokens.List, rendering: MarkdownRendering): readonly SafeText[] {
  const first = typeof start === "number" ? start : 1;
  return items.flatMap((item, index) => {
    const mark = ordered ? `${first + index}. ` : rendering.ascii ? "- " : "• ";
    const box = item.task ? (item.checked === true ? "[x] " : "[ ] ") : "";
    const columns = mark.length + box.length;
    const indent = forTerminal(" ".repeat(columns));
    const [opening = "", ...rest] = renderItem(item, narrower(rendering, columns));
    return [
      safe`${rendering.style.faint(forTerminal(mark))}${box}${opening}`,
      ...rest.map((line) => (line === "" ? line : safe`${indent}${line}`)),
    ];
  });
}

/** Renders the content of an item, without empty lines except before a paragraph that follows another block. */
function renderItem({ tokens }: Tokens.ListItem, rendering: MarkdownRendering): readonly SafeText[] {
  return tokens
    .filter(({ type }) => type !== "space" && type !== "checkbox")
    .flatMap((token, index): readonly SafeText[] => {
      const lines = renderBlock(token, rendering);
      return index > 0 && token.type === "paragraph" ? ["", ...lines] : lines;
    });
}

// Markdown inside a line (emphasis, code, links) as spans. Without colours the Markdown marks stay.

export interface MarkdownRendering {
  readonly style: Style;
  /** Columns, at least 2. */
  readonly width: number;
  /** Draw with ASCII characters only. */
  readonly ascii: boolean;
}

/** Returns the spans of inline tokens. */
function inlineSpans(tokens: readonly Token[], style: Style, paint: Paint = unpainted): readonly Span[] {
  return tokens.flatMap((token) => spansOf(token, style, paint));
}

function spansOf(token: Token, style: Style, paint: Paint): readonly Span[] {
  const inner = (own: Paint): readonly Span[] =>
    "tokens" in token && token.tokens !== undefined
      ? inlineSpans(token.tokens, style, own)
      : [{ text: forTerminal(plainText(token)), paint: own }];
  switch (token.type) {
    case "strong":
      return inner((text) => style.heading(paint(text)));
    case "em":
      return inner((text) => style.emphasis(paint(text)));
    case "codespan":
      return [codeSpan(token, style, paint)];
    case "br":
      return [{ text: safe`\n`, paint }];
    case "del":
      return [{ text: safe`~~`, paint }, ...inner(paint), { text: safe`~~`, paint }];
    case "link":
    case "image":
      return linkSpans(token as LinkToken, inner(paint), style);
    case "text":
    case "escape":
      return inner(paint);
    default:
      return [{ text: /^<br *\/?>$/i.test(token.raw) ? safe`\n` : forTerminal(token.raw), paint }];
  }
}

function codeSpan(token: Token, style: Style, paint: Paint): Span {
  const text = forTerminal("text" in token ? String(token.text) : token.raw);
  return { text: style.enabled ? text : safe`\`${text}\``, paint: (code) => style.id(paint(code)) };
}

type LinkToken = Extract<Token, { readonly href: string }>;

/** Prints the address after a link's text if it differs, so that nobody follows a link without seeing where it leads. */
function linkSpans({ href, raw }: LinkToken, inner: readonly Span[], style: Style): readonly Span[] {
  const text = inner.map((span) => span.text).join("");
  if (href === text || href === `mailto:${text}` || !raw.includes("]")) return inner;
  return [...inner, { text: safe` (${forTerminal(href)})`, paint: style.faint }];
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&nbsp;": " ",
};

/** Drops the indentation of a paragraph's continuation lines. */
function plainText(token: Token): string {
  const text = "text" in token && typeof token.text === "string" ? token.text : token.raw;
  return text
    .replaceAll(/\n +/g, "\n")
    .replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}

// A Markdown table as lines: columns as wide as their content, cells wrapped on a narrow terminal; if even that is too wide, one
// cell below the other.

type TableRow = readonly (readonly Span[])[];

/** Columns of the terminal between two columns of the table. */
const GAP = 3;
/** Narrowest column of a table that is too wide. */
const LEAST = 5;

function renderTableBlock(table: Tokens.Table, rendering: MarkdownRendering): readonly SafeText[] {
  const { style, width } = rendering;
  const head = table.header.map(({ tokens }) => inlineSpans(tokens, style, style.heading));
  const body = table.rows.map((cells) => cells.map(({ tokens }) => inlineSpans(tokens, style)));
  const widths = columnWidths([head, ...body], width);
  if (widths === null) return renderRecords(head, body, rendering);
  const layout: TableLayout = { widths, align: table.align, bar: style.faint(rendering.ascii ? safe` | ` : safe` │ `) };
  const [line, cross] = rendering.ascii ? (["-", "-+-"] as const) : (["─", "─┼─"] as const);
  const rule = style.faint(forTerminal(widths.map((columns) => line.repeat(columns)).join(cross)));
  return [...renderRow(head, layout), rule, ...body.flatMap((row) => renderRow(row, layout))];
}

/** Returns widths for the cells, shrinking the widest columns to fit. Null if there is no room for all. */
function columnWidths(rows: readonly TableRow[], width: number): readonly number[] | null {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(1, ...rows.map((row) => widthOfSpans(row[column] ?? []))));
  let excess = widths.reduce((sum, columns) => sum + columns, GAP * (widths.length - 1)) - width;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return null;
    const next = Math.max(LEAST, ...widths.filter((columns) => columns < widest));
    const taken = Math.min(excess, widest - next);
    widths[widths.indexOf(widest)] = widest - taken;
    excess -= taken;
  }
  return widths;
}

interface TableLayout {
  readonly widths: readonly number[];
  readonly align: Tokens.Table["align"];
  /** Between two columns. */
  readonly bar: SafeText;
}

function renderRow(row: TableRow, { widths, align, bar }: TableLayout): readonly SafeText[] {
  const cells = widths.map((columns, at) => wrapSpans(row[at] ?? [], columns));
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const parts = cells.map((lines, column) =>
      padded(lines[at] ?? "", widths[column] ?? 0, align[column] === "right" ? "left" : "right"),
    );
    return onlyColors(parts.join(bar).trimEnd());
  });
}

function padded(text: SafeText, columns: number, side: "left" | "right"): SafeText {
  const blanks = forTerminal(" ".repeat(Math.max(0, columns - displayWidth(stripVTControlCharacters(text)))));
  return side === "left" ? safe`${blanks}${text}` : safe`${text}${blanks}`;
}

/** Renders a row as a list: each cell after the heading of its column. */
function renderRecords(head: TableRow, body: readonly TableRow[], { width }: MarkdownRendering): readonly SafeText[] {
  return body.flatMap((row, index): readonly SafeText[] => {
    const lines = row.flatMap((cell, at) =>
      wrapSpans([...(head[at] ?? []), { text: safe`: `, paint: unpainted }, ...cell], width),
    );
    return index === 0 ? lines : ["", ...lines];
  });
}

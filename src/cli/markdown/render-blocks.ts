// Markdown blocks → lines of a terminal: paragraphs, lists, code, quotes, tables.
import type { Token, Tokens } from "marked";
import { forTerminal, linesForTerminal, type SafeText, safe } from "../../core/safe-text.ts";
import { cutWidth, fitWidth } from "../frame/display-width.ts";
import { type Style, unpainted } from "../frame/style.ts";
import { inlineSpans, type MarkdownRendering } from "./inline-spans.ts";
import { renderTableBlock } from "./render-table-block.ts";
import { type Span, wrapSpans } from "./spans.ts";

/** Renders blocks, an empty line between two. */
export function renderBlocks(tokens: readonly Token[], rendering: MarkdownRendering): readonly SafeText[] {
  return tokens
    .filter(({ type }) => type !== "space")
    .flatMap((token, index): readonly SafeText[] => {
      const lines = renderBlock(token, rendering);
      return index === 0 ? lines : ["", ...lines];
    });
}

/** Renders one block. */
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
/** Before a line of code. */
const INDENT = "  ";

/** What stands in a block, so many columns narrower. */
function narrower(rendering: MarkdownRendering, columns: number): MarkdownRendering {
  return { ...rendering, width: Math.max(2, rendering.width - columns) };
}

/** Without colours the marks say that it is a heading. */
function headingSpans({ depth, tokens }: Tokens.Heading, style: Style): readonly Span[] {
  const mark: readonly Span[] = style.enabled ? [] : [{ text: forTerminal(`${"#".repeat(depth)} `), paint: unpainted }];
  return [...mark, ...inlineSpans(tokens, style, style.heading)];
}

function textSpans(token: Token, style: Style): readonly Span[] {
  if ("tokens" in token && token.tokens !== undefined) return inlineSpans(token.tokens, style);
  return [{ text: forTerminal(token.raw.replace(/\n+$/, "")), paint: unpainted }];
}

/** Of an empty line alone, and at the end of code that was not closed, the lexer gives a line feed too many. */
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

/** A line of code; one that is too wide goes on in the next. */
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

/** What stands in an item: close together, but for a paragraph after another block. */
function renderItem({ tokens }: Tokens.ListItem, rendering: MarkdownRendering): readonly SafeText[] {
  return tokens
    .filter(({ type }) => type !== "space" && type !== "checkbox")
    .flatMap((token, index): readonly SafeText[] => {
      const lines = renderBlock(token, rendering);
      return index > 0 && token.type === "paragraph" ? ["", ...lines] : lines;
    });
}

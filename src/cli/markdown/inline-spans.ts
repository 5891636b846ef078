// Markdown inside a line (emphasis, code, links) as spans. What a colour says on a terminal that has some, a mark says elsewhere.
import type { Token } from "marked";
import { forTerminal, safe } from "../../core/safe-text.ts";
import { type Paint, type Style, unpainted } from "../frame/style.ts";
import type { Span } from "./spans.ts";

/** What Markdown is rendered for. */
export interface MarkdownRendering {
  readonly style: Style;
  /** Columns, at least 2. */
  readonly width: number;
  /** Without characters beyond ASCII of jpg's own. */
  readonly ascii: boolean;
}

/** Gives the spans of inline tokens. */
export function inlineSpans(tokens: readonly Token[], style: Style, paint: Paint = unpainted): readonly Span[] {
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

/** An address that is not its own text follows it: nobody clicks on what does not show where it leads. */
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

/** Indentation of a line that a paragraph goes on in means nothing. */
function plainText(token: Token): string {
  const text = "text" in token && typeof token.text === "string" ? token.text : token.raw;
  return text
    .replaceAll(/\n +/g, "\n")
    .replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => ENTITIES[entity] ?? entity);
}

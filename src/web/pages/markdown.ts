// Markdown of people and models as HTML. Each element is written here, from marked's tokens: HTML in the text stays text, a link
// leads to the web or nowhere, and no image is fetched.
import { lexer, type Token, type Tokens } from "marked";
import { namedLanguage } from "./code-language.ts";
import { type Html, html } from "./html.ts";

/** Longer texts, characters, are shown as they are: a hostile one could keep the reader of Markdown busy. */
const LONGEST = 40_000;
/** Deeper ones, too. Quotes and lists are counted where a line begins. */
const DEEPEST = 40;

/** Writes a text as HTML blocks. */
export function markdownHtml(text: string): Html {
  if (text.length > LONGEST || isDeep(text)) return plainBlock(text);
  return html`${lexer(text, { gfm: true, breaks: true }).map(block)}`;
}

/** Writes a text as it is. */
export function plainBlock(text: string): Html {
  return html`<pre class="plain">${text}</pre>`;
}

/** Writes code; the page's script colours it by the name of its language. */
export function codeBlock(text: string, language: string | null): Html {
  return language === null
    ? html`<pre><code>${text}</code></pre>`
    : html`<pre><code data-code="${language}">${text}</code></pre>`;
}

function isDeep(text: string): boolean {
  return text.split("\n").some((line) => {
    const marks = /^[\s>*+\-\d.)]*/.exec(line)?.[0] ?? "";
    return marks.replace(/[\s\d.)]/g, "").length > DEEPEST || marks.length > 8 * DEEPEST;
  });
}

function block(token: Token): Html {
  switch (token.type) {
    case "space":
    case "def":
      return html``;
    case "heading":
      return html`<p class="heading">${inlines(token)}</p>`;
    case "paragraph":
      return html`<p>${inlines(token)}</p>`;
    case "code":
      return codeBlock(token.text, namedLanguage(token.lang));
    case "blockquote":
      return html`<blockquote>${blocks(token)}</blockquote>`;
    case "list":
      return list(token as Tokens.List);
    case "hr":
      return html`<hr>`;
    case "checkbox":
      return html`${token.checked === true ? "☑ " : "☐ "}`;
    case "table":
      return table(token as Tokens.Table);
    case "text":
      return inlines(token);
    default:
      return html`<p>${token.raw}</p>`;
  }
}

function blocks({ tokens = [] }: { readonly tokens?: readonly Token[] }): readonly Html[] {
  return tokens.map(block);
}

function list({ ordered, start, items }: Tokens.List): Html {
  const rows = items.map((item) => html`<li>${blocks(item)}</li>`);
  return ordered ? html`<ol start="${Number(start) || 1}">${rows}</ol>` : html`<ul>${rows}</ul>`;
}

function table({ header, rows }: Tokens.Table): Html {
  const cells = header.map(({ tokens }) => html`<th scope="col">${inlines({ tokens })}</th>`);
  const body = rows.map((row) => html`<tr>${row.map(({ tokens }) => html`<td>${inlines({ tokens })}</td>`)}</tr>`);
  return html`<div class="table" tabindex="0"><table><thead><tr>${cells}</tr></thead><tbody>${body}</tbody></table></div>`;
}

function inlines(token: { readonly tokens?: readonly Token[]; readonly text?: string }): Html {
  return html`${token.tokens === undefined ? (token.text ?? "") : token.tokens.map(inline)}`;
}

function inline(token: Token): Html {
  switch (token.type) {
    case "strong":
      return html`<strong>${inlines(token)}</strong>`;
    case "em":
      return html`<em>${inlines(token)}</em>`;
    case "del":
      return html`<del>${inlines(token)}</del>`;
    case "codespan":
      return html`<code>${token.text}</code>`;
    case "br":
      return html`<br>`;
    case "link":
      return link(token as Tokens.Link);
    case "image":
      return html`${token.raw}`;
    case "text":
    case "escape":
      return token.type === "text" && "tokens" in token && token.tokens !== undefined
        ? inlines(token)
        : html`${token.text}`;
    default:
      return html`${token.raw}`;
  }
}

/** An address that is not its own text follows it: nobody clicks on what does not show where it leads. */
function link({ href, text, tokens, raw }: Tokens.Link): Html {
  if (!/^https?:\/\//i.test(href)) return html`${raw}`;
  const shown = href === text ? html`` : html` <span class="address">(${href})</span>`;
  return html`<a href="${href}" rel="noopener noreferrer nofollow" target="_blank">${inlines({ tokens })}</a>${shown}`;
}

// What an event says, as HTML: Markdown of people and models, long texts, images.
import { lexer, type Token, type Tokens } from "marked";
import { eventText } from "../../app/diff/view-text.ts";
import {
  type Content,
  type ContentPart,
  documentText,
  type Event,
  isFields,
  isText,
  mediaUrl,
  opaqueName,
  opaqueTexts,
  plainText,
  type ToolCallRequest,
} from "../../core/conversation/event.ts";
import { decodeBase64 } from "../../core/json.ts";
import { forMarkdown } from "../../core/safe-text.ts";
import { type Html, html, nothing } from "./html.ts";

// Markdown of people and models as HTML. Each element is written here, from marked's tokens: HTML in the text stays text, a link
// leads to the web or nowhere, and no image is fetched.

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
function codeBlock(text: string, language: string | null): Html {
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

// Which language a text is written in, by the name that its writer gave it: only the page's script, which colours it, asks.

const WORD = /^[a-z0-9+#-]{1,20}$/;
/** Endings of files that are code. */
const CODE =
  /\.(?<ending>bash|c|cc|cpp|cs|css|diff|go|h|hpp|html|java|js|json|jsonl|jsx|kt|lua|md|mjs|php|pl|py|rb|rs|scss|sh|sql|swift|toml|ts|tsx|xml|ya?ml|zsh)$/i;

/** The language that a block of code names; null when it names none. */
function namedLanguage(name: string | undefined): string | null {
  const word = name?.trim().split(/\s/)[0]?.toLowerCase() ?? "";
  return WORD.test(word) ? word : null;
}

/** The language of a file, by its name; null when it is not known to be code. */
export function fileLanguage(path: string): string | null {
  return CODE.exec(path)?.groups?.["ending"]?.toLowerCase() ?? null;
}

/** Longest text shown whole, characters; of a longer one the beginning and the end are shown. */
const LONGEST_SHOWN = 100_000;
const END = 2000;
/** Texts from here on are packed, characters, but for so many at their beginning. */
const PACKED = 3000;
const BEGINNING = 1500;

/** Writes a text as HTML. */
export type Write = (text: string) => Html;

/** Gives a text as `deflate-raw` in base64. */
export type PackText = (text: string) => string;

interface LongTextOptions {
  /** Of the event that says it. */
  readonly id: string;
  /** Where the whole text of what is cut is; null = `jpg show` prints it. */
  readonly address: string | null;
}

/** Writes a text; leaves out the middle of a very long one. */
export function writeCut(text: string, write: Write, { address, id }: LongTextOptions): Html {
  if (text.length <= LONGEST_SHOWN) return write(text);
  const hidden = text.length - LONGEST_SHOWN;
  const where =
    address === null ? html`<code>jpg show ${id}</code> prints it` : html`<a href="${address}">the whole text</a>`;
  return html`${plainBlock(text.slice(0, LONGEST_SHOWN - END))}<p class="note">${hidden} characters are left out here: ${where}</p>${plainBlock(text.slice(-END))}`;
}

/** Writes a text of which a long rest is packed: the script appends it to what `write` made, as text. */
export function writePacked(
  text: string,
  write: Write,
  { pack, id }: { readonly pack: PackText; readonly id: string },
): Html {
  // What turns text around is made visible before, so that nothing comes out of it that a page would not show.
  const safe = forMarkdown(text);
  if (safe.length < PACKED || safe.length > LONGEST_SHOWN) return writeCut(text, write, { address: null, id });
  const isSplit = /[\ud800-\udbff]/.test(safe.charAt(BEGINNING - 1));
  const at = isSplit ? BEGINNING + 1 : BEGINNING;
  const rest = safe.slice(at);
  return html`${write(safe.slice(0, at))}<p class="note packed" data-rest="${pack(rest)}">${rest.length} more characters: the page's script unpacks them, <code>jpg show ${id}</code> prints them</p>`;
}

// What an event says, as HTML: text of people and models as Markdown, what tools are asked and give as it is, images as images.

interface SaidOptions {
  /** Where the whole text of what is cut is; null = `jpg show` prints it. */
  readonly address?: string | null;
  /** Of what a tool gave. */
  readonly language?: string;
  /** Packs long texts of tools for the page's script; null = not packed. */
  readonly pack?: PackText | null;
}

/** Writes what an event says; empty where it says nothing. */
export function renderSaid(event: Event, { address = null, language, pack = null }: SaidOptions = {}): Html {
  const { id } = event;
  const cut =
    (write: Write): Write =>
    (text) =>
      writeCut(text, write, { address, id });
  const long =
    pack === null
      ? cut
      : (write: Write): Write =>
          (text) =>
            writePacked(text, write, { pack, id });
  switch (event.type) {
    case "chat_request":
      return renderContent(event.content, cut(markdownHtml));
    case "chat_response":
      if (event.message !== undefined) return renderContent(event.message, cut(markdownHtml));
      return cut(event.reasoning === undefined ? plainBlock : markdownHtml)(eventText(event) ?? "");
    case "tool_call_response":
      return renderContent(
        event.content,
        long((text) => toolBlock(text, language)),
      );
    case "tool_call_request":
      return renderArguments(event, long);
    default:
      return cut(plainBlock)(JSON.stringify(event, null, 1));
  }
}

function toolBlock(text: string, language: string | undefined): Html {
  return language === undefined ? plainBlock(text) : codeBlock(text, language);
}

/** Fields with the old and the new text of a file. */
const BEFORE = /^(?:old_?(?:string|str|text)|search)$/i;
const AFTER = /^(?:new_?(?:string|str|text)|replace)$/i;

/** Short arguments on a line each, long ones as blocks: code, the two sides of an edit, commands. */
function renderArguments(event: ToolCallRequest, long: (write: Write) => Write): Html {
  const { arguments: given } = event;
  if (!isFields(given) || Object.keys(given).length === 0) return long(plainBlock)(eventText(event) ?? "");
  const path = Object.values(given).find(
    (value): value is string => typeof value === "string" && fileLanguage(value) !== null,
  );
  const language = path === undefined ? null : fileLanguage(path);
  const fields = Object.entries(given).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
    if (BEFORE.test(name))
      return html`<dt>${name}</dt><dd>${long((lines) => html`<pre class="diff"><del>${lines}</del></pre>`)(text)}</dd>`;
    if (AFTER.test(name))
      return html`<dt>${name}</dt><dd>${long((lines) => html`<pre class="diff"><ins>${lines}</ins></pre>`)(text)}</dd>`;
    const own = name === "command" || name === "cmd" ? "bash" : language;
    const isBlock = own === "bash" || text.includes("\n") || text.length > 200;
    const write = !isBlock
      ? (line: string) => html`<code>${line}</code>`
      : own === null
        ? plainBlock
        : (lines: string) => codeBlock(lines, own);
    return html`<dt>${name}</dt><dd>${long(write)(text)}</dd>`;
  });
  return html`<dl class="arguments">${fields}</dl>`;
}

function renderContent(content: Content, write: Write): Html {
  if (isText(content)) return writeText(plainText(content), write);
  return html`${content.map((part) => renderPart(part, write))}`;
}

function writeText(text: string, write: Write): Html {
  return text.trim() === "" ? nothing : write(text);
}

function renderPart(part: ContentPart, write: Write): Html {
  switch (part.type) {
    case "text":
      return writeText(plainText(part.text), write);
    case "image":
    case "document":
      return html`${renderMedia(part)}${writeText(documentText(part) ?? "", write)}`;
    case "attachment":
      return html`<p class="note">${part.name ?? "attachment"}</p>${part.text === undefined ? nothing : write(plainText(part.text))}`;
    case "opaque":
      return html`<p class="note">${opaqueName(part)}</p>${writeText(opaqueTexts(part).join("\n"), write)}`;
  }
}

function renderMedia(part: Extract<ContentPart, { readonly type: "image" | "document" }>): Html {
  const { type, title = type, media_type: kind, data, url } = part;
  const address = type === "image" && typeof data === "string" ? imageAddress(data) : null;
  if (address !== null) return html`<img src="${address}" alt="${title}" loading="lazy">`;
  const size = typeof data === "string" ? `${Math.ceil((data.length * 3) / 4)} bytes` : undefined;
  const facts = [title, kind, mediaUrl(url), size].filter((fact) => fact !== undefined);
  return html`<p class="note">${facts.join(", ")}</p>`;
}

// Images of a conversation, as addresses that hold them. Only raster formats, told by their first bytes: a page shows no SVG of a
// stranger's, whatever it is called.

const FORMATS: readonly { readonly type: string; readonly start: RegExp }[] = [
  { type: "image/png", start: /^\u0089PNG\r\n\u001a\n/ },
  { type: "image/jpeg", start: /^\u00ff\u00d8\u00ff/ },
  { type: "image/gif", start: /^GIF8[79]a/ },
  { type: "image/webp", start: /^RIFF.{4}WEBP/s },
];
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Gives the address of an image in base64; null when it is none of these formats. */
export function imageAddress(base64: string): string | null {
  const head = decodeBase64(base64.slice(0, 16));
  if (head === null || !BASE64.test(base64)) return null;
  const start = String.fromCharCode(...head);
  const format = FORMATS.find((candidate) => candidate.start.test(start));
  return format === undefined ? null : `data:${format.type};base64,${base64}`;
}

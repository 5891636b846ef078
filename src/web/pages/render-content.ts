// What an event says, as HTML: text of people and models as Markdown, what tools are asked and give as it is, images as images.
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
import { fileLanguage } from "./code-language.ts";
import { type Html, html, nothing } from "./html.ts";
import { imageAddress } from "./images.ts";
import { type PackText, type Write, writeCut, writePacked } from "./long-text.ts";
import { codeBlock, markdownHtml, plainBlock } from "./markdown.ts";

export interface SaidOptions {
  /** Where the whole text of what is cut is; null = `jpg show` prints it. */
  readonly address?: string | null;
  /** Of what a tool gave. */
  readonly language?: string;
  /** Packs long texts of tools for the page's script; null = they stand as they are. */
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

/** Fields that say what stood in a file, and what stands there now. */
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

// What an event says, as HTML: text of people and models as Markdown, output of tools as it is, images as images.

import { eventText } from "../../app/diff/view-text.ts";
import { isText, plainText } from "../../core/event/content.ts";
import type { Content, ContentPart, Event } from "../../core/event/event.ts";
import { type Html, html, nothing } from "./html.ts";
import { imageAddress } from "./images.ts";
import { markdownHtml, plainBlock } from "./markdown.ts";

/** Writes what an event says; empty where it says nothing. */
export function renderSaid(event: Event): Html {
  switch (event.type) {
    case "chat_request":
      return renderContent(event.content, markdownHtml);
    case "chat_response":
      if (event.message !== undefined) return renderContent(event.message, markdownHtml);
      if (event.reasoning === undefined) return plainBlock(eventText(event) ?? "");
      return markdownHtml(eventText(event) ?? "");
    case "tool_call_response":
      return renderContent(event.content, plainBlock);
    case "tool_call_request":
      return plainBlock(eventText(event) ?? "");
    default:
      return plainBlock(JSON.stringify(event, null, 1));
  }
}

function renderContent(content: Content, write: (text: string) => Html): Html {
  if (isText(content)) return writeText(plainText(content), write);
  return html`${content.map((part) => renderPart(part, write))}`;
}

function writeText(text: string, write: (text: string) => Html): Html {
  return text.trim() === "" ? nothing : write(text);
}

function renderPart(part: ContentPart, write: (text: string) => Html): Html {
  switch (part.type) {
    case "text":
      return writeText(plainText(part.text), write);
    case "image":
    case "document":
      return renderMedia(part);
    case "attachment":
      return html`<p class="note">${part.name ?? "attachment"}</p>${part.text === undefined ? nothing : plainBlock(plainText(part.text))}`;
    default:
      return html`<p class="note">${part.type}${"provider" in part ? ` of ${part.provider ?? "its provider"}` : ""}</p>`;
  }
}

function renderMedia(part: Extract<ContentPart, { readonly type: "image" | "document" }>): Html {
  const { type, title = type, media_type: kind, data, url } = part;
  const address = type === "image" && typeof data === "string" ? imageAddress(data) : null;
  if (address !== null) return html`<img src="${address}" alt="${title}" loading="lazy">`;
  const size = typeof data === "string" ? `${Math.ceil((data.length * 3) / 4)} bytes` : undefined;
  const facts = [title, kind, url, size].filter((fact) => fact !== undefined);
  return html`<p class="note">${facts.join(", ")}</p>`;
}

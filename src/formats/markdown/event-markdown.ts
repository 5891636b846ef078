// One event as Markdown for people: a bold label, then the words quoted or the payload fenced. What no model sees (turn
// starts, notes) renders to nothing.

import { MERGE_ORIGIN } from "../../core/compact/fork-merge.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  documentText,
  type Event,
  INDEX_ORIGIN,
  isText,
  type MediaPart,
  mediaUrl,
  opaqueName,
  opaqueTexts,
  plainText,
  type Text,
} from "../../core/conversation/event.ts";
import { renderFence, renderLine, renderName, renderQuote } from "./safe-text.ts";

/** How events are shown. */
export interface EventMarkdownOptions {
  /** Longest tool argument or result shown whole, in lines; > 0; absent = all whole. */
  readonly maxLines?: number;
  /** What is said of calls behind them, a line each, by call id. */
  readonly remarks?: ReadonlyMap<string, readonly string[]>;
}

/** What an event's turn knows about it. */
export interface EventContext {
  /** The event stands for hidden turns. */
  readonly isSummary: boolean;
  /** Tool of each call so far in the turn, by call id. */
  readonly tools: ReadonlyMap<string, string>;
}

/** Renders an event; "" when there is nothing to show, else ends with a blank line. */
export function renderEventMarkdown(event: Event, context: EventContext, options: EventMarkdownOptions = {}): string {
  const { maxLines } = options;
  switch (event.type) {
    case "turn_start":
    case "note":
      return "";
    case "chat_request":
      return labelled(requestLabel(event, context), renderQuote(textOf(event.content)));
    case "chat_response":
      return renderResponse(event, context, maxLines);
    case "tool_call_request": {
      const text = argumentsText(event.arguments);
      const remarks = (options.remarks?.get(event.call_id) ?? []).map((remark) => `${renderLine(remark)}\n\n`);
      const label = `**Tool call** ${renderName(event.name)}`;
      return labelled(label, text === "" ? "" : renderFence(text, "", maxLines)) + remarks.join("");
    }
    case "tool_call_response": {
      const tool = context.tools.get(event.call_id);
      const label = `**${event.is_error ? "Error" : "Result"}**${tool === undefined ? "" : ` ${renderName(tool)}`}`;
      const text = textOf(event.content);
      return labelled(label, text === "" ? "(empty)\n" : renderFence(text, "", maxLines));
    }
    case "inquiry_request":
      return labelled("**Question**", renderJson(event.question, maxLines));
    case "inquiry_response":
      return labelled("**Answer**", renderJson(event.answer, maxLines));
    case "config_delta":
      return labelled("**Config**", renderJson(event.delta, maxLines));
    default:
      return renderUnknown(event, maxLines);
  }
}

function renderResponse(event: ChatResponse, { isSummary }: EventContext, maxLines: number | undefined): string {
  if (event.message !== undefined)
    return labelled(
      isSummary || event.metadata?.origin === MERGE_ORIGIN ? "**Summary**" : "**Assistant**",
      renderQuote(textOf(event.message)),
    );
  if (event.reasoning === undefined) return labelled("**Data**", renderJson(event.data, maxLines));
  const text = plainText(event.reasoning);
  return labelled("**Reasoning**", text === "" ? "(not readable)\n" : renderQuote(text));
}

function requestLabel(event: ChatRequest, { isSummary }: EventContext): string {
  const origin = event.metadata?.origin;
  if (isSummary || origin === "summary") return "**Summary**";
  if (origin === INDEX_ORIGIN) return "**Index**";
  if (origin === "harness") return "**Harness**";
  if (origin === MERGE_ORIGIN) return "**Merged fork**";
  if (origin === "queued") return "**User** (while the agent was working)";
  return event.role === undefined || event.role === "user" ? "**User**" : "**System**";
}

function labelled(label: string, body: string): string {
  return body === "" ? `${label}\n\n` : `${label}\n\n${body}\n`;
}

function renderUnknown(event: Event, maxLines: number | undefined): string {
  const { type } = event as { readonly type: string };
  return labelled(`**Event** ${renderName(type)}`, renderJson(event, maxLines));
}

function renderJson(value: unknown, maxLines: number | undefined): string {
  return renderFence(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null"), "json", maxLines);
}

/** Arguments as `key: value` lines, a text of several lines below its key; "" for none. */
function argumentsText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? "";
  return Object.entries(value)
    .map(([key, inner]) => argumentText(key, inner))
    .join("\n");
}

function argumentText(key: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.includes("\n") ? `${key}:\n  ${text.replaceAll("\n", "\n  ")}` : `${key}: ${text}`;
}

function textOf(content: Content): string {
  return isText(content) ? plainText(content) : content.map(partText).join("\n");
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return plainText(part.text);
    case "image":
    case "document":
      return under(mediaLine(part), documentText(part) ?? "");
    case "attachment":
      return part.text === undefined ? `[attachment ${part.name ?? ""}]` : plainText(part.text);
    case "opaque":
      return under(`[${opaqueName(part)}]`, opaqueTexts(part).join("\n"));
    default:
      return "[unknown part]";
  }
}

function under(line: string, text: string): string {
  return text === "" ? line : `${line}\n${text}`;
}

function mediaLine({ type, media_type: kind, ...source }: MediaPart): string {
  return `[${type}${kind === undefined ? "" : ` ${kind}`}${sourceText(source)}]`;
}

function sourceText({ data, url }: { readonly data?: Text; readonly url?: string }): string {
  if (url !== undefined) return ` ${mediaUrl(url)}`;
  if (data === undefined) return "";
  return typeof data === "string" ? `, ${data.length} characters of base64` : `, ${data.$attachment}`;
}

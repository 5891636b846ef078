// Writes a view as Markdown for people: `print`, VIEW.md and `--to markdown`. The document is the concatenation of its turns, so
// that a new turn can be appended to a file. Nothing in it controls a terminal.
import { MERGE_ORIGIN } from "../../core/compact/fork-merge.ts";
import {
  type ChatRequest,
  type ChatResponse,
  type Content,
  type ContentPart,
  describeTurns,
  documentText,
  type Event,
  INDEX_ORIGIN,
  isText,
  type MediaPart,
  mediaUrl,
  opaqueName,
  opaqueTexts,
  type ProjectedTurn,
  plainText,
  type Text,
  type View,
} from "../../core/conversation/event.ts";
import { forLine, forMarkdown } from "../../core/safe-text.ts";

interface ViewHeading {
  readonly title: string;
  /** Origin of the conversation, a sentence. */
  readonly lineage?: string;
  readonly branch?: string;
  /** Commit the view was made from. */
  readonly commit?: string;
}

/** Renders a view: a heading if a title is given, then its turns. */
export function renderMarkdown(
  view: View,
  options: EventMarkdownOptions & Partial<Pick<ViewHeading, "title" | "lineage">> = {},
): string {
  const { title, lineage } = options;
  const heading = title === undefined ? "" : renderViewHeading({ title, lineage });
  return heading + view.turns.map((turn) => renderTurnMarkdown(turn, options)).join("");
}

/** Renders the heading of a document; ends with a blank line. */
export function renderViewHeading({ title, lineage, branch, commit }: ViewHeading): string {
  const source = [branch, commit]
    .filter((name) => name !== undefined)
    .map(renderName)
    .join(" at ");
  const lines = [...(lineage === undefined ? [] : [renderLine(lineage)]), ...(source === "" ? [] : [source])];
  return `# ${renderLine(title)}\n\n${lines.map((line) => `${line}\n\n`).join("")}`;
}

/** Renders one projected turn: its heading, then its events; ends with a blank line. */
export function renderTurnMarkdown(turn: ProjectedTurn, options: EventMarkdownOptions = {}): string {
  const tools = new Map<string, string>();
  const context = { isSummary: turn.origin.kind === "summary", tools };
  let text = `${headingOf(turn)}\n\n`;
  for (const event of turn.events) {
    if (event.type === "tool_call_request") tools.set(event.call_id, event.name);
    text += renderEventMarkdown(event, context, options);
  }
  return text;
}

function headingOf({ origin, events }: ProjectedTurn): string {
  const time = timeOf(events[0]?.timestamp);
  if (origin.kind === "kept") return `## Turn ${origin.turn}${origin.part === true ? " (continued)" : ""}${time}`;
  if (origin.kind === "index")
    return `## Index of what is hidden · compaction ${origin.compaction.replace(/[^\w.-]/g, "_")}`;
  const turns = describeTurns(origin.from, origin.to);
  const what = origin.kind === "summary" ? `Summary of ${turns}` : `In place of ${turns}`;
  const source = origin.imported === true ? " · imported, not checked" : "";
  return `## ${what} · compaction ${origin.compaction.replace(/[^\w.-]/g, "_")}${source}`;
}

/** ` · 2026-03-04 05:06:07 UTC`; "" when the timestamp is none. */
function timeOf(timestamp: string | undefined): string {
  const found = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)/.exec(timestamp ?? "");
  return found === null ? "" : ` · ${found[1]} ${found[2]} UTC`;
}

// One event as Markdown: a bold label, then the words quoted or the payload fenced. What no model sees (turn starts, notes) renders
// to nothing.

interface EventMarkdownOptions {
  /** Longest tool argument or result shown whole, in lines; > 0; absent = all whole. */
  readonly maxLines?: number;
  /** Remarks after calls, a line each, by call id. */
  readonly remarks?: ReadonlyMap<string, readonly string[]>;
}

interface EventContext {
  /** The event replaces hidden turns. */
  readonly isSummary: boolean;
  /** Tool of each call so far in the turn, by call id. */
  readonly tools: ReadonlyMap<string, string>;
}

/** Renders an event; "" when there is nothing to show, else ends with a blank line. */
function renderEventMarkdown(event: Event, context: EventContext, options: EventMarkdownOptions = {}): string {
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
  if (origin === "harness") return "**Added by the agent**";
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

/** Tags that would close the quote, or hide or restyle the text after it; closing tags, comments and `<?` always would. */
const STRUCTURAL_TAG =
  /<(?=[/!?]|(?:blockquote|details|summary|h[1-6]|hr|table|t[drh]|div|section|article|p|ul|ol|li|pre|script|style|textarea|title|iframe|object|embed|svg|math|template|select|button|form|xmp|plaintext|noscript)\b)/gi;
const CRLF_OR_CR = /\r\n?/g;

/** Renders prose as a block quote, one `> ` a line; ends with a newline. */
function renderQuote(text: string): string {
  const lines = toLines(text).replace(STRUCTURAL_TAG, "\\<").replaceAll("\n", "\n> ");
  return `> ${lines}\n`;
}

/**
 * Renders text as a code block whose fence is longer than any in the text. With `maxLines` (> 0) a longer text shows its
 * first and last lines and how many are left out. Ends with a newline.
 */
function renderFence(text: string, info: string, maxLines?: number): string {
  const shown = fold(toLines(text), maxLines);
  const fence = "`".repeat(Math.max(3, longestBacktickRun(shown) + 1));
  return `${fence}${info}\n${shown}${shown.endsWith("\n") ? "" : "\n"}${fence}\n`;
}

/** Renders a text as one line of prose, e.g. of a heading; "untitled" when it is empty. */
function renderLine(text: string): string {
  const line = forLine(text).replace(STRUCTURAL_TAG, "\\<");
  return line === "" ? "untitled" : line;
}

/** Renders a name as inline code: one line, at most 80 characters. */
function renderName(name: string): string {
  const line = forLine(name.replaceAll("`", " "), 80);
  return `\`${line === "" ? "unnamed" : line}\``;
}

/** A lone carriage return ends a line in Markdown too (CommonMark §2.1). Unsafe characters are removed before the text is formatted. */
function toLines(text: string): string {
  return forMarkdown(text.includes("\r") ? text.replace(CRLF_OR_CR, "\n") : text);
}

function fold(text: string, maxLines: number | undefined): string {
  if (maxLines === undefined) return text;
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  if (lines.length <= maxLines) return text;
  const head = Math.ceil(maxLines / 2);
  const tail = maxLines - head;
  const missing = `… ${lines.length - maxLines} lines left out …`;
  return [...lines.slice(0, head), missing, ...lines.slice(lines.length - tail)].join("\n");
}

function longestBacktickRun(text: string): number {
  if (!text.includes("```")) return 0;
  let longest = 0;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  return longest;
}

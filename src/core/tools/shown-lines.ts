// Which lines of its file a read really showed: what was asked for, corrected by what the result says. Agents' readers stop
// at limits of their own, cut the middle out, or only say that nothing has changed since an earlier read.
import type { Content, ToolCallResponse } from "../event/event.ts";
import { callFacts } from "./call-facts.ts";
import type { LineRange } from "./line-range.ts";
import type { ToolCall } from "./tool-call.ts";

/** Results that stand for content which is elsewhere; they begin so. */
const STAND_INS: readonly string[] = [
  "File unchanged since last read",
  "Wasted call",
  "<persisted-output>",
  "[Old tool result content cleared",
  "[compacted] ",
];
/** Long enough for every beginning and every closing remark that is looked for, characters. */
const EDGE_CHARS = 400;
/** Codex and others take the middle out of a long output. */
const CUT = /…\s?\d+ (?:tokens|chars|characters|lines) truncated|\[compacted: \d+ characters left out\]/;
/** A shell's output that says that its command failed. */
const FAILED = /^(?:Process exited with code|Exit code:?) [1-9]/m;
/** Closing remarks that name the last line shown, or the first one not shown. */
const LAST_SHOWN = /\(Showing lines \d+-(\d+) of|\[Showing lines \d+-(\d+) of|beyond line (\d+)\)/;
const NEXT_LINE = /Use '?offset'?[= ](\d+) to continue/;

/**
 * Whether a result only stands for content that is elsewhere, e.g. "File unchanged since last read": an earlier result that
 * holds the content must not be taken out in favour of it.
 */
export function isStandIn({ content }: Pick<ToolCallResponse, "content">): boolean {
  const start = (inlineText(content) ?? "").slice(0, EDGE_CHARS).trimStart();
  return STAND_INS.some((beginning) => start.startsWith(beginning));
}

/**
 * Gives the lines of its file that a read showed; the last one is Infinity when it came to the end of the file. Null for
 * other calls and for a read that is unanswered, failed, cut in the middle, stands for another, or whose text is elsewhere.
 */
export function shownLines({ request, response }: Pick<ToolCall, "request" | "response">): LineRange | null {
  const { lines } = callFacts(request);
  if (lines === undefined || response === null || response.is_error) return null;
  const before = known.get(response);
  if (before?.asked === lines) return before.shown;
  const shown = linesShown(lines, response);
  known.set(response, { asked: lines, shown });
  return shown;
}

/** By the result, with the lines asked for: events never change, and several strategies ask about each read. */
const known = new WeakMap<ToolCallResponse, { readonly asked: LineRange; readonly shown: LineRange | null }>();

function linesShown(lines: LineRange, response: ToolCallResponse): LineRange | null {
  const text = inlineText(response.content);
  if (text === null || text === "" || isStandIn(response)) return null;
  if (isCut(text) || FAILED.test(text.slice(0, EDGE_CHARS))) return null;
  const said = lastLineSaid(text.slice(-EDGE_CHARS));
  if (said !== null) return said < lines.first ? null : { first: lines.first, last: Math.min(lines.last, said) };
  const isAtEnd = isShorterThan(text, lines.last - lines.first + 1);
  return isAtEnd ? { first: lines.first, last: Number.POSITIVE_INFINITY } : lines;
}

/** Most results are long and whole: a search for a plain text is quicker than the pattern. */
function isCut(text: string): boolean {
  return (text.includes("…") || text.includes("[compacted: ")) && CUT.test(text);
}

function lastLineSaid(end: string): number | null {
  const shown = LAST_SHOWN.exec(end)
    ?.slice(1)
    .find((line) => line !== undefined);
  if (shown !== undefined) return Number(shown);
  const next = NEXT_LINE.exec(end)?.[1];
  return next === undefined ? null : Number(next) - 1;
}

/** Whether a text has fewer lines than a reader would have shown if there had been more; what it adds only lengthens it. */
function isShorterThan(text: string, lineCount: number): boolean {
  if (text.length + 1 < lineCount) return true;
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    count += 1;
    if (count >= lineCount) return false;
  }
  return count < lineCount;
}

/** The text of a result; null when some of it is an image or elsewhere. */
function inlineText(content: Content): string | null {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  const texts = content.map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : null));
  return texts.includes(null) ? null : texts.join("\n");
}

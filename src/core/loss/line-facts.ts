// The facts that are lines or sentences: the first lines of errors, and what the user asked for.
import type { Event } from "../event/event.ts";
import { isUserRequest } from "../event/event.ts";
import { textsOf } from "./event-texts.ts";

/** How much of a line tells whether it begins with an error, in characters. */
const LINE_START = 160;
const ERROR_LINE =
  /^(?:(?:fatal )?error(?:\[\w{1,12}\])?[: ]|[\w.$]{0,80}(?:Error|Exception)\b(?: \[\w{1,40}\])?:|panic(?:ked)?[: ]|panicked at|Traceback \(|fatal: |npm ERR!|thread '[^']{1,80}' panicked|AssertionError\b)/i;
const ERROR_INSIDE = /^\S{1,100}: (?:fatal )?error\b/;
/** What every such line holds; looked for first, for most texts hold none. */
const ERROR_SIGN = /err(?:or|!)|exception|panic|traceback|fatal/gi;
const NOT_BLANK = /[^ \t-\r\u00a0]/;
const HAS_WORD = /[\p{L}\p{N}]/u;

/** Bounds of a piece of a text: `text.slice(start, end)`, without blanks at its ends. */
export type VisitPiece = (start: number, end: number) => void;

/** Gives the first lines of the errors in the result of a call; those of other events are quotations. */
export function errorLines(event: Event): readonly string[] {
  if (event.type !== "tool_call_response") return [];
  const lines: string[] = [];
  let isFirst = event.is_error;
  for (const text of textsOf(event)) {
    scanSigned(text, isFirst, (start, end) => {
      const head = text.slice(start, Math.min(end, start + LINE_START));
      if (isFirst || ERROR_LINE.test(head) || ERROR_INSIDE.test(head)) lines.push(text.slice(start, end));
      isFirst = false;
    });
  }
  return lines;
}

/** Visits the lines that an error may begin in, and the first of all if that is asked for. */
function scanSigned(text: string, withFirst: boolean, visit: VisitPiece): void {
  let at = withFirst ? Math.max(0, text.search(NOT_BLANK)) : 0;
  let found = withFirst ? at : nextSign(text, at);
  while (found >= 0 && at < text.length) {
    const newline = text.indexOf("\n", found);
    const end = newline < 0 ? text.length : newline;
    visitTrimmed(text, { start: text.lastIndexOf("\n", found) + 1, end }, visit);
    at = end + 1;
    found = nextSign(text, at);
  }
}

function nextSign(text: string, from: number): number {
  ERROR_SIGN.lastIndex = from;
  return ERROR_SIGN.exec(text)?.index ?? -1;
}

/** Gives the sentences of a user's own request: typed by a person, not put there by a harness or a summary. */
export function requestSentences(event: Event): readonly string[] {
  if (!isUserRequest(event)) return [];
  const sentences: string[] = [];
  for (const text of textsOf(event)) {
    scanSentences(text, (start, end) => {
      const sentence = text.slice(start, end);
      if (HAS_WORD.test(sentence)) sentences.push(sentence);
    });
  }
  return sentences;
}

/** Visits the lines of a text that are not blank. */
export function scanLines(text: string, visit: VisitPiece): void {
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    visitTrimmed(text, { start: at, end }, visit);
    at = end + 1;
  }
}

/** Visits the sentences of a text: a line ends one, and so does a full stop, ! or ? with a blank behind it. */
export function scanSentences(text: string, visit: VisitPiece): void {
  scanLines(text, (lineStart, lineEnd) => {
    let start = lineStart;
    for (let at = lineStart; at < lineEnd; at += 1) {
      const isEnd = isSentenceEnd(text.charCodeAt(at)) && isBlank(text.charCodeAt(at + 1));
      if (!isEnd) continue;
      visitTrimmed(text, { start, end: at + 1 }, visit);
      start = at + 1;
    }
    visitTrimmed(text, { start, end: lineEnd }, visit);
  });
}

/** Visits the lines of a text, the sentences that are not whole lines, and what stands between backticks in a line. */
export function scanPieces(text: string, visit: VisitPiece): void {
  scanLines(text, (start, end) => {
    visit(start, end);
    let open = -1;
    let from = start;
    for (let at = start; at < end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x60) {
        if (open >= 0) visitTrimmed(text, { start: open, end: at }, visit);
        open = at + 1;
      } else if (isSentenceEnd(code) && isBlank(text.charCodeAt(at + 1))) {
        visitTrimmed(text, { start: from, end: at + 1 }, visit);
        from = at + 1;
      }
    }
    if (from > start) visitTrimmed(text, { start: from, end }, visit);
  });
}

function visitTrimmed(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  visit: VisitPiece,
) {
  let [from, to] = [start, end];
  while (from < to && isBlank(text.charCodeAt(from))) from += 1;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1;
  if (from < to) visit(from, to);
}

function isSentenceEnd(code: number): boolean {
  return code === 0x2e || code === 0x21 || code === 0x3f;
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}

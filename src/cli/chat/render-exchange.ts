// What was said last in a conversation, for whoever opens it again: the end of the last request, and of its answer.
import { lexer } from "marked";
import { type Event, textOfContent, wordsOfContent } from "../../core/conversation/event.ts";
import { forTerminal, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { unpainted } from "../frame/style.ts";
import { tidyPiece } from "../markdown/line-stream.ts";
import { renderBlocks } from "../markdown/render-blocks.ts";
import { wrapSpans } from "../markdown/spans.ts";
import type { AnswerLook } from "../render/answer-printer.ts";

/** Lines shown of a request and of an answer. */
const REQUEST_LINES = 6;
const ANSWER_LINES = 20;
/** Characters that are read for them, from the end of a text. */
const LONGEST_READ = 32_768;

/** Renders the last request among events and the last text of its answer; null when nobody asked for anything. */
export function renderExchange(events: readonly Event[], look: AnswerLook, columns: number): SafeText | null {
  const request = endOf(requestOf(events));
  if (request === "") return null;
  const { style, markdown } = look;
  const width = Math.max(2, columns - 1);
  const asked = wrapSpans([{ text: request, paint: style.faint }], Math.max(2, width - 2));
  const text = endOf(answerOf(events));
  const answer = markdown
    ? renderBlocks(lexer(text), { ...look, width })
    : wrapSpans([{ text, paint: unpainted }], width);
  return joinLines([
    ...shortened(asked, REQUEST_LINES).map((line, at) => safe`${at === 0 ? style.faint(safe`>`) : " "} ${line}`),
    ...(text === "" ? [] : (["", ...shortened(answer, ANSWER_LINES)] as const)),
  ]);
}

function requestOf(events: readonly Event[]): string {
  const request = events.findLast(
    (event) => event.type === "chat_request" && (event.role === undefined || event.role === "user"),
  );
  return request?.type === "chat_request" ? wordsOfContent(request.content) : "";
}

function answerOf(events: readonly Event[]): string {
  const answer = events.findLast((event) => event.type === "chat_response" && event.message !== undefined);
  return answer?.type === "chat_response" ? textOfContent(answer.message ?? "") : "";
}

function endOf(text: string): SafeText {
  return tidyPiece(text.trim().slice(-LONGEST_READ));
}

/** The last lines, below a mark where there were more. */
function shortened(lines: readonly SafeText[], most: number): readonly SafeText[] {
  return lines.length <= most ? lines : [forTerminal("…"), ...lines.slice(1 - most)];
}

// What the user wants kept to, in the user's words: sentences of requests that tell a rule, a ban or a correction, and what was said
// when a call was refused. Pasted logs, code and quotations are no words of the user.
import { textOfContent } from "../event/content.ts";
import { scanSentences } from "../loss/line-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { isGuidance, isSettling } from "./cues.ts";
import { isRefused, nameCall } from "./failures.ts";
import type { Said } from "./passages.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** Longest sentence that is taken, and the longest text of a request that is read at its start and at its end, characters. */
const SENTENCE_CHARS = 500;
const READ_CHARS = 6000;
const PASTED = /```[\s\S]*?(?:```|(?![\s\S]))|"""[\s\S]*?(?:"""|(?![\s\S]))|^\s*>.*$/gm;
const LIST_MARK = /^(?:[-*•+]|\d{1,2}[.)])\s+/;
/** Lines that a program printed: logs, traces, tables, code. */
const PRINTED =
  /^(?:\[|[{}|$#<]|---|===|\d{4}-\d\d-\d\d|\d\d:\d\d|(?:error|warning|info|debug|fatal)\b[ :[]|at |\S+\.\w{1,5}:\d+)|[{};]$|\S+\(\S*\)$/i;
const SAID_THEN = /\bthe user said:\s*([\s\S]+)$/i;

/** Lists the sentences of requests that tell what to keep to, in order. */
export function guidanceIn(requests: readonly Said[]): readonly Said[] {
  return sentencesOf(requests).filter(({ text }) => isGuidance(text));
}

/** Lists the sentences of requests by which something was settled, in order. */
export function settledIn(requests: readonly Said[]): readonly Said[] {
  return sentencesOf(requests).filter(({ text }) => isSettling(text));
}

/** What was said when calls were refused, with the call; without words only that it was refused. */
export function refusalsIn(calls: readonly ToolCall[]): readonly Said[] {
  return calls.flatMap((call) => {
    if (call.response === null || !isRefused(call.response)) return [];
    const words = SAID_THEN.exec(textOfContent(call.response.content))?.[1];
    if (words === undefined) return [];
    const text = `${cutEnd(oneLine(words), SENTENCE_CHARS)} (refusing ${nameCall(call)})`;
    return [{ turn: call.responseTurn ?? call.turn, text }];
  });
}

function sentencesOf(requests: readonly Said[]): readonly Said[] {
  return requests.flatMap(({ turn, text }) => {
    const typed = seenOf(text).replace(PASTED, "");
    const found: Said[] = [];
    scanSentences(typed, (start, end) => {
      const sentence = oneLine(typed.slice(start, end)).replace(LIST_MARK, "");
      if (sentence.length <= SENTENCE_CHARS && !PRINTED.test(sentence)) found.push({ turn, text: sentence });
    });
    return found;
  });
}

function seenOf(text: string): string {
  return text.length > 2 * READ_CHARS ? `${text.slice(0, READ_CHARS)}\n${text.slice(-READ_CHARS)}` : text;
}

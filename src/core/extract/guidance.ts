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
/** Quoted text of at least so many characters is what somebody else wrote; shorter, it may be a name or a rule. */
const QUOTED = /(?<![^\s(])"(?=\S)[^"]{200,}(?<=\S)"(?![\p{L}\p{N}])|“[^”]{200,}”|„[^“]{200,}“|«[^»]{200,}»/gu;
/** A line that says whose words follow it. The user's own are no other's. */
const OF_OTHERS =
  /^(?!.*\b(?:I|my|our|we)\b).*(?:\breview(?:er)?s?\b|\bfeedback\b|\bcomments?\b|\b(?:said|says|wrote|writes|replied|reports?|reported)\b).*:[ \t]*$/im;
/** What tools that review put over a finding. */
const FINDING = /^[^\w\n]*(?:(?:critical|high|medium|low|major|minor) severity|severity[^\w\n]+\w+)[^\w\n]*$/im;
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
    const typed = ownWords(seenOf(text));
    const found: Said[] = [];
    scanSentences(typed, (start, end) => {
      const sentence = oneLine(typed.slice(start, end)).replace(LIST_MARK, "");
      if (sentence.length <= SENTENCE_CHARS && !PRINTED.test(sentence)) found.push({ turn, text: sentence });
    });
    return found;
  });
}

/** Leaves out what is pasted or quoted, and all that follows a line which says that it is somebody else's. */
function ownWords(text: string): string {
  const typed = text.replace(PASTED, "").replace(QUOTED, "\n");
  if (FINDING.test(typed)) return "";
  const from = OF_OTHERS.exec(typed)?.index;
  return from === undefined ? typed : typed.slice(0, from);
}

function seenOf(text: string): string {
  return text.length > 2 * READ_CHARS ? `${text.slice(0, READ_CHARS)}\n${text.slice(-READ_CHARS)}` : text;
}

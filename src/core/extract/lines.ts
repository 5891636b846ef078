// What a budget leaves of requests, answers and passages: each is cut to a fair share of it.
import { fairCap, takeLines } from "./budget.ts";
import { type Passage, pickPassages, type Said } from "./passages.ts";
import { cutEnd, cutMiddle, oneLine, spokenLine } from "./short-text.ts";

/** Characters that a request has at the least (80 and a long word), and at the most when there is room. */
const LEAST_REQUEST = 130;
const MOST_REQUEST = 1500;
/** Shortest answer worth showing, and the longest, characters. */
const LEAST_ANSWER = 120;
const MOST_ANSWER = 2000;
/** Characters of a line beside its text, nearly: `- [t12] Answer: `. */
export const MARK_CHARS = 16;

/** Cuts requests so that together they take `chars`, none shorter than 130 characters where it is longer. */
export function showRequests(requests: readonly Said[], chars: number): readonly Said[] {
  const lines = requests.map(({ turn, text }) => ({ turn, text: oneLine(text) }));
  const cap = Math.min(MOST_REQUEST, capOf(lines, chars));
  return lines.map(({ turn, text }) => ({ turn, text: cutEnd(text, Math.max(LEAST_REQUEST, cap)) }));
}

/** Cuts answers so that together they take `chars`; where there is no room for all, the newest have it. */
export function showAnswers(answers: readonly Said[], chars: number): readonly Said[] {
  const most = Math.floor(chars / (LEAST_ANSWER + MARK_CHARS));
  const newest = most === 0 ? [] : answers.slice(-most);
  const lines = newest.map(({ turn, text }) => ({ turn, text: cutMiddle(spokenLine(text), MOST_ANSWER) }));
  const cap = capOf(lines, chars);
  return lines.map(({ turn, text }) => ({ turn, text: cutMiddle(text, cap) })).filter(({ text }) => text !== "");
}

function capOf(lines: readonly Said[], chars: number): number {
  const lengths = lines.map(({ text }) => text.length + MARK_CHARS);
  return fairCap(lengths, chars) - MARK_CHARS;
}

/** Picks passages that are not in `seen`, as lines that take at most `chars`. */
export function showPassages(passages: readonly Passage[], chars: number, seen: string): readonly string[] {
  const isKnown = (text: string): boolean => seen.includes(text.replace(/ …$/, ""));
  return pickPassages(passages, { chars, lineChars: MARK_CHARS, isKnown }).map(
    ({ turn, text }) => `- [t${turn}] ${text}`,
  );
}

/** Takes the newest lines that fit into `chars`, in their order. */
export function newestLines(lines: readonly string[], chars: number): readonly string[] {
  return [...takeLines([...lines].reverse(), chars)].reverse();
}

// What a budget leaves of requests, answers and passages: each is cut to a fair share of it.
import { charsOf, fairCap, takeLines } from "./budget.ts";
import type { Reply } from "./decisions.ts";
import { type Passage, pickPassages, type Said } from "./passages.ts";
import { repliesTo } from "./replies.ts";
import { oneLine } from "./short-text.ts";
import { cleanBlock, cutBlock, cutBlockEnd, indented, indentedTo } from "./text-block.ts";

/** Characters that a request has at the least (80 and a long word), and at the most when there is room. */
const LEAST_REQUEST = 130;
const MOST_REQUEST = 3000;
/** Shortest answer worth showing, and the longest, characters. */
const LEAST_ANSWER = 120;
const MOST_ANSWER = 3000;
/** Characters of a line beside its text, nearly: `- [t12] Answer: `. */
export const MARK_CHARS = 16;

/** Cuts requests so that together they take `chars`, none shorter than 130 characters where it is longer. */
export function showRequests(requests: readonly Reply[], chars: number): readonly Said[] {
  const texts = requests.map(({ turn, text, after }) => {
    const question = repliesTo(text, after);
    return { turn, text: cleanBlock(text), to: question === null ? "" : ` (to: ${question})` };
  });
  const cap = Math.max(LEAST_REQUEST, Math.min(MOST_REQUEST, capOf(texts, chars)));
  return texts.map(({ turn, text, to }) => ({ turn, text: `${indentedTo(text, cap, cutBlockEnd)}${to}` }));
}

/** Cuts answers so that together they take `chars`; where there is no room for all, the newest have it. */
export function showAnswers(answers: readonly Said[], chars: number): readonly Said[] {
  const most = Math.floor(chars / (LEAST_ANSWER + MARK_CHARS));
  const newest = most === 0 ? [] : answers.slice(-most);
  const texts = newest.map(({ turn, text }) => ({ turn, text: cleanBlock(text) }));
  const cap = Math.min(MOST_ANSWER, capOf(texts, chars));
  return texts
    .map(({ turn, text }) => ({ turn, text: indentedTo(text, cap, cutBlock) }))
    .filter(({ text }) => text.trim() !== "");
}

function capOf(texts: readonly Said[], chars: number): number {
  const lengths = texts.map(({ text }) => indented(text).length + MARK_CHARS);
  return fairCap(lengths, chars) - MARK_CHARS;
}

/** Picks passages that are not in `seen`, as lines that take at most `chars`. */
export function showPassages(passages: readonly Passage[], chars: number, seen: string): readonly string[] {
  const known = oneLine(seen);
  const isKnown = (text: string): boolean => known.includes(text.replace(/ …$/, ""));
  return pickPassages(passages, { chars, lineChars: MARK_CHARS, isKnown }).map(
    ({ turn, text }) => `- [t${turn}] ${text}`,
  );
}

/** Takes the newest lines that fit into `chars`, in their order. */
export function newestLines(lines: readonly string[], chars: number): readonly string[] {
  return [...takeLines([...lines].reverse(), chars)].reverse();
}

/** Lines of what was said, by turn; where there is no room for all, as many of the oldest as of the newest. */
export function bothEnds(said: readonly Said[], chars: number): readonly string[] {
  const lines = [...new Set(said.map(({ turn, text }) => `- [t${turn}] ${text}`))];
  if (charsOf(lines) <= chars) return lines;
  const first = takeLines(lines, chars / 2);
  const rest = lines.filter((line) => !first.includes(line));
  const last = new Set(newestLines(rest, chars - charsOf(first)));
  return lines.filter((line) => first.includes(line) || last.has(line));
}

// Where what the agent sends may be cut: pieces stay whole, results with their calls, and what stays begins with a request.
import type { SaidPart, SentPart } from "./sent-parts.ts";

/** The last place up to there between two pieces. */
export function wholePieces(sent: readonly SentPart[], said: readonly SaidPart[], most: number): number {
  let start = most;
  const isWithin = (at: number): boolean =>
    at > 0 &&
    (isSamePiece(said[at], said[at - 1]) || (sent[at] !== undefined && sent[at]?.event === sent[at - 1]?.event));
  while (isWithin(start)) start--;
  return start;
}

/** Whether two parts are of one piece of a message. */
export function isSamePiece(a: SaidPart | undefined, b: SaidPart | undefined): boolean {
  return a !== undefined && b !== undefined && a.message === b.message && a.name === b.name;
}

/** The last place up to there at which a compaction may begin: 0, or where a message of a turn does. */
export function alignStart(sent: readonly SentPart[], most: number): number {
  let start = most;
  while (start > 0 && !isOpening(sent[start])) start--;
  return start;
}

/** The first place from there on that a compaction may keep: where a request of a turn begins, nothing replaced behind it. */
export function alignKept(sent: readonly SentPart[], least: number): number {
  let kept = Math.max(least, sent.findLastIndex(({ entry }) => entry === null) + 1);
  while (kept < sent.length && !(sent[kept]?.kind === "request" && isOpening(sent[kept]))) kept++;
  return kept;
}

function isOpening(part: SentPart | undefined): boolean {
  return part?.isFirst === true && part.kind !== "result" && part.entry !== null;
}

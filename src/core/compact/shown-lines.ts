// Which lines of its file a read really showed: the lines asked for, corrected by what the result says. Agents' readers stop at their own
// limits, cut the middle out, or only say that nothing has changed since an earlier read.
import type { Content, ToolCallResponse } from "../conversation/event.ts";
import { appendAll } from "../lists.ts";
import type { LineRange } from "./shell-read.ts";
import { callFacts, fileKey, type ToolCall } from "./tool-call.ts";

/** Beginnings of results that only refer to content elsewhere. */
const PLACEHOLDERS: readonly string[] = [
  "File unchanged since last read",
  "Wasted call",
  "<persisted-output>",
  "[Old tool result content cleared",
  "[compacted] ",
];
/** Long enough for each of these beginnings and closing remarks, characters. */
const EDGE_CHARS = 400;
/** Codex and others cut the middle out of a long output. */
const CUT = /…\s?\d+ (?:tokens|chars|characters|lines) truncated|\[compacted: \d+ characters left out\]/;
/** A shell's output that says that its command failed. */
const FAILED = /^(?:Process exited with code|Exit code:?) [1-9]/m;
/** Closing remarks that name the last line shown, or the first one not shown. */
const LAST_SHOWN = /\(Showing lines \d+-(\d+) of|\[Showing lines \d+-(\d+) of|beyond line (\d+)\)/;
const NEXT_LINE = /Use '?offset'?[= ](\d+) to continue/;

/**
 * Whether a result only refers to content elsewhere, e.g. "File unchanged since last read": the earlier result with the content must not be
 * removed in favour of it.
 */
export function isPlaceholder({ content }: Pick<ToolCallResponse, "content">): boolean {
  const start = (inlineText(content) ?? "").slice(0, EDGE_CHARS).trimStart();
  return PLACEHOLDERS.some((beginning) => start.startsWith(beginning));
}

/**
 * Returns the lines of its file that a read showed; the last is Infinity when it reached the end of the file. Null for other calls and for
 * a read that is unanswered, failed, cut in the middle, replaced by another, or whose text is elsewhere.
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
  if (text === null || text === "" || isPlaceholder(response)) return null;
  if (isCut(text) || FAILED.test(text.slice(0, EDGE_CHARS))) return null;
  const said = lastLineSaid(text.slice(-EDGE_CHARS));
  if (said !== null) return said < lines.first ? null : { first: lines.first, last: Math.min(lines.last, said) };
  const isAtEnd = isShorterThan(text, lines.last - lines.first + 1);
  return isAtEnd ? { first: lines.first, last: Number.POSITIVE_INFINITY } : lines;
}

/** Most results are long and not cut: a search for a plain text is quicker than the pattern. */
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

/** Whether a text has fewer lines than the reader's limit, so the file ends there; anything added only lengthens it. */
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

// Reads whose lines a later read of the same file shows as well: the built-in form of subsumption. Near-linear in calls.

/** No position. */
const NONE = -1;

interface Read {
  /** Id of the request event. */
  readonly id: string;
  /** Position among the reads of its file, in the order of the calls, 0-based. */
  readonly position: number;
  readonly lines: LineRange;
}

/**
 * Finds the reads that a later one contains: request event id -> id of the newest request whose lines contain it, which no other read
 * contains. `calls` in order. Ignores reads that failed, were cut or show nothing (see shownLines).
 */
export function findContainedReads(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const byFile = new Map<string, ToolCall[]>();
  for (const call of calls) {
    const facts = callFacts(call.request);
    const file = facts.kind === "read" ? fileKey(facts) : undefined;
    if (file === undefined) continue;
    if (byFile.get(file)?.push(call) === undefined) byFile.set(file, [call]);
  }
  // Finding the shown lines reads the result's text, which is not worth it for a file that was read once.
  return new Map([...byFile.values()].flatMap((reads) => (reads.length > 1 ? findContained(listReads(reads)) : [])));
}

function listReads(calls: readonly ToolCall[]): readonly Read[] {
  const reads: Read[] = [];
  for (const call of calls) {
    const lines = shownLines(call);
    if (lines !== null) reads.push({ id: call.request.id, position: reads.length, lines });
  }
  return reads;
}

/**
 * Sorted by first line, the reads seen so far begin no later: the newest of them that ends no earlier is the answer. All reads with the
 * same first line are added before one of them is looked up.
 */
function findContained(reads: readonly Read[]): readonly [string, string][] {
  const ends = [...new Set(reads.map(({ lines }) => lines.last))].sort((a, b) => b - a);
  const rank = new Map(ends.map((end, index) => [end, index]));
  const newest = createNewestByRank(ends.length);
  const sorted = [...reads].sort((a, b) => a.lines.first - b.lines.first);
  const pairs: [string, string][] = [];
  let seen = 0;
  for (const read of sorted) {
    for (let next = sorted[seen]; next !== undefined && next.lines.first <= read.lines.first; next = sorted[seen]) {
      newest.add(rank.get(next.lines.last) ?? 0, next.position);
      seen += 1;
    }
    const container = reads[newest.upTo(rank.get(read.lines.last) ?? 0)];
    if (container !== undefined && container.position > read.position) pairs.push([read.id, container.id]);
  }
  return pairs;
}

/** Returns the largest position of all ranks up to one; adding and asking take logarithmic time (a binary indexed tree). */
function createNewestByRank(size: number): {
  readonly add: (rank: number, position: number) => void;
  readonly upTo: (rank: number) => number;
} {
  const tree = new Int32Array(size + 1).fill(NONE);
  return {
    add: (rank, position) => {
      for (let at = rank + 1; at <= size; at += at & -at) tree[at] = Math.max(tree[at] ?? NONE, position);
    },
    upTo: (rank) => {
      let position = NONE;
      for (let at = rank + 1; at > 0; at -= at & -at) position = Math.max(position, tree[at] ?? NONE);
      return position;
    },
  };
}

// Which later calls are worth asking a program whether they make a call obsolete: those that share a text with it in their arguments, such
// as a path. Near-linear in calls: at most a few candidates each.

/** Most candidates of one call, the nearest first. */
export const MAX_CANDIDATES = 8;
/** Most texts of one call that are compared: more are no names. */
const MAX_TEXTS = 32;

/** Lists the later calls worth asking about, the nearest first, by call. `calls` in order, of one tool. */
export function listCandidates(calls: readonly ToolCall[]): ReadonlyMap<ToolCall, readonly ToolCall[]> {
  const candidates = new Map<ToolCall, readonly ToolCall[]>();
  /** By text: positions of the nearest calls that contain it, ascending. */
  const nearest = new Map<string, readonly number[]>();
  for (const [position, call] of [...calls.entries()].reverse()) {
    const texts = textsIn(call.request.arguments);
    const sharing = new Set(texts.flatMap((text) => nearest.get(text) ?? []));
    const found = [...sharing].sort((a, b) => a - b).slice(0, MAX_CANDIDATES);
    candidates.set(
      call,
      found.flatMap((at) => calls[at] ?? []),
    );
    for (const text of texts) nearest.set(text, [position, ...(nearest.get(text) ?? [])].slice(0, MAX_CANDIDATES));
  }
  return candidates;
}

function textsIn(args: unknown): readonly string[] {
  const texts = new Set<string>();
  const left: unknown[] = [args];
  while (left.length > 0 && texts.size < MAX_TEXTS) {
    const value = left.pop();
    if (typeof value === "string" && value !== "") texts.add(value);
    else if (typeof value === "object" && value !== null) appendAll(left, Object.values(value));
  }
  return [...texts];
}

// Reads whose lines a later read of the same file shows as well: the built-in form of subsumption. Near-linear in calls.
import { callFacts, fileKey } from "./call-facts.ts";
import type { LineRange } from "./line-range.ts";
import { shownLines } from "./shown-lines.ts";
import type { ToolCall } from "./tool-call.ts";

/** Position where there is none. */
const NONE = -1;

/** A read with what it showed. */
interface Read {
  /** Id of the request event. */
  readonly id: string;
  /** Position among the reads of its file, in the order of the calls, 0-based. */
  readonly position: number;
  readonly lines: LineRange;
}

/**
 * Finds the reads that a later one contains: request event id -> id of the newest request whose lines contain it. That one
 * is contained by none itself. `calls` in order. Reads that failed, were cut or show nothing take no part (see shownLines).
 */
export function findContainedReads(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const byFile = new Map<string, ToolCall[]>();
  for (const call of calls) {
    const facts = callFacts(call.request);
    const file = facts.kind === "read" ? fileKey(facts) : undefined;
    if (file === undefined) continue;
    if (byFile.get(file)?.push(call) === undefined) byFile.set(file, [call]);
  }
  // What a read showed is in its text: a file that was read once is not worth looking for it.
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
 * In the order of their first lines, the reads seen so far begin no later: among them, the newest one that ends no earlier is
 * the answer. Reads that begin together are all seen before one of them is asked about.
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

/** The largest position by rank, asked for all ranks up to one; both in logarithmic time (a binary indexed tree). */
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

// Cuts a diff into hunks with context, numbered like `diff -u`. A hunk never crosses the heading of a turn, so that each one is
// named after its turn and the first event that differs in it.
import { commandsRun, filesNamed } from "../../core/compact/hidden-content.ts";
import { type Event, type Origin, type ToolCallRequest, traitsOf, type View } from "../../core/conversation/event.ts";
import { appendAll } from "../../core/lists.ts";
import type { TokenMeter } from "../../core/model/token-meter.ts";
import type { LargestChanges, ViewChange } from "../../store/compaction-body.ts";
import type { WordRange } from "./line-diff.ts";
import { eventText, eventTitle, originLabel } from "./view-text.ts";

/** Lines of a hunk with the same outcome that belong to one event, or the heading of an event or a turn. */
export interface HunkRun {
  readonly kind: "same" | "removed" | "added";
  /** Id of the event; absent for a turn. */
  readonly event?: string;
  /** Whether the one line is a heading; content is shown indented under it. */
  readonly heading?: true;
  /** Never empty. */
  readonly lines: readonly string[];
  /** Differing stretches of each of the first lines against its paired line; null = not compared. */
  readonly words?: readonly (readonly WordRange[] | null)[];
}

/** Place of a hunk in one of the texts: first line, 1-based, or the line before it if it has no lines there. */
interface HunkSide {
  readonly line: number;
  readonly count: number;
}

export interface DiffHunk {
  readonly before: HunkSide;
  readonly after: HunkSide;
  /** Label of the turn, e.g. `turn 3`. */
  readonly turn: string;
  /** First event that differs; absent when the whole turn was removed or added. */
  readonly event?: string;
  /** Title of that event, e.g. `tool result fs_read_file`. */
  readonly title?: string;
  readonly runs: readonly HunkRun[];
}

/** Lines of one block with the same outcome; a function, because most are never shown. */
export interface DiffRun {
  readonly kind: HunkRun["kind"];
  readonly turn: string;
  readonly event: string | null;
  readonly title: string;
  readonly heading: boolean;
  /** Number of lines, at least one. */
  readonly count: number;
  lines(): readonly string[];
  readonly words?: HunkRun["words"];
}

interface Position {
  before: number;
  after: number;
}

/** Cuts runs into hunks with `context` unchanged lines around each change. */
export function buildHunks(runs: readonly DiffRun[], context: number): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  const position: Position = { before: 0, after: 0 };
  for (const turn of groupBy(runs, (run) => run.turn)) appendAll(hunks, turnHunks(turn, context, position));
  return hunks;
}

/** Splits a list where the key changes. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => unknown): T[][] {
  const groups: T[][] = [];
  let key: unknown;
  for (const item of items) {
    const own = keyOf(item);
    const last = groups.at(-1);
    if (last !== undefined && own === key) last.push(item);
    else groups.push([item]);
    key = own;
  }
  return groups;
}

function turnHunks(runs: readonly DiffRun[], context: number, position: Position): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  let open: DiffRun[] = [];
  const stretches = groupBy(runs, (run) => run.kind === "same");
  stretches.forEach((stretch, index) => {
    if (stretch[0]?.kind !== "same") {
      appendAll(open, stretch);
      return;
    }
    const count = lineCount(stretch);
    const isFirst = index === 0;
    const isLast = index === stretches.length - 1;
    if (!isFirst && !isLast && count <= 2 * context) {
      appendAll(open, stretch);
      return;
    }
    if (!isFirst) hunks.push(closeHunk([...open, ...cut(stretch, 0, context)], position));
    const skipped = count - (isFirst ? 0 : Math.min(count, context)) - (isLast ? 0 : Math.min(count, context));
    position.before += skipped;
    position.after += skipped;
    open = isLast ? [] : cut(stretch, count - Math.min(count, context), count);
  });
  return open.length === 0 ? hunks : [...hunks, closeHunk(open, position)];
}

function lineCount(runs: readonly DiffRun[]): number {
  return runs.reduce((sum, run) => sum + run.count, 0);
}

/** Cuts lines `from` (inclusive) to `to` (exclusive) out of unchanged runs. */
function cut(runs: readonly DiffRun[], from: number, to: number): DiffRun[] {
  const kept: DiffRun[] = [];
  let at = 0;
  for (const run of runs) {
    const start = Math.max(0, from - at);
    const end = Math.min(run.count, to - at);
    if (end > start) kept.push({ ...run, count: end - start, lines: () => run.lines().slice(start, end) });
    at += run.count;
  }
  return kept;
}

function closeHunk(runs: readonly DiffRun[], position: Position): DiffHunk {
  const before = lineCount(runs.filter((run) => run.kind !== "added"));
  const after = lineCount(runs.filter((run) => run.kind !== "removed"));
  const first = runs.find((run) => run.kind !== "same");
  const hunk: DiffHunk = {
    before: { line: position.before + (before > 0 ? 1 : 0), count: before },
    after: { line: position.after + (after > 0 ? 1 : 0), count: after },
    turn: first?.turn ?? "",
    ...(first?.event == null ? {} : { event: first.event, title: first.title }),
    runs: runs.map(hunkRun),
  };
  position.before += before;
  position.after += after;
  return hunk;
}

function hunkRun({ kind, event, heading, words, lines }: DiffRun): HunkRun {
  return {
    kind,
    ...(event === null ? {} : { event }),
    ...(heading ? { heading } : {}),
    lines: lines(),
    ...(words?.some((ranges) => ranges !== null) ? { words } : {}),
  };
}

// The largest changes of a view, for a user who approves them without reading the whole diff. One pass over both views; only events
// that are not the same object before and after are compared.

/** Number of changes returned. */
const MOST_CHANGES = 10;
const NO_IDS: ReadonlySet<string> = new Set();

interface Pair {
  readonly origin: Origin;
  readonly before: Event | null;
  readonly after: Event | null;
  readonly tokens: { readonly before: number; readonly after: number };
}

interface CountedChange {
  readonly before: View;
  readonly after: View;
  readonly meter: Pick<TokenMeter, "countEvent">;
}

/** Finds the largest changes between two views; `except` = compactions whose own texts are shown elsewhere. */
export function largestChanges(change: CountedChange, except: ReadonlySet<string> = NO_IDS): LargestChanges {
  const { before, after } = change;
  const pairs = changedPairs(change, except);
  const weight = ({ tokens }: Pair): number => Math.abs(tokens.before - tokens.after);
  const largest = [...pairs].sort((a, b) => weight(b) - weight(a)).slice(0, MOST_CHANGES);
  const calls = callsOf(before, after);
  return { count: pairs.length, largest: largest.map((pair) => describe(pair, calls)) };
}

function changedPairs({ before, after, meter }: CountedChange, except: ReadonlySet<string>): readonly Pair[] {
  const countEvent = (event: Event | null): number => (event === null ? 0 : Math.round(meter.countEvent(event)));
  const now = new Map([...visibleEvents(after)].map(([event]) => [event.id, event]));
  const seen = new Set<string>();
  const pairs: Pair[] = [];
  for (const [event, origin] of visibleEvents(before)) {
    seen.add(event.id);
    const changed = now.get(event.id) ?? null;
    if (changed === event) continue;
    const tokens = { before: countEvent(event), after: countEvent(changed) };
    // Two equal stubs of one event are different objects.
    if (tokens.before === tokens.after && changed !== null && eventText(event) === eventText(changed)) continue;
    pairs.push({ origin, before: event, after: changed, tokens });
  }
  for (const [event, origin] of visibleEvents(after)) {
    if (seen.has(event.id) || (origin.kind !== "kept" && except.has(origin.compaction))) continue;
    pairs.push({ origin, before: null, after: event, tokens: { before: 0, after: countEvent(event) } });
  }
  return pairs;
}

function* visibleEvents({ turns }: View): Generator<readonly [Event, Origin]> {
  for (const { origin, events } of turns)
    for (const event of events) if (traitsOf(event).providerVisible) yield [event, origin];
}

/** Indexes calls by call id; the newest of several with one id. */
function callsOf(...views: readonly View[]): ReadonlyMap<string, ToolCallRequest> {
  const calls = new Map<string, ToolCallRequest>();
  for (const view of views.toReversed())
    for (const [event] of visibleEvents(view)) if (event.type === "tool_call_request") calls.set(event.call_id, event);
  return calls;
}

function describe({ origin, before, after, tokens }: Pair, calls: ReadonlyMap<string, ToolCallRequest>): ViewChange {
  const event = before ?? after;
  return {
    turn: originLabel(origin),
    title: event === null ? "" : titleOf(event, calls),
    tokens,
    before: before === null ? null : (eventText(before) ?? ""),
    after: after === null ? null : (eventText(after) ?? ""),
  };
}

/** Names an event; a call or a result with its file or command. */
function titleOf(event: Event, calls: ReadonlyMap<string, ToolCallRequest>): string {
  const isCall = event.type === "tool_call_request" || event.type === "tool_call_response";
  const call = isCall ? calls.get(event.call_id) : undefined;
  const names = new Map(call === undefined ? [] : [[call.call_id, call.name]]);
  const [subject] = call === undefined ? [] : [...commandsRun(call.arguments), ...filesNamed(call.arguments)];
  return [eventTitle(event, names), ...(subject === undefined ? [] : [subject])].join(" ");
}

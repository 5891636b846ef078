// What a rollout that grew has to be read with when it is read from one of its newest turns on. A line of a rollout never
// depends on later ones: what is known before a turn's first line is all that the lines before it say of those behind it.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import { areTitlesBefore, latestStart, READ_AGAIN, skippedBefore } from "../growing-session.ts";
import type { SkippedLine } from "../imported-session.ts";
import type { SessionMark } from "../session-mark.ts";
import type { RolloutEntry, RolloutIndex, RolloutStart } from "./rollout-index.ts";
import { readThreadNames } from "./thread-names.ts";
import type { RolloutTurn } from "./turns.ts";

/** What the lines before a mark say of those after it. */
export interface RolloutState {
  readonly sessionId: string;
  /** First words of the first request. */
  readonly title: string;
  /** The newest of the later titles. */
  readonly lastTitle?: string;
  readonly start: RolloutStart;
  /** What introduces the turn's request, and stands before it. */
  readonly held: readonly RolloutEntry[];
  /** The latest start of a turn up to the mark's own, but for turn 0; milliseconds since 1970. */
  readonly latestStart: number;
  readonly skipped: readonly SkippedLine[];
}

/** A mark that a file was read from. */
export interface FormerRolloutMark {
  /** The turn that is read first, 0-based. */
  readonly turn: number;
  readonly state: RolloutState;
}

/** What a reading came to, from its first line or from a mark on. */
interface RolloutReading {
  readonly index: RolloutIndex;
  readonly active: readonly RolloutTurn[];
  readonly compactions: readonly Compaction[];
  /** The first words of the first request, and the turn that they stand in; absent = there are none. */
  readonly title: { readonly title: string; readonly turn: number } | undefined;
}

/** The mark of a reading; null where a file that grew has to be read whole. */
export function createRolloutMark(
  { index, active, compactions, title }: RolloutReading,
  former?: FormerRolloutMark,
): SessionMark | null {
  const turn = active.length - READ_AGAIN;
  const opener = active[turn]?.opener;
  const start = index.starts.find(({ line }) => line === opener?.line);
  if (opener === undefined || start === undefined || title === undefined) return null;
  const isFirst = former === undefined;
  const { namedAt = opener.line } = index;
  if (isFirst && (turn < 1 || title.turn >= turn || namedAt >= opener.line)) return null;
  if (!onlyAddsTurns(index, opener.line) || compactions.some(({ to_turn }) => to_turn >= turn)) return null;
  const before = index.titles.filter(({ line }) => line < opener.line);
  const lastTitle = readThreadNames({ ...index, titles: before }, former?.state.lastTitle).at(-1)?.title;
  const newest = lastTitle ?? former?.state.lastTitle;
  const starts = active.slice(isFirst ? 1 : 0, turn + 1).map((one) => one.opener);
  const latest = latestStart(starts, former?.state.latestStart);
  const skipped = skippedBefore(opener.line, index.skipped, former?.state.skipped ?? []);
  if (skipped === null || !areTitlesBefore(before, latest)) return null;
  const state: RolloutState = {
    sessionId: index.sessionId,
    title: title.title,
    ...defined({ lastTitle: newest }),
    start,
    held: (active[turn]?.entries ?? []).filter(({ line }) => line < opener.line),
    latestStart: latest,
    skipped,
  };
  return { line: opener.line, turn: (former?.turn ?? 0) + turn, state, names: new Uint8Array() };
}

/** Whether the lines from one on only add turns, and no line of the file has an id that jpg gave it. */
export function onlyAddsTurns({ entries, marks }: RolloutIndex, from: number): boolean {
  return (
    marks.size === 0 && entries.every(({ kind, line }) => line < from || (kind !== "compacted" && kind !== "rollback"))
  );
}

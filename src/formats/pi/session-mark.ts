// What a session of pi that grew has to be read with when it is read from one of its newest turns on, and the ids that stand on
// the lines before, so that a later entry that has to do with an earlier one is noticed.

import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { defined } from "../../core/json.ts";
import { areTitlesBefore, latestStart, nameEntries, READ_AGAIN, skippedBefore } from "../growing-session.ts";
import type { SkippedLine } from "../imported-session.ts";
import type { SessionMark } from "../session-mark.ts";
import { readTimestamp } from "../timestamp.ts";
import type { PlacedCompaction } from "./compactions.ts";
import type { Entry } from "./entry-index.ts";
import { readSessionNames } from "./session-names.ts";
import { listTools } from "./tool-lists.ts";
import type { PathReading } from "./turn-reader.ts";

/** What the lines before a mark say of those after it. */
export interface PiState {
  readonly createdAt: string;
  /** First words of the first request. */
  readonly title: string;
  /** The newest of the later titles. */
  readonly lastTitle?: string;
  readonly tools: readonly ToolDefinition[];
  /** The latest start of a turn up to the mark's own, but for turn 0; milliseconds since 1970. */
  readonly latestStart: number;
  readonly skipped: readonly SkippedLine[];
}

/** A mark that a file was read from. */
export interface FormerPiMark extends Omit<SessionMark, "state"> {
  readonly state: PiState;
}

interface MarkedReading {
  readonly reading: PathReading;
  readonly placed: readonly PlacedCompaction[];
  /** The first words of the first request, and the turn that they stand in; absent = there are none. */
  readonly title: { readonly title: string; readonly turn: number } | undefined;
}

/** The mark of a reading; null where a file that grew has to be read whole. */
export function createSessionMark(marked: MarkedReading, former?: FormerPiMark): SessionMark | null {
  const { reading, placed, title } = marked;
  const turn = reading.cuts.length - READ_AGAIN;
  const opener = reading.cuts[turn]?.opener;
  if (opener === undefined || title === undefined || reading.index.isNumbered) return null;
  if (former?.line === opener.line) return former;
  const isEarly = former === undefined && (turn < 1 || title.turn >= turn);
  const isChanged = placed.some((one) => one.turn >= turn || one.compaction.to_turn >= turn);
  if (isEarly || isChanged || !isParted(reading, opener)) return null;
  const before = reading.index.entries.filter(({ line }) => line < opener.line);
  const state = stateBefore(marked, { turn, line: opener.line, before, title: title.title }, former?.state);
  const names = nameEntries(before.flatMap(namesOf), former?.names);
  if (state === null || names === null) return null;
  return { line: opener.line, turn: (former?.turn ?? 0) + turn, state, names };
}

interface MarkPlace {
  /** Among those that were read, 0-based. */
  readonly turn: number;
  readonly line: number;
  /** The entries before it, of those that were read. */
  readonly before: readonly Entry[];
  readonly title: string;
}

/** What lines say of those behind them; null where that is too much, or a title is of a later turn. */
function stateBefore({ reading }: MarkedReading, at: MarkPlace, former: PiState | undefined): PiState | null {
  const { lines, index, cuts } = reading;
  const titles = readSessionNames(lines, at.before, former?.lastTitle);
  const lastTitle = titles.at(-1)?.title ?? former?.lastTitle;
  const starts = cuts.slice(former === undefined ? 1 : 0, at.turn + 1).map(({ opener }) => opener);
  const latest = latestStart(starts, former?.latestStart);
  const tools = new Map((former?.tools ?? []).map((tool) => [tool.name, tool]));
  listTools({ lines, cuts: cuts.slice(0, at.turn) }, tools);
  const skipped = skippedBefore(at.line, index.skipped, former?.skipped ?? []);
  if (skipped === null || !areTitlesBefore(titles, latest)) return null;
  return {
    createdAt: former?.createdAt ?? index.createdAt,
    title: at.title,
    ...defined({ lastTitle }),
    tools: [...tools.values()],
    latestStart: latest,
    skipped,
  };
}

/** Whether the way to a turn's opener, which is dated, leads through lines before it, and each turn begins further down. */
function isParted({ lines, path, cuts }: PathReading, opener: Entry): boolean {
  const raw = lines.at(opener.line);
  const isDated = raw !== null && typeof raw !== "string" && readTimestamp(raw["timestamp"]) !== undefined;
  const before = path.slice(0, path.indexOf(opener));
  return (
    isDated && opener.firstLine === opener.line && before.every(({ line }) => line < opener.line) && startsRise(cuts)
  );
}

/** Whether each turn begins further down in the file than the one before it. */
export function startsRise(cuts: PathReading["cuts"]): boolean {
  return cuts.every(({ opener }, turn) => turn === 0 || opener.firstLine > (cuts[turn - 1]?.opener.firstLine ?? 0));
}

/** Every name by which an entry may have to do with another one. */
function namesOf({ id, parent }: Entry): readonly string[] {
  return parent === undefined ? [id] : [id, parent];
}

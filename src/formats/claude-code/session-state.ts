// What a session that grew has to be read with when it is read from one of its newest turns on: what its first lines say of
// the later ones, and every name that stands on them, so that a later line that has to do with an earlier one is noticed.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { defined } from "../../core/json.ts";
import {
  createNameFilter,
  type NameFilter,
  openNameFilter,
  type SessionMark,
  type SkippedLine,
} from "../imported-session.ts";
import { type ParsedLines, readTimestamp, stringOf } from "../session-source.ts";
import type { firstTitle, SessionReading } from "./events.ts";
import { kindOfLine, type LineEntry, modelOfAnswer, namesOfKept, type SessionIndex } from "./session-index.ts";
import { readTitles } from "./turns.ts";

/** What the lines before a mark say of those after it. */
export interface SessionState {
  readonly sessionId: string;
  readonly createdAt: string;
  /** RFC 3339 UTC of the newest dated line. */
  readonly timestamp: string;
  readonly cwd?: string;
  /** Model of the newest answer. */
  readonly model?: string;
  /** First words of the first request. */
  readonly title: string;
  /** The newest of the later titles. */
  readonly lastTitle?: string;
  /** Line of the newest snapshot of the agent's tools, 0-based. */
  readonly lastSnapshot?: number;
  /** The latest start of a turn up to the mark's own, but for turn 0; milliseconds since 1970. */
  readonly latestStart: number;
  readonly skipped: readonly SkippedLine[];
}

/** A mark that a file was read from. */
export interface FormerMark extends Omit<SessionMark, "state"> {
  readonly state: SessionState;
}

/** What else a reading of a whole file came to. */
interface WholeReading {
  readonly title: ReturnType<typeof firstTitle>;
  readonly compactions: readonly Compaction[];
}

/** Turns that are read again: what is late of the newest one may change it, and its commit may carry titles of the one before. */
const READ_AGAIN = 2;
/** Skipped lines that a mark keeps. */
const MOST_SKIPPED = 100;

/** The mark of a reading; null where some line before it has to do with one after it, so that the file has to be read whole. */
export function createMark(
  reading: SessionReading,
  { title, compactions }: WholeReading,
  former?: FormerMark,
): SessionMark | null {
  const { cuts, index, plan } = reading;
  const turn = cuts.length - READ_AGAIN;
  const opener = cuts[turn]?.opener;
  const hasTitle = former !== undefined || (title !== null && title.turn < turn);
  if (opener === undefined || !hasTitle || index.sessionId === undefined) return null;
  if (former?.line === opener.line) return former;
  // A compaction of a turn that is read again may come out differently then.
  if (turn < 1 || compactions.some(({ to_turn }) => to_turn >= turn) || !isParted(reading, turn, opener.line))
    return null;
  const state = stateAt(reading, { turn, line: opener.line, title: former?.state.title ?? title?.title ?? "" }, former);
  const names = state === null ? null : nameLines(index, opener.line, former);
  if (state === null || names === null || !hasPlacedTitles(index, opener.line, state.latestStart)) return null;
  if (state.skipped.length > MOST_SKIPPED || state.sessionId !== plan.sessionId) return null;
  return { line: opener.line, turn: (former?.turn ?? 0) + turn, state, names: names.bytes };
}

/** Whether the lines before a turn's opener are those of the turns before it, and the way to the newest leaf leads through it. */
function isParted({ index, path, cuts, plan }: SessionReading, turn: number, line: number): boolean {
  const stands = (entry: LineEntry, isBefore: boolean): boolean =>
    entry.line < line === isBefore && entry.firstLine < line === isBefore;
  const leaf = index.promptLeaves.findLast((found) => found.line < line);
  const anchor = leaf === undefined ? undefined : index.nodes.get(leaf.uuid);
  return (
    hasRisingStarts(cuts) &&
    index.entries.every((entry) => stands(entry, entry.line < line)) &&
    plan.lines.every((entries, position) => entries.every((entry) => stands(entry, position < turn))) &&
    (anchor === undefined || path.chain.includes(anchor))
  );
}

/** Whether each turn begins further down in the file than the one before it. */
export function hasRisingStarts(cuts: SessionReading["cuts"]): boolean {
  return cuts.every(({ opener }, turn) => turn === 0 || opener.firstLine > (cuts[turn - 1]?.opener.firstLine ?? 0));
}

/** Whether all titles before a turn belong to turns before it: a title belongs to the last turn that starts no later. */
function hasPlacedTitles({ titles }: SessionIndex, line: number, latestStart: number): boolean {
  return titles.every((title) => title.line >= line || Date.parse(title.timestamp) < latestStart);
}

function stateAt(
  { index, cuts, plan }: SessionReading,
  at: { readonly turn: number; readonly line: number; readonly title: string },
  former: FormerMark | undefined,
): SessionState | null {
  const { timestamp, model } = lastFacts(plan.source, at.line, former);
  const { sessionId = "", cwd, createdAt } = index;
  const before = { ...index, titles: index.titles.filter(({ line }) => line < at.line) };
  const lastTitle =
    readTitles(before, plan.sessionId, former?.state.lastTitle).at(-1)?.title ?? former?.state.lastTitle;
  const lastSnapshot = index.snapshots.findLast(({ line }) => line < at.line)?.line ?? former?.state.lastSnapshot;
  const starts = cuts
    .slice(former === undefined ? 1 : 0, at.turn + 1)
    .map(({ opener }) => Date.parse(opener.timestamp));
  if (timestamp === undefined) return null;
  return {
    sessionId,
    createdAt,
    timestamp,
    title: at.title,
    latestStart: starts.reduce((most, time) => Math.max(most, time), former?.state.latestStart ?? 0),
    skipped: [...(former?.state.skipped ?? []), ...index.skipped.filter(({ line }) => line <= at.line)],
    ...defined({ cwd, model, lastTitle, lastSnapshot }),
  };
}

/** Time and model that the line after those before `end` goes on with. */
function lastFacts(
  lines: ParsedLines,
  end: number,
  former: FormerMark | undefined,
): { timestamp: string | undefined; model: string | undefined } {
  let timestamp: string | undefined;
  let model: string | undefined;
  for (let at = end - 1; at >= (former?.line ?? 0) && (timestamp === undefined || model === undefined); at--) {
    const raw = lines.at(at);
    if (raw === null || typeof raw === "string") continue;
    timestamp ??= readTimestamp(raw["timestamp"]);
    if (kindOfLine(raw) === "assistant" && (stringOf(raw, "uuid") ?? "") !== "") model ??= modelOfAnswer(raw);
  }
  return { timestamp: timestamp ?? former?.state.timestamp, model: model ?? former?.state.model };
}

/** All names on the lines before one; null when there is no room for them. */
function nameLines(index: SessionIndex, end: number, former: FormerMark | undefined): NameFilter | null {
  const found = new Set([
    ...index.entries.filter(({ line }) => line < end).flatMap(namesOf),
    ...index.promptLeaves.filter(({ line }) => line < end).map(({ uuid }) => uuid),
    ...index.titles.filter(({ line }) => line < end).flatMap(({ raw }) => stringOf(raw, "leafUuid") ?? []),
  ]);
  const names = former === undefined ? createNameFilter(found.size * ROOM_TO_GROW) : openNameFilter(former.names);
  for (const name of found) if (names?.add(name) !== true) return null;
  return names;
}

/** How many times as many names as a file has find room, before it is read whole again. */
const ROOM_TO_GROW = 2;

/** Every name by which a line may have to do with another one. */
export function namesOf(entry: LineEntry): string[] {
  const { uuid, parent, logicalParent, messageId, calls = [], kept } = entry;
  const names = kept === undefined ? [] : namesOfKept(kept);
  return [uuid, parent, logicalParent, messageId, ...calls, ...names].filter((name) => name !== undefined);
}

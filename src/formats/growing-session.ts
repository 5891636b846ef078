// What every format asks when it reads a session that grew from one of its newest turns on: where titles belong, which does
// not depend on the lines before as long as times rise, and what is kept of lines that were skipped.
import type { ImportedSession, SkippedLine } from "./imported-session.ts";
import { createNameFilter, openNameFilter } from "./name-filter.ts";

/** Turns that are read again: what is late of the newest one may change it, and its commit may carry titles of the one before. */
export const READ_AGAIN = 2;
/** Skipped lines that a mark keeps. */
const MOST_SKIPPED = 100;

type Title = ImportedSession["titles"][number];

/** The latest of the times at which turns start and of one before, milliseconds since 1970. */
export function latestStart(starts: readonly { readonly timestamp: string }[], before = 0): number {
  return starts.reduce((most, { timestamp }) => Math.max(most, Date.parse(timestamp)), before);
}

/** Whether titles belong to turns before one that starts latest; a title belongs to the last turn that starts no later. */
export function areTitlesBefore(titles: readonly Pick<Title, "timestamp">[], start: number): boolean {
  return titles.every(({ timestamp }) => Date.parse(timestamp) < start);
}

/** Whether titles belong to turns from one that starts latest on. */
export function areTitlesAfter(titles: readonly Pick<Title, "timestamp">[], start: number): boolean {
  return titles.every(({ timestamp }) => Date.parse(timestamp) >= start);
}

/** The skipped lines before one, 0-based, with those of earlier lines; null when they are more than a mark keeps. */
export function skippedBefore(
  line: number,
  found: readonly SkippedLine[],
  earlier: readonly SkippedLine[],
): readonly SkippedLine[] | null {
  const skipped = [...earlier, ...found.filter((one) => one.line <= line)];
  return skipped.length > MOST_SKIPPED ? null : skipped;
}

/** How many times as many names as a file has find room, before it is read whole again. */
const ROOM_TO_GROW = 2;

/** The names of lines, with those of earlier ones; null when there is no room for them. */
export function nameEntries(found: readonly string[], earlier: Uint8Array | undefined): Uint8Array | null {
  const unique = new Set(found);
  const names = earlier === undefined ? createNameFilter(unique.size * ROOM_TO_GROW) : openNameFilter(earlier);
  for (const name of unique) if (names?.add(name) !== true) return null;
  return names?.bytes ?? null;
}

// Compactions that jpg made while pi ran: a `custom` entry with jpg's mark and, next to it, the edits that it announces; or one
// compaction of pi's with the mark in its details.
import { type LiveMark, readLiveMark } from "../live-mark.ts";
import { isRecord, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import type { Entry } from "./entries.ts";

/** What one mark announces, up to the first entry that is none of it. */
export interface LiveBatch {
  readonly mark: LiveMark;
  /** The entry with the mark. */
  readonly at: Entry;
  /** Edits, and a compaction with which pi's context begins anew; in order. */
  readonly entries: readonly Entry[];
  /** Whether all edits are there, as far as the mark counts them. */
  readonly isWhole: boolean;
}

export interface LiveBatches {
  readonly batches: readonly LiveBatch[];
  /** By the entries that they announce. */
  readonly byEntry: ReadonlyMap<Entry, LiveBatch>;
}

/** Finds the batches of a path. */
export function findBatches(lines: ParsedLines, path: readonly Entry[]): LiveBatches {
  const batches: LiveBatch[] = [];
  for (const [position, entry] of path.entries()) {
    const mark = markOfEntry(lines, entry);
    if (mark === null) continue;
    if (entry.kind !== "compaction") batches.push(batchAt(lines, path, position, mark));
    else if (!isAnnounced(batches.at(-1), entry)) batches.push({ mark, at: entry, entries: [entry], isWhole: true });
  }
  return { batches, byEntry: new Map(batches.flatMap((batch) => batch.entries.map((entry) => [entry, batch]))) };
}

function isAnnounced(batch: LiveBatch | undefined, entry: Entry): boolean {
  return batch?.entries.includes(entry) === true;
}

function batchAt(lines: ParsedLines, path: readonly Entry[], position: number, mark: LiveMark): LiveBatch {
  const at = path[position] as Entry;
  const isOwn = (entry: Entry): boolean =>
    entry.kind === "edit" || (entry.kind === "compaction" && markOfEntry(lines, entry)?.compaction === mark.compaction);
  let end = position + 1;
  for (let entry = path[end]; entry !== undefined && isOwn(entry); entry = path[end]) end++;
  const entries = path.slice(position + 1, end);
  const edits = entries.filter(({ kind }) => kind === "edit").length;
  return { mark, at, entries, isWhole: entries.length > 0 && (edits >= mark.rows || end < path.length) };
}

/** The mark of a `custom` entry, or in the details of a compaction; null = none. */
function markOfEntry(lines: ParsedLines, entry: Entry): LiveMark | null {
  const raw = lines.at(entry.line);
  if (!isRecord(raw)) return null;
  const text = textOfMark(raw);
  return text === undefined ? null : readLiveMark(text);
}

function textOfMark(raw: RawLine): string | undefined {
  if (raw["type"] === "compaction") return stringOf(recordOf(raw, "details") ?? {}, "jpg");
  const isOwn = raw["type"] === "custom" && raw["customType"] === "jpg";
  return isOwn ? stringOf(recordOf(raw, "data") ?? {}, "mark") : undefined;
}

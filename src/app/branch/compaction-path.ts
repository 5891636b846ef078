// Where compactions are stored, read back from paths and from the history of a branch.
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import type { LogEntry } from "../../store/store.ts";
import { decodeText } from "./decoded-text.ts";

/** The id in a compaction's file name, `compactions/<stamp>-<id>.jsonl`. */
export function compactionIdOfPath(path: string): string | null {
  return /^compactions\/[^/]*?Z-([^/]+)\.jsonl$/.exec(path)?.[1] ?? null;
}

/** Reads a record of the history; null when it is damaged: the history stays readable. */
export function readRecord(bytes: Uint8Array, path: string): Compaction | null {
  try {
    return parseCompactionLine(decodeText(bytes), path);
  } catch {
    return null;
  }
}

/** The oldest commit of a log (newest first) that adds a compaction, and its path there: later ones only bring it back. */
export function findAddition(
  entries: readonly LogEntry[],
  id: string,
): { readonly entry: LogEntry; readonly path: string } | null {
  for (const entry of entries.toReversed()) {
    const path = entry.added.find((candidate) => compactionIdOfPath(candidate) === id);
    if (path !== undefined) return { entry, path };
  }
  return null;
}

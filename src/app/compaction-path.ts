// Where compactions are stored, read back from a path.

/** The id in a compaction's file name, `compactions/<stamp>-<id>.jsonl`. */
export function compactionIdOfPath(path: string): string | null {
  return /^compactions\/[^/]*?Z-([^/]+)\.jsonl$/.exec(path)?.[1] ?? null;
}

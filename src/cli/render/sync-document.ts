// The JSON document of `jpg sync`.
import type { SyncReport } from "../../app/import/sync.ts";

/** Gives the document of one pass: sessions as `import` tells of them, compactions as `compact` does. */
export function syncDocument({ sessions, failed, compactions }: SyncReport): Readonly<Record<string, unknown>> {
  return {
    sessions,
    failed: failed.map(({ path, error: { kind, code, message, hints } }) => ({
      path,
      error: { kind, code, message, hints },
    })),
    compactions: compactions.map(({ compaction, dryRun: _, ...rest }) => ({
      compaction: compaction?.id ?? null,
      source: compaction?.source ?? null,
      profile: compaction?.profile ?? null,
      ...rest,
    })),
  };
}

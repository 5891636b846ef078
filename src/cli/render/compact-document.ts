// The JSON documents of `jpg compact`: of one compaction, and of several that one call made.
import { type CompactReport, notesOf, type TokenChange } from "../../app/plan/compact-report.ts";

/** The JSON document of a report. */
export function documentOf(report: CompactReport): object {
  const { compaction, dryRun, further, views: _, ...rest } = report;
  return {
    ...rest,
    warnings: notesOf(report),
    compaction: compaction?.id ?? null,
    dry_run: dryRun,
    ...(compaction === null ? {} : { event: compaction }),
    ...(further === undefined ? {} : { further: documentOf(further) }),
  };
}

/** What several compactions of one call have in common. */
export interface SeveralReports {
  readonly branch: string;
  readonly conversation: string;
  readonly dryRun: boolean;
  readonly reports: readonly CompactReport[];
  readonly tokens: TokenChange;
  readonly warnings: readonly string[];
  readonly reason?: string;
}

/** The JSON document of several reports: the keys of one, of the newest commit and the whole range, and all under `compactions`. */
export function documentOfSeveral({ reports, dryRun, ...rest }: SeveralReports): object {
  const newest = reports.at(-1);
  return {
    ...rest,
    dry_run: dryRun,
    compaction: newest?.compaction?.id ?? null,
    commit: newest?.commit ?? null,
    from_turn: reports[0]?.from_turn ?? null,
    to_turn: newest?.to_turn ?? null,
    policies: newest?.policies ?? "",
    compactions: reports.map(documentOf),
  };
}

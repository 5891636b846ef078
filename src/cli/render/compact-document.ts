// The JSON documents of `jpg compact`: of one compaction, and of several that one call made.
import { type CompactReport, notesOf, type TokenChange } from "../../app/compact/compact-report.ts";

/** The JSON document of a report. */
export function documentOf(report: CompactReport): object {
  const { compaction, dryRun, further, views: _, ...rest } = report;
  return {
    ...rest,
    planned_summary: report.planned_summary ?? further?.planned_summary ?? null,
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
  const made = reports.filter(({ compaction }) => compaction !== null);
  const newest = made.at(-1);
  return {
    ...rest,
    dry_run: dryRun,
    compaction: newest?.compaction?.id ?? null,
    commit: newest?.commit ?? null,
    from_turn: made.length === 0 ? null : Math.min(...made.map(({ from_turn }) => from_turn ?? 0)),
    to_turn: made.length === 0 ? null : Math.max(...made.map(({ to_turn }) => to_turn ?? 0)),
    policies: newest?.policies ?? "",
    compactions: reports.map(documentOf),
  };
}

// What an integrity check found wrong, said so that it can be acted on: where, what, and what to do next.

/** `error`: something cannot be read, or is read otherwise than it was written. `warning`: it can, but is not as it should be. */
export type Severity = "error" | "warning";

/** The kinds of damage. A kind is never renamed: scripts look for it. */
export type FindingCode =
  // the repository
  | "ref_broken"
  | "object_damaged"
  | "view_stale"
  // the files of a branch
  | "header_unreadable"
  | "newer_format"
  | "header_differs"
  | "id_differs"
  | "attributes_differ"
  | "not_a_file"
  | "misplaced_file"
  | "turn_missing"
  | "changed_in_place"
  // turns
  | "turn_malformed"
  | "turn_start_missing"
  | "id_repeated"
  | "time_malformed"
  | "result_without_call"
  | "chain_broken"
  // records
  | "record_malformed"
  | "record_misnamed"
  | "record_repeated"
  | "range_beyond_end"
  | "event_missing"
  | "compaction_stale"
  | "summaries_overlap"
  | "message_differs"
  | "coverage_broken"
  // payloads and sources
  | "attachment_missing"
  | "attachment_damaged"
  | "attachment_unused"
  | "source_gap"
  | "source_without_turn";

/** One thing that is wrong. */
export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** Path in the tree of the branch, where it is about a file. */
  readonly path?: string;
  /** Line in the file, 1-based. */
  readonly line?: number;
  /** A sentence without a full stop. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

/** Findings that leave everything readable as it was written. */
const WARNINGS: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "id_differs",
  "attributes_differ",
  "misplaced_file",
  "changed_in_place",
  "time_malformed",
  "result_without_call",
  "record_misnamed",
  "range_beyond_end",
  "compaction_stale",
  "summaries_overlap",
  "event_missing",
  "message_differs",
  "attachment_unused",
  "source_without_turn",
  "view_stale",
]);

/** Creates a finding; its severity follows from its code. */
export function createFinding(
  code: FindingCode,
  about: Pick<Finding, "message" | "hint"> & Partial<Pick<Finding, "path" | "line">>,
): Finding {
  return { code, severity: WARNINGS.has(code) ? "warning" : "error", ...about };
}

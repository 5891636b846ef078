// What a commit did to compactions, worded from their records. A commit's message is anybody's text; the record is what is read.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { CompactionGroup } from "../../core/conversation/group.ts";
import { isForkSubject, subjectOf, takenBack } from "../../store/messages.ts";

/** What a commit did to one compaction; `record` is null when it cannot be read. */
export interface RecordedChange {
  readonly kind: "compaction" | "revert" | "reapply";
  readonly record: Compaction | null;
  /** All that the commit did so to as one; absent = only this one. */
  readonly group?: CompactionGroup;
}

/** Words a change as the subject of a commit that jpg makes of it. */
export function recordSubject({ kind, record, group }: RecordedChange): string {
  const subject = record === null ? "a record that cannot be read" : subjectOf(group ?? [record]);
  if (kind === "compaction") return subject;
  return `${kind === "revert" ? "Revert" : "Reapply"} "${subject}"`;
}

/** Whether a commit's subject tells of one of the changes that the commit holds. A fork's commit names none of them. */
export function tellsChange(subject: string, changes: readonly RecordedChange[]): boolean {
  if (isForkSubject(subject)) return true;
  const told = takenBack(subject);
  return changes.some(
    ({ kind, record, group }) =>
      record !== null && told.subject === subjectOf(group ?? [record]) && told.isTakenBack === (kind === "revert"),
  );
}

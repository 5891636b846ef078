// What `jpg import` and `jpg sync` end with.
import type { ImportOutcome } from "../../app/import/import.ts";

/** What a folder may hold beside sessions, and what is wrong with a file that is none. */
const NO_TROUBLE: readonly string[] = ["not_a_session", "empty_session", "side_file_left_out", "unclear_project"];

/** 2 = a file that was named is not in · 1 = one of those that were found is not, or there was none. */
export function exitCodeAfterImport({ sessions, failed }: ImportOutcome): number {
  if (failed.some(({ named }) => named === true)) return 2;
  return sessions.length === 0 || failed.some(({ error }) => !NO_TROUBLE.includes(error.code)) ? 1 : 0;
}
